/* SPDX-License-Identifier: BSD-2-Clause */
/* The C heap for questions from Rust: which one it is, its lock, and its layout as the headers of this RTEMS have it. */

#include "heap_hooks.h"

#ifdef RTEMS_IOC_HEAP_4_11
#define BLOCK_HEADER HEAP_BLOCK_HEADER_SIZE
#define BLOCK_SIZE size_and_flag
#define WORD_BYTES sizeof(uintptr_t)
#elif defined(RTEMS_IOC_HEAP_4_10)
#define BLOCK_HEADER HEAP_BLOCK_HEADER_SIZE
#define BLOCK_SIZE size_and_flag
#define WORD_BYTES sizeof(uintptr_t)
#else
#define BLOCK_HEADER HEAP_BLOCK_USER_OFFSET
#define BLOCK_SIZE size
#define WORD_BYTES sizeof(uint32_t)
#define area_begin begin
#define area_end end
#define first_block start
#define last_block final
#endif

/* In the order of Layout::facts in src/heap/layout.rs, which compares them before it reads a block. */
extern const uint32_t rtems_ioc_heap_facts[];
const uint32_t rtems_ioc_heap_facts[] = {
    WORD_BYTES,
    BLOCK_HEADER,
    offsetof(Heap_Block, BLOCK_SIZE),
    offsetof(Heap_Block, next),
    offsetof(Heap_Block, prev),
    sizeof(Heap_Block),
    offsetof(Heap_Control, page_size),
    offsetof(Heap_Control, min_block_size),
    offsetof(Heap_Control, area_begin),
    offsetof(Heap_Control, area_end),
    offsetof(Heap_Control, first_block),
    offsetof(Heap_Control, last_block),
    offsetof(Heap_Control, stats.size),
    offsetof(Heap_Control, stats.free_size),
    offsetof(Heap_Control, stats.min_free_size),
    offsetof(Heap_Control, stats.free_blocks),
    offsetof(Heap_Control, stats.used_blocks),
    offsetof(Heap_Control, stats.frees),
    offsetof(Heap_Control, stats.resizes),
};

uintptr_t rtems_ioc_heap_control(void)
{
    return (uintptr_t)rtems_ioc_c_heap();
}

void rtems_ioc_heap_lock(void)
{
    _RTEMS_Lock_allocator();
}

void rtems_ioc_heap_unlock(void)
{
    _RTEMS_Unlock_allocator();
}

size_t rtems_ioc_heap_free_space(void)
{
    /* With the flags this is our wrapper, which comes back to the C library when it has no answer. */
    extern size_t malloc_free_space(void);

    return malloc_free_space();
}
