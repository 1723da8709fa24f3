/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hooks of the C heap: linked in by -Wl,--wrap=... of the symbols below, and by nothing else. Without the flags
 * nothing refers to this object, it stays in the archive, and questions are answered by a search (tier B).
 *
 * Each wrapper runs where RTEMS calls the heap, so the heap's lock is held. Other heaps (workspace, regions, network
 * memory) work under other locks: they are filtered out before anything of ours is touched. The references to __real_*
 * are strong on purpose: a weak one does not pull the real function out of its archive.
 */

#include <rtems_ioc.h>

#include "heap_hooks.h"

/* For a check of the finished image: the hooks are in it. */
const int rtems_ioc_pool_hooks_present[] = { 1 };

static inline void note_allocated(Heap_Control *heap, void *pointer)
{
    if (rtems_ioc_heap_recorded(heap) && rtems_ioc_heap_allocated(rtems_ioc_heap_watch, pointer))
        return;
    if (heap == rtems_ioc_c_heap())
        rtems_ioc_heap_settle(heap, pointer == NULL ? 1 : 0);
}

#ifdef RTEMS_IOC_HEAP_4_7

void *__real__Heap_Allocate(Heap_Control *heap, size_t size);
void *__wrap__Heap_Allocate(Heap_Control *heap, size_t size);
void *__real__Heap_Allocate_aligned(Heap_Control *heap, size_t size, uint32_t alignment);
void *__wrap__Heap_Allocate_aligned(Heap_Control *heap, size_t size, uint32_t alignment);
#if __RTEMS_MINOR__ == 9
typedef bool heap_boolean;
#else
typedef boolean heap_boolean;
#endif
typedef uint32_t heap_size_out;
typedef size_t heap_size;

void *__wrap__Heap_Allocate(Heap_Control *heap, size_t size)
{
    void *pointer = __real__Heap_Allocate(heap, size);

    note_allocated(heap, pointer);
    return pointer;
}

void *__wrap__Heap_Allocate_aligned(Heap_Control *heap, size_t size, uint32_t alignment)
{
    void *pointer = __real__Heap_Allocate_aligned(heap, size, alignment);

    note_allocated(heap, pointer);
    return pointer;
}

#else

typedef bool heap_boolean;
typedef uintptr_t heap_size_out;
typedef uintptr_t heap_size;

void *__real__Heap_Allocate_aligned_with_boundary(
    Heap_Control *heap, uintptr_t size, uintptr_t alignment, uintptr_t boundary);
void *__wrap__Heap_Allocate_aligned_with_boundary(
    Heap_Control *heap, uintptr_t size, uintptr_t alignment, uintptr_t boundary);

void *__wrap__Heap_Allocate_aligned_with_boundary(
    Heap_Control *heap, uintptr_t size, uintptr_t alignment, uintptr_t boundary)
{
    void *pointer = __real__Heap_Allocate_aligned_with_boundary(heap, size, alignment, boundary);

    note_allocated(heap, pointer);
    return pointer;
}

#endif

heap_boolean __real__Heap_Free(Heap_Control *heap, void *pointer);
heap_boolean __wrap__Heap_Free(Heap_Control *heap, void *pointer);

heap_boolean __wrap__Heap_Free(Heap_Control *heap, void *pointer)
{
    rtems_ioc_heap_note note;
    heap_boolean freed;

    if (!rtems_ioc_heap_recorded(heap)) {
        freed = __real__Heap_Free(heap, pointer);
        if (heap == rtems_ioc_c_heap())
            rtems_ioc_heap_settle(heap, 0);
        return freed;
    }
    rtems_ioc_heap_before_free(rtems_ioc_heap_watch, pointer, &note);
    freed = __real__Heap_Free(heap, pointer);
    if (!rtems_ioc_heap_after_free(rtems_ioc_heap_watch, &note, freed ? 1 : 0))
        rtems_ioc_heap_settle(rtems_ioc_c_heap(), 0);
    return freed;
}

Heap_Resize_status __real__Heap_Resize_block(
    Heap_Control *heap, void *pointer, heap_size size, heap_size_out *old_size, heap_size_out *new_size);
Heap_Resize_status __wrap__Heap_Resize_block(
    Heap_Control *heap, void *pointer, heap_size size, heap_size_out *old_size, heap_size_out *new_size);

Heap_Resize_status __wrap__Heap_Resize_block(
    Heap_Control *heap, void *pointer, heap_size size, heap_size_out *old_size, heap_size_out *new_size)
{
    rtems_ioc_heap_note note;
    Heap_Resize_status status;

    if (heap != rtems_ioc_c_heap())
        return __real__Heap_Resize_block(heap, pointer, size, old_size, new_size);
#ifdef HEAP_PROTECTION
    /* The real function does it first; what is noted must be what it finds then. */
    _Heap_Protection_free_all_delayed_blocks(heap);
#endif
    rtems_ioc_heap_before_resize(heap, pointer, &note);
    status = __real__Heap_Resize_block(heap, pointer, size, old_size, new_size);
    rtems_ioc_heap_after_resize(heap, &note);
    return status;
}

#ifdef RTEMS_IOC_HEAP_4_11

Heap_Block *__real__Heap_Greedy_allocate(Heap_Control *heap, const uintptr_t *sizes, size_t count);
Heap_Block *__wrap__Heap_Greedy_allocate(Heap_Control *heap, const uintptr_t *sizes, size_t count);

Heap_Block *__wrap__Heap_Greedy_allocate(Heap_Control *heap, const uintptr_t *sizes, size_t count)
{
    Heap_Block *blocks;

    if (heap != rtems_ioc_c_heap())
        return __real__Heap_Greedy_allocate(heap, sizes, count);
    rtems_ioc_heap_before_greedy(heap);
    blocks = __real__Heap_Greedy_allocate(heap, sizes, count);
    rtems_ioc_heap_after_greedy(heap);
    return blocks;
}

#endif

size_t __real_malloc_free_space(void);
size_t __wrap_malloc_free_space(void);

/* The largest free block, without the walk if the tracker knows it: for EPICS that asks this, and for old binaries. */
size_t __wrap_malloc_free_space(void)
{
    size_t known = rtems_ioc_pool_free_space();

    return known != 0 ? known : __real_malloc_free_space();
}
