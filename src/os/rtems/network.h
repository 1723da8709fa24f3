/* SPDX-License-Identifier: BSD-2-Clause */
/* What Rust asks of the network part: see interfaces.rs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is called with IPv4 addresses in host order; broadcast 0 when the interface cannot broadcast. */
typedef void (*rtems_ioc_interface_visitor)(void *context, uint32_t address, uint32_t broadcast, bool loopback);

/* Visits each IPv4 address of an interface that is up; an errno or 0. */
int rtems_ioc_interfaces(rtems_ioc_interface_visitor visit, void *context);

/* What a driver says of its cable, in the order of `Media` in media.rs. */
enum rtems_ioc_media { RTEMS_IOC_MEDIA_UNTOLD, RTEMS_IOC_MEDIA_NO_LINK, RTEMS_IOC_MEDIA_LINK };

/* Is called with an interface's name, an enum rtems_ioc_media, megabits per second (0: not told), and whether it is full
 * duplex, and negotiated (1 yes, 0 no, -1 not told). */
typedef void (*rtems_ioc_media_visitor)(
  void *context, const char *name, int media, unsigned megabits, int full_duplex, int negotiated
);

/* Visits each interface that is up and has an IPv4 address, but not loopback. */
void rtems_ioc_media(rtems_ioc_media_visitor visit, void *context);

/* The legacy stack's buffers: 0 when there are too few to send so many bytes without waiting for more, 1 when there are
 * enough, 2 when there are plenty. */
int rtems_ioc_network_buffers(size_t bytes);
