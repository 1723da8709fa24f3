/* SPDX-License-Identifier: BSD-2-Clause */
/* What bindgen reads: the headers of the installed BSP, and the macros that it cannot evaluate by itself. */

#include <rtems.h>

/* What each version lacks of what the server is made from; the pool's archive needs none of this. */
#if __RTEMS_MAJOR__ < 5
#error "RTEMS before 5 has no poll.h and no self-contained mutexes and semaphores (sys/lock.h, cpukit/score/src/mutex.c), and its time_t has 32 bits: the server needs RTEMS 5 or later"
#endif
#if !__has_include(<sys/lock.h>)
#error "the C library of this BSP has no sys/lock.h: its mutexes and semaphores are what the server's tasks wait with"
#endif
#if !__has_include(<poll.h>)
#error "this BSP has no poll.h"
#endif
#if !__has_include(<sys/socket.h>) || !__has_include(<net/if.h>) || !__has_include(<netinet/tcp.h>)
#error "this BSP has no sys/socket.h, net/if.h or netinet/tcp.h: install the headers of a network stack, or those of newlib"
#endif
#if !__has_include(<rtems/bspcmdline.h>) || !__has_include(<rtems/libio_.h>) || !__has_include(<rtems/shell.h>)
#error "this BSP has no rtems/bspcmdline.h, rtems/libio_.h or rtems/shell.h"
#endif

#include <rtems/bspcmdline.h>
#include <rtems/libio_.h>
#include <rtems/shell.h>

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
