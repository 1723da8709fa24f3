/* SPDX-License-Identifier: BSD-2-Clause */
/* Always yes: what a search costs when nobody looks at the heap. */

#include <stddef.h>

int osiSufficentSpaceInPool(size_t contiguous_block_size);

int osiSufficentSpaceInPool(size_t contiguous_block_size)
{
  (void) contiguous_block_size;
  return 1;
}
