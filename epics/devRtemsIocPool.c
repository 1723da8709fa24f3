/* SPDX-License-Identifier: BSD-2-Clause */
/* Device support "rtems-ioc pool" for ai records: a figure of the heap by the tracker, without a walk. */

#include <stddef.h>
#include <string.h>

/* What base 7 asks for, to be without its warnings. */
#define USE_TYPED_RSET

#include <aiRecord.h>
#include <alarm.h>
#include <dbScan.h>
#include <devSup.h>
#include <epicsExport.h>
#include <errlog.h>
#include <recGbl.h>

#ifdef __rtems__
#include <rtems_ioc.h>

/* The names are those of iocStats, where it has the figure, too. */
static const struct {
    const char *name;
    size_t offset;
} figures[] = {
    { "free_bytes", offsetof(rtems_ioc_pool_status, free_bytes) },
    { "total_bytes", offsetof(rtems_ioc_pool_status, heap_bytes) },
    { "max_free", offsetof(rtems_ioc_pool_status, largest_lower_bound) },
    { "free_blocks", offsetof(rtems_ioc_pool_status, free_blocks) },
    { "used_blocks", offsetof(rtems_ioc_pool_status, used_blocks) },
    { "min_free_bytes", offsetof(rtems_ioc_pool_status, minimum_free_bytes) },
};

/* The only figure that is a difference of two. */
static const char allocated[] = "allocated_bytes";

/* Finds the figure's value in a status; 0 when there is no such figure. */
static int find(const char *name, const rtems_ioc_pool_status *status, double *value)
{
    size_t i;

    if (strcmp(name, allocated) == 0) {
        *value = (double)(status->heap_bytes - status->free_bytes);
        return 1;
    }
    for (i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        if (strcmp(name, figures[i].name) == 0) {
            *value = (double)*(const size_t *)((const char *)status + figures[i].offset);
            return 1;
        }
    }
    return 0;
}

static int take(const char *name, double *value)
{
    rtems_ioc_pool_status status;

    return rtems_ioc_pool_snapshot(&status, sizeof(status)) == 0 && find(name, &status, value);
}
#else
static int take(const char *name, double *value)
{
    (void)name;
    (void)value;
    return 0;
}
#endif

static const char *nameOf(const aiRecord *record)
{
    return record->inp.type == INST_IO && record->inp.value.instio.string != NULL ? record->inp.value.instio.string : "";
}

static long initRecord(void *pointer)
{
#ifdef __rtems__
    aiRecord *record = pointer;
    rtems_ioc_pool_status nothing;
    double value;

    memset(&nothing, 0, sizeof(nothing));
    if (!find(nameOf(record), &nothing, &value)) {
        errlogPrintf("%s: INP \"@%s\" is no figure of the pool\n", record->name, nameOf(record));
        return S_dev_badInpType;
    }
#else
    (void)pointer;
#endif
    return 0;
}

/* Returns 2: the value is in VAL, do not convert it. */
static long readAi(void *pointer)
{
    aiRecord *record = pointer;

    if (!take(nameOf(record), &record->val)) {
        recGblSetSevr(record, READ_ALARM, INVALID_ALARM);
        return 2;
    }
    record->udf = 0;
    return 2;
}

/* The layout that every version of base expects: count, report, init, init_record, get_ioint_info, read, convert. */
static struct {
    long number;
    long (*report)(int);
    long (*init)(int);
    long (*initRecord)(void *);
    long (*ioInterrupt)(int, void *, IOSCANPVT *);
    long (*read)(void *);
    long (*convert)(void *, int);
} devAiRtemsIocPool = { 6, NULL, NULL, initRecord, NULL, readAi, NULL };
epicsExportAddress(dset, devAiRtemsIocPool);
