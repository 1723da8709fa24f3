/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C interface of rtems-ioc: the pool status here, which both archives have, and the servers and commands of
 * librtems_ioc.a in rtems_ioc_server.h.
 */
#ifndef RTEMS_IOC_H
#define RTEMS_IOC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Pool status
 * -----------
 * Constant-time answers about the C heap. With the linker flags --wrap of the heap's entry points (see README) a
 * tracker follows each heap operation and a question costs one load and a comparison, without a lock: it may then be
 * asked anywhere, in interrupts too. Without them (or when the tracker had to give up: `tracked` is 0 below) the free
 * list is searched under the allocator's lock, by tasks only.
 *
 * Sizes of blocks are in bytes and include the block's header, as RTEMS counts them.
 */

/*
 * May `contiguous_block_size` bytes be allocated in one piece, with the reserve left over? Not 0: yes, malloc() of that
 * size would succeed now. 0: no; wrong at most while the need lies within 1/32 of the largest free block. Sizes near
 * SIZE_MAX are refused, they do not wrap. The first spelling is that of EPICS, whose function this replaces: link
 * with -Wl,-u,osiSufficentSpaceInPool and our archive before libCom. The reserve of 50000 bytes is EPICS's, too.
 */
int osiSufficentSpaceInPool(size_t contiguous_block_size);
int osiSufficientSpaceInPool(size_t contiguous_block_size);

/* The state of the C heap. */
typedef struct rtems_ioc_pool_status {
    size_t heap_bytes;          /* all memory that the heap can hand out, used or free */
    size_t free_bytes;          /* free memory */
    size_t free_blocks;         /* number of pieces it is in */
    size_t used_blocks;         /* blocks in use */
    size_t largest_lower_bound; /* there is a free block of this size, and none of 33/32 of it */
    size_t minimum_free_bytes;  /* the least free memory so far */
    uint32_t fragmentation;     /* 1/1000 of the free memory that is outside of the largest block */
    uint32_t failed;            /* requests that the heap could not satisfy */
    uint32_t operations;        /* heap operations recorded (wraps) */
    uint32_t resyncs;           /* walks made because an operation had bypassed the hooks */
    uint32_t tracked;           /* 1: from the tracker; 0: the free list was walked */
} rtems_ioc_pool_status;

/*
 * Fills in the first `bytes` bytes of `status`: pass sizeof(*status), so that programs built with a shorter struct keep
 * working. Returns 0, or -1 without a heap or for a null pointer. Takes the allocator's lock.
 */
int rtems_ioc_pool_snapshot(rtems_ioc_pool_status *status, size_t bytes);

/*
 * The largest free block exactly, 0 if nothing is free. Takes the allocator's lock, and may look at the free blocks of
 * the largest size class; walks the free list if the heap is not tracked.
 */
size_t rtems_ioc_pool_largest(void);

/* Takes a report piece by piece, in order; a piece is no line and has no NUL at its end. */
typedef void (*rtems_ioc_write)(void *context, const char *text, size_t bytes);

/*
 * The report of the command poolstat; with `walk` that of `poolstat -w`, which compares it with a walk over every block.
 * Returns 0, or -1 for a null `write`. Takes the allocator's lock, not while it writes.
 */
int rtems_ioc_pool_report(int walk, rtems_ioc_write write, void *context);

/* The largest free block from below (exact or up to 1/32 too small), without a lock; 0 if the heap is not tracked. */
size_t rtems_ioc_pool_free_space(void);

/* Bytes that must be left after a request: 50000 unless set. */
size_t rtems_ioc_pool_reserve(void);
void rtems_ioc_pool_set_reserve(size_t bytes);

/* How osiSufficentSpaceInPool answers: for comparisons. Returns 0, or -1 for an unknown policy. */
enum {
    RTEMS_IOC_POOL_TRACKER = 0,     /* the tracker */
    RTEMS_IOC_POOL_ALWAYS = 1,      /* always yes */
    RTEMS_IOC_POOL_WALK = 2,        /* walks every block for the total, as EPICS 7.0 */
    RTEMS_IOC_POOL_LARGEST_WALK = 3 /* walks the free list for the largest block, as EPICS since PR #866 */
};
int rtems_ioc_pool_set_policy(unsigned int policy);

/* In an image that has this symbol, osiSufficentSpaceInPool is ours. (Arrays: an int might be taken for small data.) */
extern const int rtems_ioc_pool_tracker_present[];
/* In an image that has this symbol, the heap hooks are linked. */
extern const int rtems_ioc_pool_hooks_present[];

#ifdef __cplusplus
}
#endif

#include "rtems_ioc_server.h"

#endif
