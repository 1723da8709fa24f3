/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `selftest`: runs the tests in this image and prints them in RTEMS's test format. */

#include "selftest.h"

#include <stdlib.h>
#include <string.h>

#include <rtems.h>
#include <rtems/malloc.h>
#include <rtems/score/apimutex.h>
#include <rtems/shell.h>

#include "rtems_ioc.h"
#include "os/rtems/image.h"

static const struct selftest *const all[] = { heap_tests, pool_tests, net_tests, buffer_tests, pv_tests };

static unsigned failures;
static uint32_t seed;

void selftest_fail(const char *file, int line, const char *what)
{
  const char *base = strrchr(file, '/');
  ++failures;
  printf("FAILED: %s:%d: %s\n", base != NULL ? base + 1 : file, line, what);
}

uint32_t selftest_random(void)
{
  seed = seed * 1664525u + 1013904223u;
  return seed >> 8;
}

bool selftest_compare_heap(struct heap_view *walked, struct heap_view *told)
{
  Heap_Information_block info;
  rtems_ioc_pool_status status;

  _RTEMS_Lock_allocator();
  malloc_info(&info);
  rtems_ioc_pool_snapshot(&status, sizeof(status));
  told->largest = rtems_ioc_pool_largest();
  _RTEMS_Unlock_allocator();
  walked->free_bytes = info.Free.total;
  walked->free_blocks = info.Free.number;
  walked->largest = info.Free.largest;
  told->free_bytes = status.free_bytes;
  told->free_blocks = status.free_blocks;
  return memcmp(walked, told, sizeof(*walked)) == 0;
}

bool selftest_hooked(void)
{
  rtems_ioc_pool_status status;
  return rtems_ioc_pool_snapshot(&status, sizeof(status)) == 0 && status.tracked != 0;
}

/* Runs one test between its BEGIN and END lines; the END line is there only when it passed. */
static bool run(const struct selftest *test)
{
  failures = 0;
  seed = 20051123;
  printf("\n*** BEGIN OF TEST IOC %s ***\n", test->name);
  printf("*** TEST VERSION: %s\n", rtems_get_version_string());
  printf("*** TEST STATE: EXPECTED_PASS\n");
  printf("*** TEST BUILD: %s\n", RTEMS_IOC_BSP_NAME);
  printf("*** TEST TOOLS: " __VERSION__ "\n");
  test->run();
  if (failures == 0) {
    printf("*** END OF TEST IOC %s ***\n\n", test->name);
  } else {
    printf("selftest: %s FAILED (%u)\n\n", test->name, failures);
  }
  fflush(stdout);
  return failures == 0;
}

static int command(int argc, char *argv[])
{
  unsigned passed = 0;
  unsigned failed = 0;

  for (size_t group = 0; group < RTEMS_ARRAY_SIZE(all); ++group) {
    for (const struct selftest *test = all[group]; test->name != NULL; ++test) {
      bool wanted = argc < 2;
      for (int i = 1; i < argc; ++i) {
        wanted = wanted || strcmp(argv[i], test->name) == 0 || strcmp(argv[i], "-l") == 0;
      }
      if (!wanted) {
        continue;
      }
      if (argc == 2 && strcmp(argv[1], "-l") == 0) {
        printf("%s\n", test->name);
      } else if (run(test)) {
        ++passed;
      } else {
        ++failed;
      }
    }
  }
  if (argc == 2 && strcmp(argv[1], "-l") == 0) {
    return 0;
  }
  printf("selftest: %u passed, %u failed\n", passed, failed);
  if (passed + failed == 0) {
    printf("selftest: no such test; selftest -l lists them\n");
  }
  return failed == 0 && passed > 0 ? 0 : 1;
}

void selftest_register(void)
{
  rtems_shell_add_cmd("selftest", "ioc", "selftest [-l] [NAME...]  runs the on-target tests, or lists them", command);
}
