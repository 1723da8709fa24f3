/* SPDX-License-Identifier: BSD-2-Clause */
/* libbsd (FreeBSD's stack): one interface, static or by DHCP. */

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/sysctl.h>

#include <machine/rtems-bsd-commands.h>
#include <rtems.h>
#include <rtems/bsd/bsd.h>
#include <rtems/dhcpcd.h>

#include <bsp.h>

#include "image.h"
#include "network.h"

/* How long to wait for a lease, in seconds. */
#define LEASE_SECONDS 30

static char interface[] = RTEMS_IOC_NETWORK_INTERFACE;
static char status[96] = "network: not started";
static uint32_t own_address;
static volatile bool leased;

static int ifconfig(int argc, char **argv)
{
  int result = rtems_bsd_command_ifconfig(argc, argv);
  if (result != EX_OK) {
    printf("rtems-ioc: ifconfig %s failed: %d\n", interface, result);
  }
  return result;
}

static void note_address(void *context, uint32_t address, uint32_t broadcast, bool loopback)
{
  (void) context, (void) broadcast;
  if (!loopback) {
    own_address = address;
  }
}

/* The value if `variable` is `name`=value, or NULL. */
static const char *value_of(const char *variable, const char *name)
{
  size_t length = strlen(name);

  return strncmp(variable, name, length) == 0 && variable[length] == '=' ? variable + length + 1 : NULL;
}

/* Is called by the DHCP client with `name=value` of each event: the first of the time servers is taken. */
static void note_lease(rtems_dhcpcd_hook *hook, char *const *environment)
{
  bool address = false;
  const char *servers = NULL;

  (void) hook;
  for (; *environment != NULL; ++environment) {
    address = address || value_of(*environment, "new_ip_address") != NULL;
    servers = servers != NULL ? servers : value_of(*environment, "new_ntp_servers");
  }
  if (servers != NULL) {
    char server[INET_ADDRSTRLEN];
    strlcpy(server, servers, sizeof(server));
    server[strcspn(server, " ")] = '\0';
    rtems_ioc_network_said("ntp", server);
  }
  leased = leased || address;
}

static rtems_dhcpcd_hook lease_hook = { .name = "rtems-ioc", .handler = note_lease };

/* Starts the DHCP client and waits for a lease. */
static int by_dhcp(void)
{
  char *up[] = { "ifconfig", interface, "up", NULL };
  static const char settings[] = "nodhcp6\nnoipv6\nnoipv4ll\noption ntp_servers\n";
  int descriptor;

  if (ifconfig(3, up) != EX_OK) {
    return -1;
  }
  descriptor = open("/etc/dhcpcd.conf", O_CREAT | O_WRONLY | O_TRUNC, 0644);
  if (descriptor >= 0) {
    write(descriptor, settings, sizeof(settings) - 1);
    close(descriptor);
  }
  rtems_dhcpcd_add_hook(&lease_hook);
  if (rtems_dhcpcd_start(NULL) != RTEMS_SUCCESSFUL) {
    return -1;
  }
  for (unsigned tenth = 0; tenth < 10 * LEASE_SECONDS; ++tenth) {
    rtems_ioc_interfaces(note_address, NULL);
    if (leased && own_address != 0) {
      return 0;
    }
    rtems_task_wake_after(rtems_clock_get_ticks_per_second() / 10);
  }
  printf("rtems-ioc: no DHCP lease in %d seconds; the client goes on trying\n", LEASE_SECONDS);
  return 0;
}

static int by_settings(const char *address)
{
  const char *mask = rtems_ioc_setting("mask");
  const char *gateway = rtems_ioc_setting("gateway");
  char *set[] = {
    "ifconfig", interface, "inet", (char *) address, "netmask", (char *) (mask != NULL ? mask : "255.255.255.0"), NULL
  };
  char *route[] = { "route", "add", "default", (char *) gateway, NULL };

  if (ifconfig(6, set) != EX_OK) {
    return -1;
  }
  if (gateway != NULL && rtems_bsd_command_route(4, route) != 0) {
    printf("rtems-ioc: no route to %s\n", gateway);
  }
  rtems_ioc_interfaces(note_address, NULL);
  return 0;
}

/* FreeBSD's stack lets the buffers of a connection grow, and takes each packet, however small, into a cluster of 2 kB. Clients
 * whose requests are left unread would hold all clusters; the driver, which then has none for the next packet, interrupts
 * again and again, and no task runs any more. With these numbers the clients that bsp-config admits leave some: see
 * check_numbers in bsps.py. */
static void limit_buffers(void)
{
  static const struct {
    const char *name;
    int value;
  } limits[] = {
    { "kern.ipc.nmbclusters", RTEMS_IOC_NETWORK_CLUSTERS },
    { "net.inet.tcp.recvspace", RTEMS_IOC_NETWORK_TCP_RECEIVE_BYTES },
    { "net.inet.tcp.recvbuf_auto", 0 },
    { "net.inet.tcp.sendspace", RTEMS_IOC_NETWORK_TCP_SEND_BYTES },
    { "net.inet.tcp.sendbuf_auto", 0 },
  };

  for (size_t i = 0; i < RTEMS_ARRAY_SIZE(limits); ++i) {
    if (sysctlbyname(limits[i].name, NULL, NULL, &limits[i].value, sizeof(limits[i].value)) != 0) {
      printf("rtems-ioc: network: %s cannot be %d: %s\n", limits[i].name, limits[i].value, strerror(errno));
    }
  }
}

int rtems_ioc_network_start(void)
{
  const char *address = rtems_ioc_setting("ip");
  bool dhcp = address == NULL || strcmp(address, "dhcp") == 0;
  struct in_addr shown;

  if (rtems_bsd_initialize() != RTEMS_SUCCESSFUL) {
    printf("rtems-ioc: the network stack does not start\n");
    return -1;
  }
  /* The stack's timer sets itself up in its own task. */
  rtems_task_wake_after(2);
  limit_buffers();
  rtems_bsd_ifconfig_lo0();
  if (if_nametoindex(interface) == 0) {
    printf("rtems-ioc: there is no interface %s\n", interface);
    return -1;
  }
  if ((dhcp ? by_dhcp() : by_settings(address)) != 0) {
    return -1;
  }
  shown.s_addr = htonl(own_address);
  snprintf(status, sizeof(status), "network: %s %s (%s)", interface, inet_ntoa(shown), dhcp ? "DHCP" : "static");
  printf("rtems-ioc: %s\n", status);
  return 0;
}

const char *rtems_ioc_network_status(void)
{
  return status;
}

#define RTEMS_BSD_CONFIG_DOMAIN_PAGE_MBUFS_SIZE RTEMS_IOC_NETWORK_DOMAIN_BYTES
#define RTEMS_BSD_CONFIG_BSP_CONFIG
#define RTEMS_BSD_CONFIG_INIT
#include <machine/rtems-bsd-config.h>
