/* SPDX-License-Identifier: BSD-2-Clause */
/* iocsh commands that the measurements type at an IOC's console: they make the heap old or full, and say what it is like
 * and where the time went, without the package, too. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <rtems.h>
#include <rtems/malloc.h>

#include <iocsh.h>

#include "heap_chain.h"
#include "kernel.h"

/* By RTEMS's own walk over every block. */
static void heap_walk(const iocshArgBuf *arguments)
{
  Heap_Information_block info;

  (void) arguments;
  malloc_info(&info);
  printf("walk: %lu used blocks, %lu free blocks, %lu bytes free, largest %lu\n", (unsigned long) info.Used.number,
    (unsigned long) info.Free.number, (unsigned long) info.Free.total, (unsigned long) info.Free.largest);
}

/* Makes the heap have so many used and free blocks, if it has not more. */
static void heap_fragment(const iocshArgBuf *arguments)
{
  size_t used = (size_t) arguments[0].ival;
  size_t holes = (size_t) arguments[1].ival;
  Heap_Information_block info;

  heap_chain_drop();
  malloc_info(&info);
  holes = holes > info.Free.number ? holes - info.Free.number : 0;
  used = used > info.Used.number ? used - info.Used.number : 0;
  /* A hole needs a block beside it. */
  used = used > holes ? used : holes;
  if (!heap_chain_grow(used + holes)) {
    printf("the heap is full\n");
  }
  heap_chain_thin(holes);
  heap_walk(arguments);
}

static void heap_mend(const iocshArgBuf *arguments)
{
  heap_chain_drop();
  heap_walk(arguments);
}

static void *filling;

/* Takes memory until less than so many bytes are free, in ever smaller blocks; seven ninths of what remains are one block. */
static void heap_fill(const iocshArgBuf *arguments)
{
  size_t leave = (size_t) arguments[0].ival;
  void *kept = malloc(leave / 9 * 7);
  size_t others = kept != NULL ? leave - leave / 9 * 7 : leave;
  Heap_Information_block info;
  size_t size;

  for (;;) {
    void **block;
    malloc_info(&info);
    if (info.Free.total <= others) {
      break;
    }
    size = info.Free.total - others;
    size = size < info.Free.largest / 2 ? size : info.Free.largest / 2;
    block = malloc(size > 64 ? size : 64);
    if (block == NULL) {
      break;
    }
    *block = filling;
    filling = block;
  }
  free(kept);
  heap_walk(arguments);
}

static void heap_empty(const iocshArgBuf *arguments)
{
  while (filling != NULL) {
    void *next = *(void **) filling;
    free(filling);
    filling = next;
  }
  heap_walk(arguments);
}

/* Uptime and what of it the idle task had. */
static void cpu_time(const iocshArgBuf *arguments)
{
  uint64_t total;
  uint64_t idle;
  uint64_t own;

  (void) arguments;
  rtems_ioc_cpu_time(&total, &idle, &own);
  printf("time: %llu us, idle %llu us\n", (unsigned long long) total / 1000, (unsigned long long) idle / 1000);
}

#define ROUNDS 5
#define BLOCKS 1000

/* Time of a malloc() and of a free(), the least of some rounds; with -icount a nanosecond is an instruction. */
static void malloc_cost(const iocshArgBuf *arguments)
{
  static void *volatile blocks[BLOCKS];
  uint64_t allocation = UINT64_MAX;
  uint64_t release = UINT64_MAX;

  (void) arguments;
  for (int round = 0; round < ROUNDS; ++round) {
    uint64_t start = rtems_clock_get_uptime_nanoseconds();
    for (size_t i = 0; i < BLOCKS; ++i) {
      blocks[i] = malloc(40 + 8 * (i % 32));
    }
    uint64_t between = rtems_clock_get_uptime_nanoseconds();
    for (size_t i = 0; i < BLOCKS; i += 2) {
      free(blocks[i]);
    }
    for (size_t i = 1; i < BLOCKS; i += 2) {
      free(blocks[i]);
    }
    uint64_t end = rtems_clock_get_uptime_nanoseconds();
    allocation = between - start < allocation ? between - start : allocation;
    release = end - between < release ? end - between : release;
  }
  printf("cost: malloc %llu.%llu ns, free %llu.%llu ns\n", (unsigned long long) allocation / BLOCKS,
    (unsigned long long) allocation % BLOCKS / 100, (unsigned long long) release / BLOCKS,
    (unsigned long long) release % BLOCKS / 100);
}

static const iocshArg used_argument = { "used blocks", iocshArgInt };
static const iocshArg free_argument = { "free blocks", iocshArgInt };
static const iocshArg bytes_argument = { "bytes to leave", iocshArgInt };
static const iocshArg *const two_arguments[] = { &used_argument, &free_argument };
static const iocshArg *const one_argument[] = { &bytes_argument };

static const struct {
  iocshFuncDef definition;
  iocshCallFunc function;
} commands[] = {
  { { "heapWalk", 0, NULL }, heap_walk },
  { { "heapFragment", 2, two_arguments }, heap_fragment },
  { { "heapMend", 0, NULL }, heap_mend },
  { { "heapFill", 1, one_argument }, heap_fill },
  { { "heapEmpty", 0, NULL }, heap_empty },
  { { "cpuTime", 0, NULL }, cpu_time },
  { { "mallocCost", 0, NULL }, malloc_cost },
};

/* Before main(), so that an IOC need not know of it. */
static void __attribute__((constructor)) register_commands(void)
{
  for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); ++i) {
    iocshRegister(&commands[i].definition, commands[i].function);
  }
}
