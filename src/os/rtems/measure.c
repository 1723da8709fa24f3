/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks with their processor time, the calling task's stack, the data cache: for spy and rtex. */

#include <string.h>

#include <rtems.h>
#include <rtems/rtems/cache.h>
#include <rtems/score/threadimpl.h>

#include "measure.h"

struct list {
  struct rtems_ioc_task *tasks;
  size_t room;
  size_t count;
};

static bool add(rtems_tcb *thread, void *argument)
{
  struct list *list = argument;
  Timestamp_Control used = _Thread_Get_CPU_time_used(thread);
  struct timespec time;
  struct rtems_ioc_task *task;

  if (list->count++ >= list->room) {
    return false;
  }
  task = &list->tasks[list->count - 1];
  memset(task, 0, sizeof(*task));
  _Timestamp_To_timespec(&used, &time);
  task->cpu_nanoseconds = (uint64_t) time.tv_sec * 1000000000 + (uint64_t) time.tv_nsec;
  task->id = thread->Object.id;
  _Thread_Get_name(thread, task->name, sizeof(task->name));
  task->idle = strcmp(task->name, "IDLE") == 0;
  return false;
}

size_t rtems_ioc_tasks(struct rtems_ioc_task *tasks, size_t room)
{
  struct list list = { tasks, room, 0 };

  rtems_task_iterate(add, &list);
  return list.count;
}

struct stack {
  rtems_id task;
  uintptr_t lowest;
  size_t bytes;
};

static bool find(rtems_tcb *thread, void *argument)
{
  struct stack *stack = argument;

  if (thread->Object.id != stack->task) {
    return false;
  }
  stack->lowest = (uintptr_t) thread->Start.Initial_stack.area;
  stack->bytes = thread->Start.Initial_stack.size;
  return true;
}

void rtems_ioc_stack(uintptr_t *lowest, size_t *bytes)
{
  struct stack stack = { rtems_task_self(), 0, 0 };

  rtems_task_iterate(find, &stack);
  *lowest = stack.lowest;
  *bytes = stack.bytes;
}

/* The stack checker fills a stack with this byte; a guard of its own lies at the low end, of a size that depends on the CPU. */
#define UNUSED_BYTE 0xa5
#define LARGEST_GUARD 256

size_t rtems_ioc_stack_used(void)
{
  uintptr_t lowest;
  size_t bytes;
  size_t at = 0;
  size_t guard;
  const volatile unsigned char *stack;

  rtems_ioc_stack(&lowest, &bytes);
  stack = (const volatile unsigned char *) lowest;
  while (at < bytes && at < LARGEST_GUARD && stack[at] != UNUSED_BYTE) {
    ++at;
  }
  guard = at;
  while (at < bytes && stack[at] == UNUSED_BYTE) {
    ++at;
  }
  return at == guard ? 0 : bytes - at;
}

void rtems_ioc_cool(const void *begin, size_t bytes)
{
  uintptr_t line = rtems_cache_get_data_line_size();
  uintptr_t first;
  uintptr_t end;

  if (line == 0) {
    return;
  }
  /* Whole lines only: somebody else may write to the rest of those at both ends between the two calls. */
  first = ((uintptr_t) begin + line - 1) / line * line;
  end = ((uintptr_t) begin + bytes) / line * line;
  if (first < end) {
    rtems_cache_flush_multiple_data_lines((const void *) first, end - first);
    rtems_cache_invalidate_multiple_data_lines((const void *) first, end - first);
  }
}

size_t rtems_ioc_cache_line(void)
{
  return rtems_cache_get_data_line_size();
}
