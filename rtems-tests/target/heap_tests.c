/* SPDX-License-Identifier: BSD-2-Clause */
/* The tracker against the real heap of this image. */

/* GCC removes pairs of malloc and free that it understands; -fno-builtin-malloc is set for the whole image. */
#include "selftest.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rtems.h>
#include <rtems/malloc.h>
#include <rtems/score/apimutex.h>
#include <rtems/score/heapimpl.h>

#include "rtems_ioc.h"
#include "os/rtems/image.h"

#define OPERATIONS 100000
#define BLOCKS 64

static void *blocks[BLOCKS];

/* How often each kind of operation was done: each has to be among those that are compared. */
enum kind { MALLOC, CALLOC, IN_PLACE, MOVED, MEMALIGN, POSIX_MEMALIGN, FREE, TASK, QUEUE, FILE_, SOCKET, KINDS };
static const char *const names[KINDS] = {
  "malloc", "calloc", "realloc in place", "realloc moving", "memalign", "posix_memalign", "free", "task", "message queue",
  "file", "socket"
};
static unsigned done[KINDS];

static rtems_task idle_task(rtems_task_argument unused)
{
  (void) unused;
  rtems_task_exit();
}

/* Kernel objects whose memory comes from the same heap. */
static void use_kernel_object(void)
{
  rtems_id id = 0;
  char path[16];
  int descriptor;

  switch (selftest_random() % 4) {
    case 0:
      if (rtems_task_create(
            rtems_build_name('T', 'S', 'T', ' '), 200, RTEMS_MINIMUM_STACK_SIZE + (selftest_random() & 0xfff),
            RTEMS_DEFAULT_MODES, RTEMS_FLOATING_POINT, &id
          ) == RTEMS_SUCCESSFUL) {
        ++done[TASK];
        if (selftest_random() & 1) {
          rtems_task_start(id, idle_task, 0);
          rtems_task_wake_after(1);
        } else {
          rtems_task_delete(id);
        }
      }
      break;
    case 1:
      if (rtems_message_queue_create(
            rtems_build_name('T', 'S', 'T', ' '), 1 + selftest_random() % 16, 4 + selftest_random() % 200,
            RTEMS_DEFAULT_ATTRIBUTES, &id
          ) == RTEMS_SUCCESSFUL) {
        ++done[QUEUE];
        rtems_message_queue_delete(id);
      }
      break;
    case 2:
      snprintf(path, sizeof(path), "/t%u", (unsigned) (selftest_random() % 8));
      descriptor = open(path, O_CREAT | O_WRONLY, 0600);
      if (descriptor >= 0) {
        ++done[FILE_];
        write(descriptor, blocks, 100);
        close(descriptor);
        unlink(path);
      }
      break;
    default:
      descriptor = socket(AF_INET, SOCK_DGRAM, 0);
      if (descriptor >= 0) {
        ++done[SOCKET];
        close(descriptor);
      }
      break;
  }
}

static void release(size_t i)
{
  done[FREE] += blocks[i] != NULL;
  free(blocks[i]);
  blocks[i] = NULL;
}

/* One random operation on one of the blocks. */
static void operate(void)
{
  size_t i = selftest_random() % BLOCKS;
  size_t size = selftest_random() % (selftest_random() % 16 == 0 ? 60000 : 600);

  if (selftest_random() % 256 == 0) {
    use_kernel_object();
    return;
  }
  switch (selftest_random() % 10) {
    case 0:
    case 1:
    case 2:
      release(i);
      blocks[i] = malloc(size);
      done[MALLOC] += blocks[i] != NULL;
      break;
    case 3:
      release(i);
      blocks[i] = calloc(1 + size / 8, 8);
      done[CALLOC] += blocks[i] != NULL;
      break;
    case 4:
    case 5: {
      /* As a number: the pointer itself is of no use once the block has moved. */
      uintptr_t before = (uintptr_t) blocks[i];
      void *moved = realloc(blocks[i], size + 1);
      if (moved != NULL && before != 0) {
        ++done[(uintptr_t) moved == before ? IN_PLACE : MOVED];
      }
      blocks[i] = moved != NULL ? moved : blocks[i];
      break;
    }
    case 6:
      release(i);
      blocks[i] = memalign((size_t) 8 << (selftest_random() % 8), size + 8);
      done[MEMALIGN] += blocks[i] != NULL;
      break;
    case 7:
      release(i);
      if (posix_memalign(&blocks[i], (size_t) 8 << (selftest_random() % 9), size + 8) != 0) {
        blocks[i] = NULL;
      }
      done[POSIX_MEMALIGN] += blocks[i] != NULL;
      break;
    default:
      release(i);
      break;
  }
}

