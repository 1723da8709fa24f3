/* SPDX-License-Identifier: BSD-2-Clause */
/* A BSP without a network: the BSD calls are there and each says that there is none. */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include "image.h"
#include "network.h"

static int no_network(void)
{
  errno = EAFNOSUPPORT;
  return -1;
}

int rtems_ioc_network_start(void)
{
  printf("rtems-ioc: this BSP has no network: the servers stay off\n");
  return -1;
}

void rtems_ioc_sntp_start(void)
{
}

const char *rtems_ioc_network_status(void)
{
  return "no network in this image";
}

int rtems_ioc_interfaces(rtems_ioc_interface_visitor visit, void *context)
{
  (void) visit, (void) context;
  return EAFNOSUPPORT;
}

void rtems_ioc_media(rtems_ioc_media_visitor visit, void *context)
{
  (void) visit, (void) context;
}

int socket(int domain, int type, int protocol)
{
  (void) domain, (void) type, (void) protocol;
  return no_network();
}

int bind(int descriptor, const struct sockaddr *address, socklen_t size)
{
  (void) descriptor, (void) address, (void) size;
  return no_network();
}

int connect(int descriptor, const struct sockaddr *address, socklen_t size)
{
  (void) descriptor, (void) address, (void) size;
  return no_network();
}

int listen(int descriptor, int backlog)
{
  (void) descriptor, (void) backlog;
  return no_network();
}

int accept(int descriptor, struct sockaddr *address, socklen_t *size)
{
  (void) descriptor, (void) address, (void) size;
  return no_network();
}

int shutdown(int descriptor, int how)
{
  (void) descriptor, (void) how;
  return no_network();
}

ssize_t recv(int descriptor, void *buffer, size_t size, int flags)
{
  (void) descriptor, (void) buffer, (void) size, (void) flags;
  return no_network();
}

ssize_t recvfrom(int descriptor, void *buffer, size_t size, int flags, struct sockaddr *address, socklen_t *length)
{
  (void) descriptor, (void) buffer, (void) size, (void) flags, (void) address, (void) length;
  return no_network();
}

ssize_t send(int descriptor, const void *buffer, size_t size, int flags)
{
  (void) descriptor, (void) buffer, (void) size, (void) flags;
  return no_network();
}

ssize_t sendto(
  int descriptor, const void *buffer, size_t size, int flags, const struct sockaddr *address, socklen_t length
)
{
  (void) descriptor, (void) buffer, (void) size, (void) flags, (void) address, (void) length;
  return no_network();
}

int setsockopt(int descriptor, int level, int option, const void *value, socklen_t size)
{
  (void) descriptor, (void) level, (void) option, (void) value, (void) size;
  return no_network();
}

int getsockopt(int descriptor, int level, int option, void *value, socklen_t *size)
{
  (void) descriptor, (void) level, (void) option, (void) value, (void) size;
  return no_network();
}

int getsockname(int descriptor, struct sockaddr *address, socklen_t *size)
{
  (void) descriptor, (void) address, (void) size;
  return no_network();
}

int poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
  (void) descriptors, (void) count, (void) timeout;
  return no_network();
}
