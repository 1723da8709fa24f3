/* SPDX-License-Identifier: BSD-2-Clause */
/* The buffers of the legacy BSD stack: see os/socket/buffers.rs. */

#include <sys/param.h>
#include <sys/types.h>

#include <sys/mbuf.h>
#include <sys/socket.h>

#include "network.h"

/* Left to the stack itself: to receive packets, to acknowledge, to take addresses and options from us. A call of ours
 * that is let through takes at most eight clusters, which is what a socket has room for. */
#define RESERVED_MBUFS 128
#define RESERVED_CLUSTERS 32
#define PLENTY 4

/* sys/mbuf.h declares it for the stack's own files only. */
extern struct mbstat mbstat;

int rtems_ioc_network_buffers(size_t bytes)
{
  unsigned long mbufs = mbstat.m_mtypes[MT_FREE];
  unsigned long clusters = mbstat.m_clfree;

  if (mbufs < RESERVED_MBUFS || (bytes >= MINCLSIZE && clusters < RESERVED_CLUSTERS)) {
    return 0;
  }
  return mbufs >= PLENTY * RESERVED_MBUFS && clusters >= PLENTY * RESERVED_CLUSTERS ? 2 : 1;
}
