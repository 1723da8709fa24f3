/* SPDX-License-Identifier: BSD-2-Clause */
/* What bindgen reads: the headers of the installed BSP, and the macros that it cannot evaluate by itself. */

#include <rtems.h>
#include <rtems/bspcmdline.h>
#include <rtems/libio_.h>
#include <rtems/malloc.h>
#include <rtems/shell.h>
#include <rtems/stackchk.h>
#include <rtems/thread.h>

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/lock.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Expressions with casts or sizeof, and the version (main calls itself the next major one). */
enum {
  RTEMS_SYS_MAJOR = __RTEMS_MAJOR__,
  RTEMS_SYS_MINOR = __RTEMS_MINOR__,
  RTEMS_SYS_DEFAULT_ATTRIBUTES = RTEMS_DEFAULT_ATTRIBUTES,
  RTEMS_SYS_FLOATING_POINT = RTEMS_FLOATING_POINT,
  RTEMS_SYS_DEFAULT_MODES = RTEMS_DEFAULT_MODES,
  RTEMS_SYS_SELF = RTEMS_SELF,
  RTEMS_SYS_SIZEOF_TIME_T = sizeof(time_t)
};

/* ioctl requests do not fit an enum of int. */
static const unsigned long RTEMS_SYS_SIOCGIFCONF = SIOCGIFCONF;
static const unsigned long RTEMS_SYS_SIOCGIFFLAGS = SIOCGIFFLAGS;
static const unsigned long RTEMS_SYS_SIOCGIFBRDADDR = SIOCGIFBRDADDR;
