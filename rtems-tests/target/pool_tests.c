/* SPDX-License-Identifier: BSD-2-Clause */
/* The pool status through its C interface: is it right about what malloc does next? */

#include "selftest.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rtems/score/heap.h>

#include "rtems_ioc.h"

/* The most that a block is larger than what malloc was asked for: header, alignment. */
#define OVERHEAD 32
#define PIECES 256

static void *pieces[PIECES];

/* Random with more bits than selftest_random() has: heaps are larger than 16 MB. */
static size_t random_below(size_t limit)
{
  return (size_t) ((((uint64_t) selftest_random() << 24) ^ selftest_random()) % limit);
}

/* Splits the free memory: pieces of random size, every second one free again. */
static void fragment(void)
{
  for (size_t i = 0; i < PIECES; ++i) {
    pieces[i] = malloc(16 + selftest_random() % 4000);
  }
  for (size_t i = 0; i < PIECES; i += 2) {
    free(pieces[i]);
    pieces[i] = NULL;
  }
}

static void mend(void)
{
  for (size_t i = 0; i < PIECES; ++i) {
    free(pieces[i]);
    pieces[i] = NULL;
  }
}

/* yes: malloc of that size and the reserve succeeds. no: wrong at most within one size class (1/32). */
static void answers(void)
{
  size_t reserve = rtems_ioc_pool_reserve();
  unsigned yes = 0;
  unsigned no = 0;
  unsigned optimistic = 0;
  unsigned timid = 0;

  fragment();
  for (unsigned i = 0; i < 2000; ++i) {
    size_t largest = rtems_ioc_pool_largest();
    size_t around = largest > reserve ? largest - reserve : 0;
    /* Every second one close to the border, where a wrong answer would be. */
    size_t close = around - around / 32 + random_below(around / 16 + 1);
    size_t size = i % 2 == 0 ? close : random_below(around + 1);
    if (osiSufficentSpaceInPool(size) != 0) {
      void *block = malloc(size);
      ++yes;
      optimistic += block == NULL;
      optimistic += largest < size + reserve;
      free(block);
    } else {
      size_t need = size + reserve + OVERHEAD;
      ++no;
      timid += largest > need + need / 31;
    }
  }
  mend();
  printf("a yes that malloc did not honour: %u\n", optimistic);
  printf("a no beyond one class width: %u\n", timid);
  printf("- %u yes, %u no\n", yes, no);
  CHECK(optimistic == 0 && timid == 0);
  CHECK(yes > 200 && no > 200);
}

static void absurd_sizes(void)
{
  static const size_t sizes[] = {
    SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 8, SIZE_MAX - 49999, SIZE_MAX - 50000, SIZE_MAX - 50001, SIZE_MAX / 2 + 1,
  };
  rtems_ioc_pool_status status;

  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    CHECK(osiSufficentSpaceInPool(sizes[i]) == 0);
    CHECK(osiSufficientSpaceInPool(sizes[i]) == 0);
  }
  rtems_ioc_pool_snapshot(&status, sizeof(status));
  CHECK(osiSufficentSpaceInPool(status.free_bytes) == 0);
  CHECK(osiSufficentSpaceInPool(status.free_bytes - 50001) == 0 || status.free_blocks == 1);
  printf("sizes near SIZE_MAX are refused\n");
}

static void reserve(void)
{
  size_t old = rtems_ioc_pool_reserve();
  size_t largest = rtems_ioc_pool_largest();

  CHECK(old == 50000);
  rtems_ioc_pool_set_reserve(0);
  CHECK(osiSufficentSpaceInPool(largest / 2) != 0);
  rtems_ioc_pool_set_reserve(largest - largest / 4);
  CHECK(osiSufficentSpaceInPool(largest / 2) == 0);
  rtems_ioc_pool_set_reserve(SIZE_MAX);
  CHECK(osiSufficentSpaceInPool(0) == 0);
  rtems_ioc_pool_set_reserve(old);
  CHECK(osiSufficentSpaceInPool(largest / 2) != 0);
  printf("the reserve stays free\n");
}

/* The block freed last stands at the head of the free list, far from where a new image has its big block. */
static void big_block_first(void)
{
  size_t largest = rtems_ioc_pool_largest();
  void *rest = malloc(largest / 4);
  void *wall = malloc(64);
  void *big = malloc(largest / 2);
  void *end = malloc(64);

  REQUIRE(rest != NULL && wall != NULL && big != NULL && end != NULL);
  fragment();
  free(big);
  CHECK(osiSufficentSpaceInPool(largest / 2 - largest / 8) != 0);
  void *again = malloc(largest / 2 - largest / 8);
  CHECK(again != NULL);
  free(again);
  CHECK(rtems_ioc_pool_largest() >= largest / 2);
  mend();
  free(rest);
  free(wall);
  free(end);
  printf("the big block is found at the head of the list\n");
}

static void c_abi(void)
{
  rtems_ioc_pool_status status;
  unsigned char canary[sizeof(status)];

  memset(&status, 0x55, sizeof(status));
  memset(canary, 0x55, sizeof(canary));
  CHECK(rtems_ioc_pool_snapshot(NULL, sizeof(status)) == -1);
  CHECK(rtems_ioc_pool_snapshot(&status, 2 * sizeof(size_t)) == 0);
  CHECK(status.heap_bytes >= status.free_bytes);
  CHECK(memcmp(&status.free_blocks, canary, sizeof(status) - 2 * sizeof(size_t)) == 0);
  CHECK(rtems_ioc_pool_snapshot(&status, sizeof(status)) == 0);
  CHECK(status.free_blocks > 0 && status.used_blocks > 0 && status.minimum_free_bytes <= status.free_bytes);
  CHECK(status.fragmentation <= 1000);
  CHECK(rtems_ioc_pool_set_policy(99) == -1);
  for (unsigned policy = RTEMS_IOC_POOL_LARGEST_WALK + 1; policy-- > 0;) {
    CHECK(rtems_ioc_pool_set_policy(policy) == 0);
    CHECK(osiSufficentSpaceInPool(1000) != 0);
    CHECK((osiSufficentSpaceInPool(SIZE_MAX) != 0) == (policy == RTEMS_IOC_POOL_ALWAYS));
  }
  CHECK(rtems_ioc_pool_tracker_present[0] != 0);
  printf("every function of rtems_ioc.h answers C\n");
}

static void free_space(void)
{
  extern size_t malloc_free_space(void);
  size_t largest = rtems_ioc_pool_largest();
  size_t told = malloc_free_space();

  CHECK(told <= largest);
  CHECK(told >= largest - largest / 32 - 1);
  CHECK(rtems_ioc_pool_free_space() <= largest);
  printf("malloc_free_space() tells the largest block\n");
}

const struct selftest pool_tests[] = {
  { "answers", answers },
  { "absurd-sizes", absurd_sizes },
  { "reserve", reserve },
  { "big-block-first", big_block_first },
  { "c-abi", c_abi },
  { "free-space", free_space },
  { NULL, NULL },
};
