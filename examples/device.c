/* SPDX-License-Identifier: BSD-2-Clause */
/* An example: a task that plays a device (a heater with a slow controller) and publishes it. Shell command `device`. */

#include <stdio.h>
#include <string.h>

#include <rtems.h>
#include <rtems/shell.h>

#include "os/rtems/image.h"
#include "rtems_ioc_pv.h"

/* Above the server, as what reads hardware should be: setting a value never waits. */
#define PRIORITY 20
#define STACK 4096
#define PERIODS_PER_SECOND 20
#define TRACE 64
/* The controller takes this long to move by one kelvin. */
#define PERIODS_PER_KELVIN 2

static rtems_ioc_pv *temperature;
static rtems_ioc_pv *setpoint;
static rtems_ioc_pv *heater;
static rtems_ioc_pv *trace;
static rtems_id task;
static volatile bool stop;
static volatile bool ended;

/* What the server's task asks of the device's: one move at a time. */
static volatile double wanted = 20.0;
static volatile uint32_t moving;
static volatile bool heater_on = true;

/* A new setpoint is accepted when the device has got there: the client's put-callback ends then. */
static int move(void *context, const rtems_ioc_put *put)
{
  double value = *(const double *) put->data;

  (void) context;
  if (moving != 0 || value < 0.0 || value > 100.0) {
    return RTEMS_IOC_PUT_REFUSE;
  }
  /* In this order: the device's task may come in between, and ends the put when it is where it is wanted. */
  wanted = value;
  moving = put->token;
  return RTEMS_IOC_PUT_LATER;
}

/* The heater may be switched off, but not while the setpoint moves. */
static int switch_heater(void *context, const rtems_ioc_put *put)
{
  (void) context;
  if (moving != 0) {
    return RTEMS_IOC_PUT_REFUSE;
  }
  heater_on = *(const uint16_t *) put->data != 0;
  return RTEMS_IOC_PUT_ACCEPT;
}

static void publish(double now, int16_t *history, unsigned count)
{
  rtems_ioc_value value = { .type = RTEMS_IOC_DOUBLE, .count = 1, .data = &now };
  rtems_ioc_value points = { .type = RTEMS_IOC_SHORT, .count = count, .data = history };

  if (!heater_on) {
    /* Without the heater the sensor has no supply: the value is there, and says that it is worth nothing. */
    value.status = 1;
    value.severity = 3;
  }
  rtems_ioc_pv_set(temperature, &value);
  rtems_ioc_pv_set(trace, &points);
}

static rtems_task run(rtems_task_argument unused)
{
  static int16_t history[TRACE];
  double now = 20.0;
  unsigned count = 0;

  (void) unused;
  while (!stop) {
    double step = 1.0 / PERIODS_PER_KELVIN;
    uint32_t token = moving;

    if (now < wanted - step) {
      now += step;
    } else if (now > wanted + step) {
      now -= step;
    } else {
      now = wanted;
      if (token != 0) {
        moving = 0;
        rtems_ioc_pv_complete(setpoint, token, 1);
      }
    }
    if (count == TRACE) {
      memmove(history, history + 1, (TRACE - 1) * sizeof(history[0]));
      --count;
    }
    history[count++] = (int16_t) (10 * now);
    publish(now, history, count);
    rtems_task_wake_after(rtems_clock_get_ticks_per_second() / PERIODS_PER_SECOND);
  }
  ended = true;
  rtems_task_delete(RTEMS_SELF);
}

static void delete(rtems_ioc_pv **pv)
{
  if (*pv != NULL) {
    rtems_ioc_pv_delete(*pv);
  }
  *pv = NULL;
}

static void delete_all(void)
{
  delete(&temperature);
  delete(&setpoint);
  delete(&heater);
  delete(&trace);
}

static int start(void)
{
  static const char *const degrees[] = {
    "EGU", "C", "PREC", "1", "HOPR", "100", "HIGH", "60", "HSV", "MINOR", "HIHI", "80", "HHSV", "MAJOR", "HYST", "1",
    "DESC", "what the sensor says", NULL
  };
  static const char *const range[] = { "EGU", "C", "PREC", "1", "DRVH", "100", "HOPR", "100", NULL };
  static const char *const states[] = { "ZNAM", "Off", "ONAM", "On", "ZSV", "MINOR", NULL };
  static const char *const points[] = { "FTVL", "SHORT", "NELM", "64", "EGU", "0.1 C", NULL };
  rtems_status_code status;

  stop = false;
  ended = false;
  moving = 0;
  wanted = 20.0;
  temperature = rtems_ioc_pv_create("ai", "device:temperature", degrees, NULL, NULL);
  setpoint = rtems_ioc_pv_create("ao", "device:setpoint", range, move, NULL);
  heater = rtems_ioc_pv_create("bo", "device:heater", states, switch_heater, NULL);
  trace = rtems_ioc_pv_create("waveform", "device:trace", points, NULL, NULL);
  if (temperature == NULL || setpoint == NULL || heater == NULL || trace == NULL) {
    /* One of the names is taken, say: nothing of a device that does not run is left behind. */
    delete_all();
    printf("device: not started, the log says why\n");
    return 1;
  }
  rtems_ioc_pv_set_double(setpoint, wanted);
  rtems_ioc_pv_set_long(heater, heater_on);
  status = rtems_task_create(
    rtems_build_name('d', 'e', 'v', 'i'), PRIORITY, STACK, RTEMS_DEFAULT_MODES, RTEMS_FLOATING_POINT, &task
  );
  if (status == RTEMS_SUCCESSFUL) {
    status = rtems_task_start(task, run, 0);
    if (status != RTEMS_SUCCESSFUL) {
      rtems_task_delete(task);
    }
  }
  if (status != RTEMS_SUCCESSFUL) {
    delete_all();
  }
  printf("device: %s\n", status == RTEMS_SUCCESSFUL ? "running" : rtems_status_text(status));
  return status == RTEMS_SUCCESSFUL ? 0 : 1;
}

static int finish(void)
{
  stop = true;
  while (!ended) {
    rtems_task_wake_after(1);
  }
  delete_all();
  printf("device: stopped\n");
  return 0;
}

static int command(int argc, char *argv[])
{
  if (argc == 2 && strcmp(argv[1], "start") == 0 && temperature == NULL) {
    return start();
  }
  if (argc == 2 && strcmp(argv[1], "stop") == 0 && temperature != NULL) {
    return finish();
  }
  printf("usage: device start|stop   (%s)\n", temperature != NULL ? "it is running" : "it is stopped");
  return 1;
}

void device_register(void)
{
  rtems_shell_add_cmd("device", "ioc", "device start|stop        the example of process variables from C", command);
}
