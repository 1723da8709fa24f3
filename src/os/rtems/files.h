/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading files: see files.c. */
#pragma once

#include <stddef.h>

/* Bytes of a file, or -1. A file system that does not know (TFTP) says 0. */
long rtems_ioc_file_size(const char *path);

/* Reads up to `room` bytes from the start of a file; how many there were, or -1. */
long rtems_ioc_file_read(const char *path, void *buffer, size_t room);

/* Why the last of these failed. */
const char *rtems_ioc_file_error(void);
