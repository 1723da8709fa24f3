/* SPDX-License-Identifier: BSD-2-Clause */
/* The application's process variables from C: creation, sets from tasks of any priority, deletion; what a set costs. */

#include "selftest.h"

#include <string.h>

#include <rtems.h>
#include <rtems/shell.h>

#include "os/rtems/image.h"
#include "rtems_ioc_pv.h"

#define SETS 1000
#define LAST 4321.0

static void creation(void)
{
  static const char *const fields[] = { "EGU", "V", "HIGH", "5", "HSV", "MINOR", NULL };
  static const char *const bad[] = { "HHSV", "BAD", NULL };
  static const char *const odd[] = { "EGU", NULL };
  static const int16_t points[] = { 1, 2, 3 };
  static const char *const array[] = { "FTVL", "SHORT", "NELM", "3", NULL };
  rtems_ioc_value value = { .type = RTEMS_IOC_SHORT, .count = 3, .data = points };
  int64_t large = INT64_C(5000000000);
  rtems_ioc_value one = { .type = RTEMS_IOC_INT64, .count = 1, .data = &large, .status = 9, .severity = 3 };
  rtems_ioc_pv *number = rtems_ioc_pv_create("ai", "selftest:number", fields, NULL, NULL);
  rtems_ioc_pv *wave = rtems_ioc_pv_create("waveform", "selftest:wave", array, NULL, NULL);
  rtems_ioc_pv *text = rtems_ioc_pv_create("stringin", "selftest:text", NULL, NULL, NULL);

  CHECK(number != NULL && wave != NULL && text != NULL);
  CHECK(rtems_ioc_pv_create("ai", "selftest:number", NULL, NULL, NULL) == NULL);
  CHECK(rtems_ioc_pv_create("ai", "selftest:bad", bad, NULL, NULL) == NULL);
  CHECK(rtems_ioc_pv_create("ai", "selftest:odd", odd, NULL, NULL) == NULL);
  CHECK(rtems_ioc_pv_create("calc", "selftest:calc", NULL, NULL, NULL) == NULL);
  CHECK(rtems_ioc_pv_create(NULL, "selftest:none", NULL, NULL, NULL) == NULL);
  CHECK(rtems_ioc_pv_open("selftest:nowhere", NULL, NULL) == NULL);
  CHECK(rtems_ioc_pv_set_double(number, 1.5) == 0 && rtems_ioc_pv_set_long(number, 2) == 0);
  CHECK(rtems_ioc_pv_set(number, &one) == 0);
  CHECK(rtems_ioc_pv_set_text(number, "1") == -1 && rtems_ioc_pv_set_text(text, "hello") == 0);
  CHECK(rtems_ioc_pv_set(wave, &value) == 0);
  value.count = 4;
  CHECK(rtems_ioc_pv_set(wave, &value) == -1);
  value.data = NULL;
  CHECK(rtems_ioc_pv_set(wave, &value) == -1 && rtems_ioc_pv_set(NULL, &value) == -1);
  CHECK(rtems_ioc_pv_complete(number, 77, 1) == -1);
  CHECK(rtems_ioc_pv_delete(number) == 0 && rtems_ioc_pv_delete(wave) == 0 && rtems_ioc_pv_delete(text) == 0);
  CHECK(rtems_ioc_pv_delete(NULL) == -1);
}

static rtems_ioc_pv *shared;
static volatile unsigned running;
static volatile unsigned failed;

/* Sets as fast as it can; those of higher priority come in between by the clock. */
static rtems_task setter(rtems_task_argument number)
{
  for (unsigned i = 0; i < SETS; ++i) {
    if (rtems_ioc_pv_set_double(shared, (double) (number * SETS + i)) != 0) {
      ++failed;
    }
    if (i % 16 == 0 && number > 0) {
      rtems_task_wake_after(1);
    }
  }
  --running;
  rtems_task_delete(RTEMS_SELF);
}

static void from_tasks(void)
{
  /* Above and below the server: none of them ever waits for another. */
  static const rtems_task_priority priorities[] = { 155, 100, 20, 5 };

  if (shared != NULL) {
    CHECK(rtems_ioc_pv_delete(shared) == 0);
  }
  shared = rtems_ioc_pv_create("ai", "selftest:shared", NULL, NULL, NULL);
  CHECK(shared != NULL);
  failed = 0;
  running = RTEMS_ARRAY_SIZE(priorities);
  for (rtems_task_argument i = 0; i < RTEMS_ARRAY_SIZE(priorities); ++i) {
    rtems_id task;
    CHECK(
      rtems_task_create(
        rtems_build_name('s', 'e', 't', '0' + (char) i), priorities[i], 4096, RTEMS_DEFAULT_MODES, RTEMS_FLOATING_POINT, &task
      ) == RTEMS_SUCCESSFUL
    );
    CHECK(rtems_task_start(task, setter, i) == RTEMS_SUCCESSFUL);
  }
  for (unsigned ticks = 0; running > 0 && ticks < 10000; ++ticks) {
    rtems_task_wake_after(1);
  }
  CHECK(running == 0 && failed == 0);
  /* The last one of them all: the runner reads it, so the process variable stays. */
  CHECK(rtems_ioc_pv_set_double(shared, LAST) == 0);
}

const struct selftest pv_tests[] = {
  { "pv-creation", creation },
  { "pv-tasks", from_tasks },
  { NULL, NULL },
};

/* Nanoseconds of one call, the least and the most of many; the clock's own cost is taken off. */
static void measure(const char *what, rtems_ioc_pv *pv, rtems_interval pause)
{
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  uint64_t clock = UINT64_MAX;

  for (unsigned i = 0; i < 200; ++i) {
    uint64_t start = rtems_clock_get_uptime_nanoseconds();
    uint64_t took = rtems_clock_get_uptime_nanoseconds() - start;
    clock = took < clock ? took : clock;
  }
  for (unsigned i = 0; i < 200; ++i) {
    uint64_t start;
    uint64_t took;
    if (pause > 0) {
      rtems_task_wake_after(pause);
    }
    start = rtems_clock_get_uptime_nanoseconds();
    rtems_ioc_pv_set_double(pv, (double) i);
    took = rtems_clock_get_uptime_nanoseconds() - start - clock;
    least = took < least ? took : least;
    most = took > most ? took : most;
  }
  printf("%-40s %6lu %6lu\n", what, (unsigned long) least, (unsigned long) most);
}

static int command(int argc, char *argv[])
{
  rtems_ioc_pv *pv = rtems_ioc_pv_create("ai", "pvbench:number", NULL, NULL, NULL);
  rtems_task_priority old;

  (void) argc, (void) argv;
  if (pv == NULL) {
    return 1;
  }
  /* Above everything but the network's interrupts: what is measured is the call alone. */
  rtems_task_set_priority(RTEMS_SELF, 10, &old);
  printf("ns per set of a double:                   least   most\n");
  measure("values keep coming", pv, 0);
  measure("the server sleeps and has to be called", pv, 50);
  rtems_task_set_priority(RTEMS_SELF, old, &old);
  rtems_ioc_pv_delete(pv);
  return 0;
}

void pvbench_register(void)
{
  rtems_shell_add_cmd("pvbench", "ioc", "pvbench                  cost of setting a process variable", command);
}
