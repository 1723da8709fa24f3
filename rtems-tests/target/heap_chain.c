/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks are chained through their first word, the last one first. */

#include "heap_chain.h"

#include <stdlib.h>

#define BLOCK_BYTES 24

static void *chain;

bool heap_chain_grow(size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    void **block = malloc(BLOCK_BYTES);
    if (block == NULL) {
      return false;
    }
    *block = chain;
    chain = block;
  }
  return true;
}

void heap_chain_thin(size_t most)
{
  void **keep = chain;
  while (keep != NULL && most-- > 0) {
    void **drop = *keep;
    if (drop == NULL) {
      break;
    }
    *keep = *drop;
    free(drop);
    keep = *keep;
  }
}

void heap_chain_drop(void)
{
  while (chain != NULL) {
    void *next = *(void **) chain;
    free(chain);
    chain = next;
  }
}
