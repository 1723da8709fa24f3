/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Process variables of an application: set by any of its tasks without waiting, written by clients through a handler.
 *
 *     static const char *const fields[] = { "EGU", "K", "PREC", "1", "HIGH", "80", "HSV", "MINOR", NULL };
 *     rtems_ioc_pv *temperature = rtems_ioc_pv_create("ai", "crate:temperature", fields, NULL, NULL);
 *     ...
 *     rtems_ioc_pv_set_double(temperature, 23.5);
 *
 * What is created is a record of a type of EPICS with the fields of that type: limits, alarms, deadbands and access groups
 * work as in a .db file. Setting is wait-free: no lock, no allocation, a bounded number of instructions; the newest value
 * counts, and subscribers may miss those in between. It may be done from any task, not from an interrupt. Functions that
 * return int return 0 when they did it and -1 when not, unless they say otherwise.
 */
#ifndef RTEMS_IOC_PV_H
#define RTEMS_IOC_PV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A process variable. */
typedef struct rtems_ioc_pv rtems_ioc_pv;

/* Types of elements; those of Channel Access have its codes. */
enum {
    RTEMS_IOC_STRING = 0, /* char[40], with a NUL */
    RTEMS_IOC_SHORT = 1,  /* int16_t */
    RTEMS_IOC_FLOAT = 2,  /* float */
    RTEMS_IOC_ENUM = 3,   /* uint16_t */
    RTEMS_IOC_CHAR = 4,   /* uint8_t */
    RTEMS_IOC_LONG = 5,   /* int32_t */
    RTEMS_IOC_DOUBLE = 6, /* double */
    RTEMS_IOC_INT64 = 7   /* int64_t */
};

/* What a handler answers. */
enum {
    RTEMS_IOC_PUT_ACCEPT = 0, /* the record takes the value now */
    RTEMS_IOC_PUT_REFUSE = 1, /* the client is told that the put failed; the record stays as it is */
    RTEMS_IOC_PUT_LATER = 2   /* neither yet: rtems_ioc_pv_complete() decides */
};

/* A client's put, before the record has taken it. Everything that it points to lives during the call only. */
typedef struct rtems_ioc_put {
    unsigned type;    /* of the elements: that of the record (text of lsi and lso comes as CHAR, without a NUL) */
    size_t count;     /* number of elements */
    const void *data; /* the elements */
    const char *user; /* as the client claims them */
    const char *host;
    uint32_t address; /* IPv4 address of the client, host order */
    int waits;        /* not 0: the client waits for the end (put-callback) */
    uint32_t token;   /* to end the put with, after RTEMS_IOC_PUT_LATER */
} rtems_ioc_put;

/*
 * Asked for every put of a client to the value. It runs in the server's task: it must not wait for anything, nor create or
 * delete process variables, and `context` must be usable there.
 */
typedef int (*rtems_ioc_put_handler)(void *context, const rtems_ioc_put *put);

/*
 * Creates a process variable: a record of `type` ("ai", "longout", "waveform" ...) with `fields`, names and values in turn
 * as in a .db file, ended by NULL. Without a handler puts are accepted. Waits for the server between two of its turns.
 * Returns NULL when that failed; the log says why.
 */
rtems_ioc_pv *rtems_ioc_pv_create(
    const char *type, const char *name, const char *const *fields, rtems_ioc_put_handler handler, void *context);

/* The same with a record that a .db file has created. */
rtems_ioc_pv *rtems_ioc_pv_open(const char *name, rtems_ioc_put_handler handler, void *context);

/*
 * Set the value: a number, an integer or state, text. The record's type decides what becomes of it; the server stamps it
 * with its time. -1: the record does not hold such a value, or it is too long. -2: so many other tasks are in the middle of
 * a set of the same process variable as may be (four, of arrays one); the value of one of them will be seen.
 */
int rtems_ioc_pv_set_double(rtems_ioc_pv *pv, double value);
int rtems_ioc_pv_set_long(rtems_ioc_pv *pv, int32_t value);
int rtems_ioc_pv_set_text(rtems_ioc_pv *pv, const char *value);

/* A value with all that belongs to it. */
typedef struct rtems_ioc_value {
    unsigned type;        /* of the elements: for an array that of the record; text may be CHAR */
    size_t count;         /* number of elements */
    const void *data;     /* the elements, aligned as their type wants it: an array of it is */
    unsigned status;      /* alarm status by EPICS's code (9 COMM, 1 READ ...), 0: none */
    unsigned severity;    /* 0 none, 1 MINOR, 2 MAJOR, 3 INVALID; the record's limits may raise a worse one */
    uint32_t seconds;     /* since 1990-01-01 UTC; with both 0 the server's time */
    uint32_t nanoseconds;
} rtems_ioc_value;

/* Sets a value or an array of any length up to that of the record. Returns as the functions above. */
int rtems_ioc_pv_set(rtems_ioc_pv *pv, const rtems_ioc_value *value);

/*
 * Ends a put after RTEMS_IOC_PUT_LATER, from any task; with success the record takes the value. -1: there is none of this
 * token, or it has ended, as it does when the process variable is deleted: `pv` may have been deleted before or meanwhile.
 */
int rtems_ioc_pv_complete(rtems_ioc_pv *pv, uint32_t token, int succeeded);

/*
 * Deletes a process variable: clients see it disconnect, and puts that have not ended fail. `pv` must not be used any more,
 * by any task, but for rtems_ioc_pv_complete().
 */
int rtems_ioc_pv_delete(rtems_ioc_pv *pv);

#ifdef __cplusplus
}
#endif

#endif
