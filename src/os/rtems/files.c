/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a whole file of whatever file system is mounted there. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

long rtems_ioc_file_size(const char *path)
{
  struct stat status;

  if (stat(path, &status) != 0) {
    return -1;
  }
  return (long) status.st_size;
}

long rtems_ioc_file_read(const char *path, void *buffer, size_t room)
{
  char *at = buffer;
  size_t have = 0;
  int descriptor = open(path, O_RDONLY);

  if (descriptor < 0) {
    return -1;
  }
  while (have < room) {
    ssize_t got = read(descriptor, at + have, room - have);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      if (got < 0) {
        close(descriptor);
        return -1;
      }
      break;
    }
    have += (size_t) got;
  }
  close(descriptor);
  return (long) have;
}

const char *rtems_ioc_file_error(void)
{
  return strerror(errno);
}
