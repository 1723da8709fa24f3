/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C interface of librtems_ioc.a beyond the pool: servers, commands and self tests, for an image's own start-up code,
 * Cexp, GeSys or a debugger. Functions that return int return 0 when they did it and -1 when not (the console says why).
 */
#ifndef RTEMS_IOC_SERVER_H
#define RTEMS_IOC_SERVER_H

#include "rtems_ioc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the Channel Access server and tcpecho as tasks of their own; the network must be up. */
int rtems_ioc_start(void);

/* Stops them, waits for their tasks and closes every descriptor. Nothing happens when they do not run. */
int rtems_ioc_stop(void);

/* Registers the commands (`help rtems-ioc` lists them) with the RTEMS shell. */
void rtems_ioc_register_commands(void);

/* Runs one command line as the shell would, for example "casr 2"; its exit status, or -1 when there is no such command. */
int rtems_ioc_command(const char *line);

/*
 * The Channel Access benchmark with this image as the client, called as EPICS's own catime(): `count` channels, all of the
 * process variable `name`, or with `append` of `name`000000, 000001 ... Prints its rows; -1 when it could not run to its
 * end. Where it searches: EPICS_CA_ADDR_LIST of the boot command line or environment, else the interfaces' broadcasts.
 */
int rtems_ioc_catime(const char *name, unsigned count, int append);

/*
 * The echo server on TCP port 4445 in the calling task, as the tool of 2005 had it: serves one connection after the
 * other with a buffer of `bufsz` bytes (0: a default), sends back what it reads or, with `discard`, only reads.
 * Returns 0 after rtems_ioc_stop(), -1 when the port (stop the service first: `tcpecho stop`) or the memory is not to be
 * had.
 */
int tcpecho(int bufsz, int discard);

/*
 * The command tcpecho (`start [PORT]`, `stop`, `status`, or nothing) for an image that does not call rtems_ioc_start()
 * because it brings another server: only tcpecho is linked and made. Its output goes to `write`. Returns 0 when it did
 * it, 1 when not, 2 for other arguments or a null `write`. The first call is to come before other tasks call.
 */
int rtems_ioc_tcpecho_command(const char *arguments, rtems_ioc_write write, void *context);

#ifdef __cplusplus
}
#endif

#endif
