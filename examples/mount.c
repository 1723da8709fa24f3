/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An example: an application that mounts a file system before its configuration is read. Here TFTP, so that settings like
 * --db=/tftp/10.0.2.2:crate7.db name files of a server; RTEMS asks it when such a file is opened.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rtems/libio.h>
#include <rtems/tftp.h>

#include "os/rtems/files.h"

void rtems_ioc_mount(void)
{
  const char *type = RTEMS_FILESYSTEM_TYPE_TFTPFS;

  if (
    rtems_filesystem_register(type, rtems_tftpfs_initialize) != 0
    || mount_and_make_target_path("", "/tftp", type, RTEMS_FILESYSTEM_READ_WRITE, NULL) != 0
  ) {
    printf("tftp: not mounted: %s\n", strerror(errno));
  }
}
