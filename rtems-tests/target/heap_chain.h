/* SPDX-License-Identifier: BSD-2-Clause */
/* A heap as it looks after some weeks: many small blocks, and holes between them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Allocates so many small blocks; false when the heap was full before. */
bool heap_chain_grow(size_t count);

/* Frees every second one of the blocks, at most so many. */
void heap_chain_thin(size_t most);

/* Frees all of them. */
void heap_chain_drop(void);
