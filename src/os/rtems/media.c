/* SPDX-License-Identifier: BSD-2-Clause */
/* What the drivers say of their cables, by SIOCGIFMEDIA, which both network stacks have. */

#include <sys/types.h>

#include <string.h>
#include <unistd.h>

#include <ifaddrs.h>

#include <net/if.h>
#include <net/if_media.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sockio.h>

#include "image.h"
#include "network.h"

/* Drivers of the legacy stack answer in the `ifreq` of RTEMS's own media call or in BSD's `ifmediareq`. The media word of
 * the first lies where the second has the word that was chosen. */
union request {
  struct ifreq rtems;
  struct ifmediareq bsd;
};

/* The flags of RTEMS's own call (rtems_mii_ioctl.h, which libbsd has no use for). */
#define LINK_OK IFM_FLAG0
#define SET_BY_HAND IFM_FLAG1

static unsigned megabits(int word)
{
  switch (IFM_SUBTYPE(word)) {
    case IFM_10_T:
    case IFM_10_2:
    case IFM_10_5:
    case IFM_10_FL:
      return 10;
    case IFM_100_TX:
    case IFM_100_FX:
    case IFM_100_T4:
    case IFM_100_T2:
      return 100;
    case IFM_1000_T:
    case IFM_1000_SX:
    case IFM_1000_LX:
    case IFM_1000_CX:
      return 1000;
    default:
      return 0;
  }
}

/* One question. With `instance` some drivers are told which transceiver is meant; others have but one. */
static bool ask(int descriptor, const char *name, int instance, union request *request)
{
  memset(request, 0, sizeof(*request));
  strlcpy(request->bsd.ifm_name, name, sizeof(request->bsd.ifm_name));
  request->rtems.ifr_media = instance;
  return ioctl(descriptor, SIOCGIFMEDIA, request) == 0;
}

static enum rtems_ioc_media read_media(int descriptor, const char *name, unsigned *speed, int *full, int *negotiated)
{
  union request request;
  int word;
  bool up;

  *speed = 0;
  *full = *negotiated = -1;
  if (!ask(descriptor, name, 0, &request) && !ask(descriptor, name, IFM_IMASK, &request)) {
    return RTEMS_IOC_MEDIA_UNTOLD;
  }
  if ((request.bsd.ifm_status & IFM_AVALID) != 0) {
    word = request.bsd.ifm_active;
    up = (request.bsd.ifm_status & IFM_ACTIVE) != 0;
    *negotiated = IFM_SUBTYPE(request.bsd.ifm_current) == IFM_AUTO;
#ifdef RTEMS_IOC_STACK_LEGACY
  } else if (request.bsd.ifm_active == 0) {
    word = request.rtems.ifr_media;
    up = (word & LINK_OK) != 0;
    *negotiated = (word & SET_BY_HAND) == 0;
#endif
  } else {
    return RTEMS_IOC_MEDIA_UNTOLD;
  }
  if (IFM_TYPE(word) != IFM_ETHER) {
    return RTEMS_IOC_MEDIA_UNTOLD;
  }
  *speed = megabits(word);
  if ((word & IFM_FDX) != 0) {
    *full = 1;
  } else if ((word & IFM_HDX) != 0 || *speed != 0) {
    /* Drivers set no bit for half duplex as often as that one. */
    *full = 0;
  }
  if (!up) {
    return RTEMS_IOC_MEDIA_NO_LINK;
  }
  return RTEMS_IOC_MEDIA_LINK;
}

void rtems_ioc_media(rtems_ioc_media_visitor visit, void *context)
{
  struct ifaddrs *list;
  struct ifaddrs *each;
  int descriptor;

  if (getifaddrs(&list) != 0) {
    return;
  }
  descriptor = socket(AF_INET, SOCK_DGRAM, 0);
  for (each = list; descriptor >= 0 && each != NULL; each = each->ifa_next) {
    if (each->ifa_addr != NULL && each->ifa_addr->sa_family == AF_INET && (each->ifa_flags & IFF_UP) != 0 &&
        (each->ifa_flags & IFF_LOOPBACK) == 0) {
      unsigned speed;
      int full;
      int negotiated;
      enum rtems_ioc_media media = read_media(descriptor, each->ifa_name, &speed, &full, &negotiated);
      visit(context, each->ifa_name, (int) media, speed, full, negotiated);
    }
  }
  if (descriptor >= 0) {
    close(descriptor);
  }
  freeifaddrs(list);
}