static void tracker(void)
{
  struct heap_view walked;
  struct heap_view told;
  rtems_ioc_pool_status before;
  rtems_ioc_pool_status after;
  unsigned different = 0;

  REQUIRE(rtems_ioc_pool_snapshot(&before, sizeof(before)) == 0);
  CHECK(before.tracked != 0);
  memset(done, 0, sizeof(done));
  for (unsigned i = 0; i < OPERATIONS; ++i) {
    operate();
    if (!selftest_compare_heap(&walked, &told)) {
      if (different++ < 3) {
        printf(
          "operation %u: walk %zu bytes in %zu blocks, largest %zu; told %zu in %zu, %zu\n", i, walked.free_bytes,
          walked.free_blocks, walked.largest, told.free_bytes, told.free_blocks, told.largest
        );
      }
    }
  }
  for (size_t i = 0; i < BLOCKS; ++i) {
    release(i);
  }
  rtems_ioc_pool_snapshot(&after, sizeof(after));
  printf("%u operations, each compared with a walk: %u differences\n", OPERATIONS, different);
  printf("- %u heap operations recorded, %u resyncs\n", (unsigned) (after.operations - before.operations), (unsigned) (after.resyncs - before.resyncs));
  for (size_t kind = 0; kind < KINDS; ++kind) {
    printf("- %s: %u\n", names[kind], done[kind]);
#ifdef RTEMS_IOC_STACK_NONE
    CHECK(done[kind] > 0 || kind == SOCKET);
#else
    CHECK(done[kind] > 0);
#endif
  }
  CHECK(different == 0);
  CHECK(after.resyncs == before.resyncs);
  CHECK(_Heap_Walk(RTEMS_Malloc_Heap, 0, false));
}

/* The heap functions as they are without the hooks; absent in an image linked without the flags. */
extern void *__real__Heap_Allocate_aligned_with_boundary(Heap_Control *, uintptr_t, uintptr_t, uintptr_t)
  __attribute__((weak));
extern bool __real__Heap_Free(Heap_Control *, void *) __attribute__((weak));

static void lost_hook(void)
{
  struct heap_view walked;
  struct heap_view told;
  rtems_ioc_pool_status before;
  rtems_ioc_pool_status after;
  void *stolen;

  REQUIRE(__real__Heap_Allocate_aligned_with_boundary != NULL && __real__Heap_Free != NULL);
  rtems_ioc_pool_snapshot(&before, sizeof(before));
  _RTEMS_Lock_allocator();
  stolen = __real__Heap_Allocate_aligned_with_boundary(RTEMS_Malloc_Heap, 5000, 0, 0);
  _RTEMS_Unlock_allocator();
  REQUIRE(stolen != NULL);
  /* The next operation that passes the hooks finds that the heap's own count has moved by more than one. */
  free(malloc(100));
  CHECK(selftest_compare_heap(&walked, &told));
  rtems_ioc_pool_snapshot(&after, sizeof(after));
  printf("an allocation past the hooks is noticed: %s\n", after.resyncs > before.resyncs ? "yes" : "no");
  CHECK(after.resyncs > before.resyncs);
  _RTEMS_Lock_allocator();
  __real__Heap_Free(RTEMS_Malloc_Heap, stolen);
  _RTEMS_Unlock_allocator();
  free(malloc(100));
  CHECK(selftest_compare_heap(&walked, &told));
  printf("and so is a release\n");
}

/* Takes all of the heap in blocks of falling size, chained through their first word. */
static void *take_all(size_t *taken)
{
  void *chain = NULL;

  *taken = 0;
  for (size_t size = (size_t) 1 << 26; size >= 16; size /= 2) {
    void **block;
    while ((block = malloc(size)) != NULL) {
      *block = chain;
      chain = block;
      ++*taken;
    }
  }
  return chain;
}

static void give_back(void *chain)
{
  while (chain != NULL) {
    void *next = *(void **) chain;
    free(chain);
    chain = next;
  }
}

static void exhaustion(void)
{
  rtems_ioc_pool_status start;
  rtems_ioc_pool_status before;
  rtems_ioc_pool_status full;
  rtems_ioc_pool_status after;
  void *chain;
  size_t taken;

  /* Some BSPs give the heap more memory when it is full: then the first time makes it grow. */
  rtems_ioc_pool_snapshot(&start, sizeof(start));
  give_back(take_all(&taken));
  rtems_ioc_pool_snapshot(&before, sizeof(before));
  chain = take_all(&taken);
  rtems_ioc_pool_snapshot(&full, sizeof(full));
  int answer = osiSufficentSpaceInPool(1);
  give_back(chain);
  rtems_ioc_pool_snapshot(&after, sizeof(after));
  printf("- %zu blocks took all but %zu bytes\n", taken, full.free_bytes);
  printf("a full heap refuses one byte: %s\n", answer == 0 ? "yes" : "no");
  CHECK(answer == 0);
  CHECK(full.failed > before.failed);
  CHECK(full.minimum_free_bytes <= full.free_bytes);
  printf("- the heap had %zu bytes at first, %zu now\n", start.heap_bytes, after.heap_bytes);
  CHECK(after.free_bytes == before.free_bytes);
  CHECK(after.free_blocks == before.free_blocks);
  CHECK(osiSufficentSpaceInPool(1) != 0);
  printf("and serves again when it is free\n");
}

const struct selftest heap_tests[] = {
  { "tracker", tracker },
  { "lost-hook", lost_hook },
  { "exhaustion", exhaustion },
  { NULL, NULL },
};
