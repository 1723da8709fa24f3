/* SPDX-License-Identifier: BSD-2-Clause */
/* On-target tests in RTEMS's test format: each has a name, a function and an expected screen in screens/NAME.scn. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One test. It prints what its screen expects; lines that begin with "- " carry figures and are not compared. */
struct selftest {
  const char *name;
  void (*run)(void);
};

/* The tests of one file, ended by a NULL name. */
extern const struct selftest heap_tests[];
extern const struct selftest pool_tests[];
extern const struct selftest net_tests[];
extern const struct selftest buffer_tests[];
extern const struct selftest pv_tests[];

/* Notes a failure with its place; the test goes on, its END line does not come. */
void selftest_fail(const char *file, int line, const char *what);

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      selftest_fail(__FILE__, __LINE__, #condition); \
    } \
  } while (0)

/* As CHECK, and leaves the function: for what the rest depends on. */
#define REQUIRE(condition) \
  do { \
    if (!(condition)) { \
      selftest_fail(__FILE__, __LINE__, #condition); \
      return; \
    } \
  } while (0)

/* A pseudo-random number, the same sequence after each start of a test. */
uint32_t selftest_random(void);

/* The heap as a full walk over every block finds it, and as the pool status tells it, at one moment. */
struct heap_view {
  size_t free_bytes;
  size_t free_blocks;
  size_t largest;
};

/* Takes both views under the allocator's lock; true when they agree. */
bool selftest_compare_heap(struct heap_view *walked, struct heap_view *told);

/* Are the heap hooks linked and in use? */
bool selftest_hooked(void);
