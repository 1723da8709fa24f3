/* SPDX-License-Identifier: BSD-2-Clause */
/* What wrap.c and heap_access.c share with hooks.rs, and the names that differ between versions of RTEMS. */
#ifndef RTEMS_IOC_HEAP_HOOKS_H
#define RTEMS_IOC_HEAP_HOOKS_H

/* Up to 4.10 the heap is visible to the kernel only. */
#define __RTEMS_VIOLATE_KERNEL_VISIBILITY__ 1

#include <rtems.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if __RTEMS_MAJOR__ > 4 || (__RTEMS_MAJOR__ == 4 && __RTEMS_MINOR__ >= 11)
#define RTEMS_IOC_HEAP_4_11 1
#elif __RTEMS_MINOR__ == 10
#define RTEMS_IOC_HEAP_4_10 1
#else
#define RTEMS_IOC_HEAP_4_7 1
#endif

#ifdef RTEMS_IOC_HEAP_4_11
#include <rtems/malloc.h>
#include <rtems/score/apimutex.h>
#if __RTEMS_MAJOR__ > 6
#include <rtems/score/heapfirstfitimpl.h>
#else
#include <rtems/score/heapimpl.h>
#endif
#else
#include <rtems/score/apimutex.h>
#include <rtems/score/heap.h>
#endif

/* The C heap: a region's heap, a struct, or a pointer that is null until malloc is initialised. */
#if __RTEMS_MAJOR__ == 4 && __RTEMS_MINOR__ <= 7
#include <rtems/rtems/region.h>
extern rtems_id RTEMS_Malloc_Heap;
static inline Heap_Control *rtems_ioc_c_heap(void)
{
    /* The region of malloc is never deleted, so its entry in the table of local objects stays. */
    Region_Control *region;

    if (RTEMS_Malloc_Heap == 0)
        return NULL;
    region = (Region_Control *)_Region_Information.local_table[_Objects_Get_index(RTEMS_Malloc_Heap)];
    return region != NULL ? &region->Memory : NULL;
}
#elif __RTEMS_MAJOR__ == 4 && __RTEMS_MINOR__ <= 9
extern Heap_Control RTEMS_Malloc_Heap;
static inline Heap_Control *rtems_ioc_c_heap(void)
{
    return &RTEMS_Malloc_Heap;
}
#else
#if __RTEMS_MAJOR__ == 4 && __RTEMS_MINOR__ == 10
extern Heap_Control *RTEMS_Malloc_Heap;
#endif
static inline Heap_Control *rtems_ioc_c_heap(void)
{
    return RTEMS_Malloc_Heap;
}
#endif

/* What hooks.rs notes before an operation: opaque here, at least as large and as aligned as its structs. */
typedef struct {
    uintptr_t words[4];
} rtems_ioc_heap_note;

/* The tracker of the C heap, in words; the first one is the heap that it records now. (Of unknown size: not small data.) */
extern uintptr_t rtems_ioc_heap_watch[];

/* Operations on this heap are recorded. True of the C heap only, so that other heaps may ask without its lock. */
static inline bool rtems_ioc_heap_recorded(const Heap_Control *heap)
{
    return (uintptr_t)heap == *(volatile uintptr_t *)rtems_ioc_heap_watch;
}

/* Of the heap that is recorded. 0: something is wrong, rtems_ioc_heap_settle() sees to it. */
uint32_t rtems_ioc_heap_allocated(uintptr_t *watch, const void *pointer);
void rtems_ioc_heap_before_free(uintptr_t *watch, const void *pointer, rtems_ioc_heap_note *note);
uint32_t rtems_ioc_heap_after_free(uintptr_t *watch, const rtems_ioc_heap_note *note, uint32_t freed);
/* Of the C heap, recorded or not. */
void rtems_ioc_heap_settle(const Heap_Control *heap, uint32_t failed);
void rtems_ioc_heap_before_resize(const Heap_Control *heap, const void *pointer, rtems_ioc_heap_note *note);
void rtems_ioc_heap_after_resize(const Heap_Control *heap, const rtems_ioc_heap_note *note);
void rtems_ioc_heap_before_greedy(const Heap_Control *heap);
void rtems_ioc_heap_after_greedy(const Heap_Control *heap);

/* From heap_access.c. */
uintptr_t rtems_ioc_heap_control(void);
void rtems_ioc_heap_lock(void);
void rtems_ioc_heap_unlock(void);
size_t rtems_ioc_heap_free_space(void);

#endif
