/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration that is in the image: files named in bsp-config, which the build turns into tables. Here are the tables
 * of an image that has none; those of the build take their place.
 */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <rtems/imfs.h>

#include "files.h"

__attribute__((weak)) const struct rtems_ioc_file rtems_ioc_files[] = { { NULL, NULL, 0 } };
__attribute__((weak)) const struct rtems_ioc_default rtems_ioc_defaults[] = { { NULL, NULL } };

const char *rtems_ioc_files_install(void)
{
  if (rtems_ioc_files[0].path == NULL) {
    return NULL;
  }
  mkdir("/etc", 0755);
  if (mkdir(RTEMS_IOC_FILES, 0755) != 0 && errno != EEXIST) {
    return RTEMS_IOC_FILES;
  }
  for (const struct rtems_ioc_file *file = rtems_ioc_files; file->path != NULL; ++file) {
    if (IMFS_make_linearfile(file->path, 0444, file->data, file->size) != 0 && errno != EEXIST) {
      return file->path;
    }
  }
  return NULL;
}

const char *rtems_ioc_default(const char *name)
{
  for (const struct rtems_ioc_default *each = rtems_ioc_defaults; each->name != NULL; ++each) {
    if (strcmp(each->name, name) == 0) {
      return each->value;
    }
  }
  return NULL;
}

/* For an application that mounts a file system of its own (NFS, TFTP) before its configuration is read. */
__attribute__((weak)) void rtems_ioc_mount(void)
{
}
