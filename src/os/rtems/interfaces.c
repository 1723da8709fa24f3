/* SPDX-License-Identifier: BSD-2-Clause */
/* The interfaces by getifaddrs, which both network stacks have. */

#include <sys/types.h>

#include <errno.h>
#include <ifaddrs.h>

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "network.h"

static uint32_t ipv4(const struct sockaddr *address)
{
  if (address == NULL || address->sa_family != AF_INET) {
    return 0;
  }
  return ntohl(((const struct sockaddr_in *) (const void *) address)->sin_addr.s_addr);
}

int rtems_ioc_interfaces(rtems_ioc_interface_visitor visit, void *context)
{
  struct ifaddrs *list;
  struct ifaddrs *each;

  if (getifaddrs(&list) != 0) {
    return errno != 0 ? errno : EIO;
  }
  for (each = list; each != NULL; each = each->ifa_next) {
    if (ipv4(each->ifa_addr) != 0 && (each->ifa_flags & IFF_UP) != 0) {
      uint32_t broadcast = (each->ifa_flags & IFF_BROADCAST) != 0 ? ipv4(each->ifa_broadaddr) : 0;
      visit(context, ipv4(each->ifa_addr), broadcast, (each->ifa_flags & IFF_LOOPBACK) != 0);
    }
  }
  freeifaddrs(list);
  return 0;
}
