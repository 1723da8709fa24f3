/* SPDX-License-Identifier: BSD-2-Clause */
/* For a base without EPICS's PR 940: its epicsEventDestroy() for RTEMS leaves the event's memory behind. The trials link
 * this with --wrap=epicsEventDestroy, so that free memory can be compared to the byte. */

#include <stdlib.h>

void __real_epicsEventDestroy(void *event);
void __wrap_epicsEventDestroy(void *event);

void __wrap_epicsEventDestroy(void *event)
{
  __real_epicsEventDestroy(event);
  free(event);
}
