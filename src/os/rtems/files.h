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

/* Where the files of the image are. */
#define RTEMS_IOC_FILES "/etc/ioc"

/* A file of the image; a table of them ends with NULL. */
struct rtems_ioc_file {
  const char *path;
  const void *data;
  size_t size;
};
extern const struct rtems_ioc_file rtems_ioc_files[];

/* A setting of the image; a table of them ends with NULL. */
struct rtems_ioc_default {
  const char *name;
  const char *value;
};
extern const struct rtems_ioc_default rtems_ioc_defaults[];

/* Puts the files of the image where they belong; the path of the one that failed, or NULL. */
const char *rtems_ioc_files_install(void);

/* A setting of the image, or NULL. */
const char *rtems_ioc_default(const char *name);

/* Called when the network is up and before the configuration is read; does nothing unless the application has one. */
void rtems_ioc_mount(void);
