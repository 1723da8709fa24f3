/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `heapbench`: what questions and heap operations cost on this heap. Under QEMU's -icount shift=0 one
 * nanosecond is one instruction, so the figures are instruction counts. */

#include "heap_chain.h"
#include "selftest.h"

#include <stdlib.h>
#include <string.h>

#include <rtems.h>
#include <rtems/malloc.h>
#include <rtems/score/apimutex.h>
#include <rtems/score/heapimpl.h>
#include <rtems/shell.h>

#include "rtems_ioc.h"
#include "os/rtems/image.h"
#include "os/rtems/kernel.h"

extern size_t __real_malloc_free_space(void) __attribute__((weak));
extern void *__real__Heap_Allocate_aligned_with_boundary(Heap_Control *, uintptr_t, uintptr_t, uintptr_t)
  __attribute__((weak));
extern bool __real__Heap_Free(Heap_Control *, void *) __attribute__((weak));
extern bool __wrap__Heap_Free(Heap_Control *, void *) __attribute__((weak));
extern void *__wrap__Heap_Allocate_aligned_with_boundary(Heap_Control *, uintptr_t, uintptr_t, uintptr_t)
  __attribute__((weak));

static volatile size_t sink;

static void ask_nothing(void)
{
}

static void ask_tracker(void)
{
  sink = (size_t) osiSufficentSpaceInPool(1000);
}

static void ask_free_space(void)
{
  sink = __real_malloc_free_space();
}

static void ask_info(void)
{
  Heap_Information_block info;
  malloc_info(&info);
  sink = info.Stats.size;
}

/* The least of five rounds, in thousandths of a nanosecond per call. */
static uint64_t cost(void (*ask)(void), unsigned calls)
{
  uint64_t least = UINT64_MAX;
  for (unsigned round = 0; round < 5; ++round) {
    uint64_t start = rtems_clock_get_uptime_nanoseconds();
    for (unsigned i = 0; i < calls; ++i) {
      ask();
    }
    uint64_t took = rtems_clock_get_uptime_nanoseconds() - start;
    least = took < least ? took : least;
  }
  return least * 1000 / calls;
}

static void print_cost(uint64_t thousandths)
{
  printf(" %9lu.%lu", (unsigned long) (thousandths / 1000), (unsigned long) (thousandths % 1000 / 100));
}

static void grow(size_t count)
{
  if (!heap_chain_grow(count)) {
    printf("heapbench: the heap is full\n");
  }
}

static void questions(bool holes)
{
  static const size_t counts[] = { 100, 1000, 10000, 100000 };

  printf("used blocks%s: tracker, malloc_free_space walk, malloc_info walk\n", holes ? ", as many free ones" : "");
  for (size_t i = 0; i < RTEMS_ARRAY_SIZE(counts); ++i) {
    unsigned calls = (unsigned) (400000 / counts[i]) + 1;
    grow(holes ? 2 * counts[i] : counts[i]);
    if (holes) {
      heap_chain_thin(SIZE_MAX);
    }
    uint64_t nothing = cost(ask_nothing, 1000);
    printf("%8zu", counts[i]);
    print_cost(cost(ask_tracker, 1000) - nothing);
    print_cost(cost(ask_free_space, calls));
    print_cost(cost(ask_info, calls));
    printf("\n");
    fflush(stdout);
    heap_chain_drop();
  }
}

typedef void *(*allocate_function)(Heap_Control *, uintptr_t, uintptr_t, uintptr_t);
typedef bool (*free_function)(Heap_Control *, void *);

#define BLOCKS 1000

