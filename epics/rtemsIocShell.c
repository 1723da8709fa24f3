/* SPDX-License-Identifier: BSD-2-Clause */
/* iocsh commands: poolStat, and tcpecho where the whole archive is linked (RTEMS_IOC_TCPECHO of rtems_ioc.mk). */

#include <stdio.h>
#include <string.h>

#include <epicsExport.h>
#include <epicsStdio.h>
#include <iocsh.h>

#ifdef __rtems__

#include <rtems.h>
#include <rtems/malloc.h>

#include <rtems_ioc.h>

static void toShell(void *context, const char *text, size_t bytes)
{
    fwrite(text, 1, bytes, (FILE *)context);
}

/* What EPICS's command heapSpace prints, in bytes; it walks every block. */
static unsigned long heapSpaceFigure(void)
{
#if __RTEMS_MAJOR__ > 4
    Heap_Information_block info;

    malloc_info(&info);
    return info.Stats.size - (unsigned long)(info.Stats.lifetime_allocated - info.Stats.lifetime_freed);
#else
    rtems_malloc_statistics_t statistics;

    malloc_get_statistics(&statistics);
    return statistics.space_available - (unsigned long)(statistics.lifetime_allocated - statistics.lifetime_freed);
#endif
}

static const iocshArg poolStatWalk = { "[-w]: compare with a walk", iocshArgString };
static const iocshArg *const poolStatArguments[] = { &poolStatWalk };
static const iocshFuncDef poolStatDefinition = { "poolStat", 1, poolStatArguments };

static void poolStat(const iocshArgBuf *arguments)
{
    const char *option = arguments[0].sval;
    FILE *out = epicsGetStdout();
    rtems_ioc_pool_status status;
    unsigned long figure;
    long error;

    if (option != NULL && strcmp(option, "-w") != 0) {
        fprintf(out, "usage: poolStat [-w]\n");
        return;
    }
    rtems_ioc_pool_report(option != NULL, toShell, out);
    if (option == NULL || rtems_ioc_pool_snapshot(&status, sizeof(status)) != 0)
        return;
    figure = heapSpaceFigure();
    error = (long)(figure - status.free_bytes);
    fprintf(out,
        "heapSpace       %12lu bytes: %ld %s than are free. It takes what was allocated less what was freed, and a block that\n"
        "                grows or shrinks in place (realloc) is in neither; nor is it one block, as a request has to be\n",
        figure, error < 0 ? -error : error, error < 0 ? "less" : "more");
}

#ifdef RTEMS_IOC_TCPECHO

#include <rtems_ioc_server.h>

static const iocshArg tcpechoAction = { "start|stop|status", iocshArgString };
static const iocshArg tcpechoPort = { "port", iocshArgString };
static const iocshArg *const tcpechoArguments[] = { &tcpechoAction, &tcpechoPort };
static const iocshFuncDef tcpechoDefinition = { "tcpecho", 2, tcpechoArguments };

static void tcpechoCall(const iocshArgBuf *arguments)
{
    const char *action = arguments[0].sval;
    const char *port = arguments[1].sval;
    char line[64];

    snprintf(line, sizeof(line), "%s %s", action != NULL ? action : "", port != NULL ? port : "");
    rtems_ioc_tcpecho_command(line, toShell, epicsGetStdout());
}

#endif

static void rtemsIocRegister(void)
{
    iocshRegister(&poolStatDefinition, poolStat);
#ifdef RTEMS_IOC_TCPECHO
    iocshRegister(&tcpechoDefinition, tcpechoCall);
#endif
}

#else

/* The tracker follows RTEMS's heap: elsewhere there are no such commands. */
static void rtemsIocRegister(void)
{
}

#endif

epicsExportRegistrar(rtemsIocRegister);
