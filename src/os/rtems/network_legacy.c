/* SPDX-License-Identifier: BSD-2-Clause */
/* The legacy BSD stack (the one in RTEMS up to 5, rtems-net-legacy since): one interface, static, DHCP or BOOTP. */

#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <net/if.h>
#include <net/if_var.h>

#include <rtems/bsdnet/servers.h>
#include <rtems/dhcp.h>
#include <rtems/rtems_bsdnet.h>
#include <rtems/rtems_bsdnet_internal.h>

#include "image.h"
#include "network.h"

extern int RTEMS_IOC_NETWORK_DRIVER_ATTACH(struct rtems_bsdnet_ifconfig *config, int attaching);

static struct rtems_bsdnet_ifconfig interface = {
  .name = RTEMS_IOC_NETWORK_INTERFACE,
  .attach = RTEMS_IOC_NETWORK_DRIVER_ATTACH,
#ifdef RTEMS_IOC_NETWORK_IRQ
  .irno = RTEMS_IOC_NETWORK_IRQ,
#endif
};

/* The stack's own settings; the name is its interface. */
struct rtems_bsdnet_config rtems_bsdnet_config = {
  .ifconfig = &interface,
  .network_task_priority = RTEMS_IOC_NETWORK_PRIORITY,
  .mbuf_bytecount = RTEMS_IOC_NETWORK_MBUF_BYTES,
  .mbuf_cluster_bytecount = RTEMS_IOC_NETWORK_CLUSTER_BYTES,
#ifdef RTEMS_IOC_NETWORK_TCP_RECEIVE_BYTES
  .tcp_rx_buf_size = RTEMS_IOC_NETWORK_TCP_RECEIVE_BYTES,
#endif
};

static char status[96] = "network: not started";

static const char *interface_name(void)
{
  return interface.name != NULL ? interface.name : "the port with a link";
}

#ifdef RTEMS_IOC_NETWORK_MTU
/* Every interface of the stack; net/if_var.h declares it for the stack's own files only. */
extern struct ifnet *ifnet;

/* The stack overwrites the `mtu` of its configuration with Ethernet's, and few drivers take SIOCSIFMTU. */
static void limit_packets(void)
{
  rtems_bsdnet_semaphore_obtain();
  for (struct ifnet *each = ifnet; each != NULL; each = each->if_next) {
    if ((each->if_flags & IFF_LOOPBACK) == 0) {
      each->if_mtu = RTEMS_IOC_NETWORK_MTU;
    }
  }
  rtems_bsdnet_semaphore_release();
}
#else
static void limit_packets(void)
{
}
#endif

/* The first address that is not the loopback's. */
static void note_address(void *found, uint32_t address, uint32_t broadcast, bool loopback)
{
  struct in_addr *first = found;

  (void) broadcast;
  if (!loopback && first->s_addr == 0) {
    first->s_addr = htonl(address);
  }
}

int rtems_ioc_network_start(void)
{
  struct in_addr shown = { .s_addr = 0 };
  const char *address = rtems_ioc_setting("ip");
  const char *how = "static";

  if (interface.name[0] == '\0') {
    /* The BSP knows which port has a link. */
    interface.name = NULL;
  }
  if (address == NULL || strcmp(address, "dhcp") == 0) {
    rtems_bsdnet_config.bootp = rtems_bsdnet_do_dhcp;
    how = "DHCP";
  } else if (strcmp(address, "bootp") == 0) {
    rtems_bsdnet_config.bootp = rtems_bsdnet_do_bootp;
    how = "BOOTP";
  } else {
    interface.ip_address = (char *) address;
    interface.ip_netmask = (char *) rtems_ioc_setting("mask");
    rtems_bsdnet_config.gateway = (char *) rtems_ioc_setting("gateway");
    rtems_bsdnet_config.hostname = "rtems-ioc";
    rtems_bsdnet_config.domainname = "local";
    rtems_bsdnet_config.ntp_server[0] = (char *) rtems_ioc_setting("ntp");
  }
  if (rtems_bsdnet_initialize_network() != 0) {
    snprintf(status, sizeof(status), "network: %s on %s failed", how, interface_name());
    printf("rtems-ioc: %s\n", status);
    return -1;
  }
  limit_packets();
  if (rtems_bsdnet_config.bootp != NULL && rtems_bsdnet_ntpserver_count > 0) {
    rtems_ioc_network_said("ntp", inet_ntoa(rtems_bsdnet_ntpserver[0]));
  }
  rtems_ioc_interfaces(note_address, &shown);
  snprintf(status, sizeof(status), "network: %s %s (%s)", interface_name(), inet_ntoa(shown), how);
  printf("rtems-ioc: %s\n", status);
  return 0;
}

const char *rtems_ioc_network_status(void)
{
  return status;
}