/* Nanoseconds per allocation and per release, in thousandths, without lock and malloc around them. */
static void operations(allocate_function allocate, free_function release, uint64_t *allocations, uint64_t *releases)
{
  static void *blocks[BLOCKS];

  *allocations = UINT64_MAX;
  *releases = UINT64_MAX;
  for (unsigned round = 0; round < 5; ++round) {
    _RTEMS_Lock_allocator();
    uint64_t start = rtems_clock_get_uptime_nanoseconds();
    for (size_t i = 0; i < BLOCKS; ++i) {
      blocks[i] = allocate(RTEMS_Malloc_Heap, 40 + 8 * (i % 32), 0, 0);
    }
    uint64_t between = rtems_clock_get_uptime_nanoseconds();
    for (size_t i = 0; i < BLOCKS; i += 2) {
      release(RTEMS_Malloc_Heap, blocks[i]);
    }
    for (size_t i = 1; i < BLOCKS; i += 2) {
      release(RTEMS_Malloc_Heap, blocks[i]);
    }
    uint64_t end = rtems_clock_get_uptime_nanoseconds();
    _RTEMS_Unlock_allocator();
    *allocations = between - start < *allocations ? between - start : *allocations;
    *releases = end - between < *releases ? end - between : *releases;
  }
  *allocations = *allocations * 1000 / BLOCKS;
  *releases = *releases * 1000 / BLOCKS;
}

static void hooks(void)
{
  uint64_t plain[2];
  uint64_t hooked[2];

  operations(__real__Heap_Allocate_aligned_with_boundary, __real__Heap_Free, &plain[0], &plain[1]);
  operations(__wrap__Heap_Allocate_aligned_with_boundary, __wrap__Heap_Free, &hooked[0], &hooked[1]);
  /* The first of the hooked rounds found what the plain ones did past the hooks; the least is of the others. */
  printf("heap operation: plain, hooked, difference\nallocate");
  print_cost(plain[0]);
  print_cost(hooked[0]);
  print_cost(hooked[0] - plain[0]);
  printf("\nfree    ");
  print_cost(plain[1]);
  print_cost(hooked[1]);
  print_cost(hooked[1] - plain[1]);
  printf("\n");
}

static void idle(unsigned seconds)
{
  uint64_t before[3];
  uint64_t after[3];

  rtems_ioc_cpu_time(&before[0], &before[1], &before[2]);
  rtems_task_wake_after(seconds * rtems_clock_get_ticks_per_second());
  rtems_ioc_cpu_time(&after[0], &after[1], &after[2]);
  uint64_t total = (after[0] - before[0]) / 1000;
  printf(
    "over %u s: our tasks %u ppm of the processor, idle task %u ppm\n", seconds,
    (unsigned) ((after[2] - before[2]) * 1000 / total), (unsigned) ((after[1] - before[1]) * 1000 / total)
  );
}

static int command(int argc, char *argv[])
{
  if (argc == 1) {
    if (__real_malloc_free_space == NULL || __wrap__Heap_Free == NULL) {
      printf("heapbench: this image has no heap hooks\n");
      return 1;
    }
    questions(false);
    questions(true);
    hooks();
  } else if (argc == 4 && strcmp(argv[1], "fragment") == 0) {
    size_t used = strtoul(argv[2], NULL, 0);
    size_t holes = strtoul(argv[3], NULL, 0);
    rtems_ioc_pool_status status;
    heap_chain_drop();
    grow(used + holes);
    heap_chain_thin(holes);
    rtems_ioc_pool_snapshot(&status, sizeof(status));
    printf("%zu used blocks, %zu free\n", status.used_blocks, status.free_blocks);
  } else if (argc == 2 && strcmp(argv[1], "mend") == 0) {
    heap_chain_drop();
  } else if (argc == 3 && strcmp(argv[1], "policy") == 0) {
    return rtems_ioc_pool_set_policy((unsigned) strtoul(argv[2], NULL, 0)) == 0 ? 0 : 1;
  } else if (argc == 3 && strcmp(argv[1], "idle") == 0) {
    idle((unsigned) strtoul(argv[2], NULL, 0));
  } else if (argc == 2 && strcmp(argv[1], "time") == 0) {
    uint64_t total;
    uint64_t idle_time;
    uint64_t own;
    rtems_ioc_cpu_time(&total, &idle_time, &own);
    printf("%llu us, idle %llu us, own tasks %llu us\n", (unsigned long long) total / 1000,
      (unsigned long long) idle_time / 1000, (unsigned long long) own / 1000);
  } else {
    printf("usage: heapbench [fragment USED FREE | mend | policy 0-3 | idle SECONDS | time]\n");
    return 1;
  }
  return 0;
}

void heapbench_register(void)
{
  rtems_shell_add_cmd("heapbench", "ioc", "heapbench [fragment USED FREE | mend | policy 0-3 | idle SECONDS | time]", command);
}
