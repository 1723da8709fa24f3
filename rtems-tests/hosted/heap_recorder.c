/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Made the recording in heap_recorded.rs: random operations on a private heap of the real RTEMS 6, hashed. Built for
 * powerpc/psim with the flags of its pkg-config file (plus -qrtems -O2) and run on the simulator; prints BASE, then a line
 * per 10 000 operations.
 */

#include <rtems.h>
#include <rtems/bspIo.h>
#include <rtems/score/heapimpl.h>
#include <stdlib.h>

#define SLOTS 120
#define OPERATIONS 100000

static uint32_t area[32768] __attribute__((aligned(4096)));
static Heap_Control heap;
static uint32_t seed = 12345;
static uint32_t hash = 2166136261u;
static uintptr_t live[SLOTS];

static uint32_t random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static void mix(uint32_t value)
{
    hash = (hash ^ value) * 16777619u;
}

static uint32_t offset(const void *pointer)
{
    return pointer != NULL ? (uintptr_t)pointer - (uintptr_t)area : 0xffffffffu;
}

static uint32_t random_size(void)
{
    uint32_t kind = random_number() % 16;

    return 1 + random_number() % (kind < 10 ? 96 : kind < 15 ? 2500 : 30000);
}

static void mix_state(void)
{
    const Heap_Statistics *stats = &heap.stats;
    const Heap_Block *block;
    uint32_t count = 0;

    mix(stats->free_size);
    mix(stats->free_blocks);
    mix(stats->used_blocks);
    mix(stats->searches);
    mix(stats->frees);
    mix(stats->failed_allocs);
    mix((uint32_t)stats->lifetime_allocated);
    mix((uint32_t)stats->lifetime_freed);
    mix(stats->min_free_size);
    mix(stats->size);
    for (block = _Heap_Free_list_first(&heap); block != _Heap_Free_list_tail(&heap); block = block->next) {
        mix(offset(block));
        mix(block->size_and_flag);
        ++count;
    }
    mix(count);
}

static void allocate(uint32_t slot, uint32_t size)
{
    uintptr_t alignment = 0;
    uintptr_t boundary = 0;
    void *pointer;

    if (random_number() % 4 == 0) {
        alignment = 1u << (random_number() % 11);
        if (random_number() % 2)
            boundary = 1u << (6 + random_number() % 7);
        if (random_number() % 2)
            alignment *= 3;
    }
    pointer = _Heap_Allocate_aligned_with_boundary(&heap, size, alignment, boundary);
    live[slot] = (uintptr_t)pointer;
    mix(offset(pointer));
}

static uintptr_t extend(uintptr_t end)
{
    uintptr_t begin = end;
    uintptr_t bytes;

    if (random_number() % 2)
        begin += 64 + random_number() % 400;
    bytes = 256 + random_number() % 2000;
    if (begin + bytes > (uintptr_t)area + sizeof(area))
        return end;
    mix(_Heap_Extend(&heap, (void *)begin, bytes, 0));
    return begin + bytes;
}

static void Init(rtems_task_argument argument)
{
    uintptr_t base = (uintptr_t)area;
    uintptr_t end = base + 16 + 40000;
    uint32_t step;

    (void)argument;
    printk("BASE %lu\n", (unsigned long)base);
    mix(_Heap_Initialize(&heap, (void *)(base + 16), 40000, 8));
    for (step = 0; step < OPERATIONS; ++step) {
        uint32_t operation = random_number() % 100;
        uint32_t slot = random_number() % SLOTS;
        uint32_t size = random_size();

        if (operation < 45 && live[slot] == 0) {
            allocate(slot, size);
        } else if (operation >= 45 && operation < 75 && live[slot] != 0) {
            mix(_Heap_Free(&heap, (void *)live[slot]));
            live[slot] = 0;
        } else if (operation >= 75 && operation < 98 && live[slot] != 0) {
            uintptr_t old_size;
            uintptr_t new_size;

            mix(_Heap_Resize_block(&heap, (void *)live[slot], size, &old_size, &new_size));
        } else if (operation >= 98 && step % 500 == 0) {
            end = extend(end);
        }
        mix_state();
        if (step % 10000 == 9999) {
            printk("after %lu: hash %lu, %lu bytes free in %lu blocks\n", (unsigned long)step + 1,
                   (unsigned long)hash, (unsigned long)heap.stats.free_size, (unsigned long)heap.stats.free_blocks);
        }
    }
    exit(0);
}

#define CONFIGURE_APPLICATION_NEEDS_CLOCK_DRIVER
#define CONFIGURE_APPLICATION_NEEDS_SIMPLE_CONSOLE_DRIVER
#define CONFIGURE_MAXIMUM_TASKS 1
#define CONFIGURE_RTEMS_INIT_TASKS_TABLE
#define CONFIGURE_INIT
#include <rtems/confdefs.h>
