/* SPDX-License-Identifier: BSD-2-Clause */
/* What the measuring commands ask of the kernel in C: see measure.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* One task, in the layout of `RawTask` in measure.rs. */
struct rtems_ioc_task {
  uint64_t cpu_nanoseconds;
  uint32_t id;
  uint32_t idle;
  char name[16];
};

/* Writes up to `room` tasks; how many there are. */
size_t rtems_ioc_tasks(struct rtems_ioc_task *tasks, size_t room);

/* The calling task's stack: lowest address and bytes. */
void rtems_ioc_stack(uintptr_t *lowest, size_t *bytes);

/* Bytes of the calling task's stack that were ever used, or 0 if the stack checker does not run. */
size_t rtems_ioc_stack_used(void);

/* Writes the memory back and throws it out of the data cache. */
void rtems_ioc_cool(const void *begin, size_t bytes);

/* Bytes of a data cache line, or 0 if there is no data cache. */
size_t rtems_ioc_cache_line(void);
