/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of an image: boot command line first, then the firmware's variables, then bsp-config. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtems/bspcmdline.h>

#include "image.h"

/* The few settings a board needs, and the EPICS variables that are given at boot. */
#define MAXIMUM_SETTINGS 24
#define NAME_BYTES 32
#define VALUE_BYTES 96

static struct {
  char name[NAME_BYTES];
  char value[VALUE_BYTES];
} settings[MAXIMUM_SETTINGS];
static size_t used;


/* `--name=value` of the command line; values end at a blank. */
static bool from_command_line(const char *name, char *value)
{
  char option[NAME_BYTES + 4];
  const char *line = rtems_bsp_cmdline_get();
  size_t length;

  snprintf(option, sizeof(option), "--%s=", name);
  while (line != NULL && (line = strstr(line, option)) != NULL) {
    line += strlen(option);
    length = strcspn(line, " \t\r\n");
    if (length > 0 && length < VALUE_BYTES) {
      memcpy(value, line, length);
      value[length] = '\0';
      return true;
    }
  }
  return false;
}

/* What the BSP's firmware says, for boards that keep variables (MOTLoad: `rtems-ioc-name`). */
__attribute__((weak)) const char *rtems_ioc_firmware_variable(const char *name)
{
  (void) name;
  return NULL;
}

/* The defaults of bsp-config. */
static const char *from_bsp_config(const char *name)
{
  static const struct {
    const char *name;
    const char *value;
  } defaults[] = {
#ifdef RTEMS_IOC_NETWORK_ADDRESS
    { "ip", RTEMS_IOC_NETWORK_ADDRESS },
#endif
#ifdef RTEMS_IOC_NETWORK_NETMASK
    { "mask", RTEMS_IOC_NETWORK_NETMASK },
#endif
#ifdef RTEMS_IOC_NETWORK_GATEWAY
    { "gateway", RTEMS_IOC_NETWORK_GATEWAY },
#endif
#ifdef RTEMS_IOC_CLOCK_SNTP
    { "ntp", RTEMS_IOC_CLOCK_SNTP },
#endif
    { NULL, NULL }
  };
  for (size_t i = 0; defaults[i].name != NULL; ++i) {
    if (strcmp(defaults[i].name, name) == 0) {
      return defaults[i].value[0] != '\0' ? defaults[i].value : NULL;
    }
  }
  return NULL;
}

const char *rtems_ioc_setting(const char *name)
{
  const char *text;

  for (size_t i = 0; i < used; ++i) {
    if (strcmp(settings[i].name, name) == 0) {
      return settings[i].value;
    }
  }
  if (used < MAXIMUM_SETTINGS && strlen(name) < NAME_BYTES && from_command_line(name, settings[used].value)) {
    strcpy(settings[used].name, name);
    return settings[used++].value;
  }
  text = rtems_ioc_firmware_variable(name);
  if (text == NULL) {
    text = getenv(name);
  }
  return text != NULL ? text : from_bsp_config(name);
}
