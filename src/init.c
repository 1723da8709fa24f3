/* SPDX-License-Identifier: BSD-2-Clause */
/* The image: RTEMS's configuration table, and the order in which things start. */

#include <stdio.h>
#include <stdlib.h>

#include <rtems.h>
#include <rtems/shell.h>

#include "os/rtems/files.h"
#include "os/rtems/image.h"
#include "rtems_ioc_server.h"

/* Network, servers, commands, and the shell on the console, which never ends unless asked to. */
static rtems_task Init(rtems_task_argument unused)
{
  bool networked;

  (void) unused;
  rtems_ioc_clock_check();
  printf("\nrtems-ioc on %s (%s)\n", RTEMS_IOC_BSP_NAME, RTEMS_IOC_BSP_TITLE);
  /* The shell would ask the terminal for its size and eat what somebody types meanwhile. */
  setenv("TERM_SIZE_DETECT", "0", 1);
  rtems_shell_init_environment();
  selftest_register();
  heapbench_register();
  pvbench_register();
  plainecho_register();
  device_register();
  networked = rtems_ioc_network_start() == 0;
  /* With the network up, so that the configuration may come from a file system beyond it. */
  rtems_ioc_mount();
  rtems_ioc_register_commands();
  if (networked) {
    rtems_ioc_sntp_start();
    rtems_ioc_start();
  }
  rtems_shell_init(
    "SHLL", RTEMS_IOC_TASK_SHELL_STACK, RTEMS_IOC_TASK_SHELL_PRIORITY, "/dev/console", false, true, NULL
  );
  rtems_ioc_stop();
  printf("rtems-ioc: the shell has ended\n");
  exit(0);
}

#define CONFIGURE_APPLICATION_NEEDS_CLOCK_DRIVER
#define CONFIGURE_APPLICATION_NEEDS_CONSOLE_DRIVER
#define CONFIGURE_MICROSECONDS_PER_TICK RTEMS_IOC_CLOCK_MICROSECONDS_PER_TICK

/* One heap for stacks, objects and malloc, as EPICS configures its images: the tracker sees all of it. */
#define CONFIGURE_UNIFIED_WORK_AREAS
#define CONFIGURE_UNLIMITED_OBJECTS
#define CONFIGURE_STACK_CHECKER_ENABLED

#ifdef RTEMS_IOC_NETWORK_DESCRIPTORS
#define CONFIGURE_MAXIMUM_FILE_DESCRIPTORS RTEMS_IOC_NETWORK_DESCRIPTORS
#else
#define CONFIGURE_MAXIMUM_FILE_DESCRIPTORS 32
#endif
#define CONFIGURE_FILESYSTEM_IMFS
#define CONFIGURE_MAXIMUM_USER_EXTENSIONS 4

#define CONFIGURE_RTEMS_INIT_TASKS_TABLE
#define CONFIGURE_INIT_TASK_STACK_SIZE RTEMS_IOC_TASK_INIT_STACK
#define CONFIGURE_INIT_TASK_PRIORITY RTEMS_IOC_TASK_INIT_PRIORITY
#define CONFIGURE_INIT_TASK_INITIAL_MODES RTEMS_DEFAULT_MODES
#define CONFIGURE_INIT_TASK_ATTRIBUTES RTEMS_FLOATING_POINT

#define CONFIGURE_SHELL_COMMANDS_INIT
#define CONFIGURE_SHELL_COMMAND_CPUUSE
#define CONFIGURE_SHELL_COMMAND_STACKUSE
#define CONFIGURE_SHELL_COMMAND_MALLOC_INFO
#define CONFIGURE_SHELL_COMMAND_WKSPACE_INFO
#define CONFIGURE_SHELL_COMMAND_DATE
#define CONFIGURE_SHELL_COMMAND_SHUTDOWN
#ifdef RTEMS_IOC_STACK_LIBBSD
/* libbsd brings drivers of block devices along; they get as little as they take. */
#define CONFIGURE_APPLICATION_NEEDS_LIBBLOCK
#define CONFIGURE_BDBUF_CACHE_MEMORY_SIZE (64 * 1024)
#include <rtems/netcmds-config.h>
#define CONFIGURE_SHELL_USER_COMMANDS \
  &rtems_shell_IFCONFIG_Command, &rtems_shell_NETSTAT_Command, &rtems_shell_PING_Command, &rtems_shell_ROUTE_Command
#endif
#ifdef RTEMS_IOC_STACK_LEGACY
/* `netstats` shows the buffers of the stack and what it had to drop. */
extern rtems_shell_cmd_t rtems_shell_IFCONFIG_Command;
extern rtems_shell_cmd_t rtems_shell_NETSTATS_Command;
extern rtems_shell_cmd_t rtems_shell_PING_Command;
extern rtems_shell_cmd_t rtems_shell_ROUTE_Command;
#define CONFIGURE_SHELL_USER_COMMANDS \
  &rtems_shell_IFCONFIG_Command, &rtems_shell_NETSTATS_Command, &rtems_shell_PING_Command, &rtems_shell_ROUTE_Command
#endif

#define CONFIGURE_INIT
#include <rtems/confdefs.h>
#include <rtems/shellconfig.h>
