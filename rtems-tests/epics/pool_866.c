/* SPDX-License-Identifier: BSD-2-Clause */
/* The question as EPICS asks it since its PR 866: the largest free block, by RTEMS's walk over the free list. */

#include <stddef.h>
#include <stdlib.h>

#include <rtems/malloc.h>

int osiSufficentSpaceInPool(size_t contiguous_block_size);

int osiSufficentSpaceInPool(size_t contiguous_block_size)
{
  return malloc_free_space() > 50000 + contiguous_block_size;
}
