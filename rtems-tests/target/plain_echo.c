/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `plainecho`: an echo server as everybody writes one, to compare tcpecho's cost with. One client at a time,
 * blocking calls, a buffer of 10 000 bytes. It runs until the image ends. Compiled for Linux it is a program. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

#define BUFFER_BYTES 10000

static char buffer[BUFFER_BYTES];

static void converse(int client)
{
  ssize_t got;

  while ((got = recv(client, buffer, sizeof(buffer), 0)) > 0) {
    ssize_t done = 0;
    while (done < got) {
      ssize_t sent = send(client, buffer + done, (size_t) (got - done), 0);
      if (sent <= 0) {
        return;
      }
      done += sent;
    }
  }
}

/* Listens on a port and serves for ever; returns only when that cannot be. */
static void serve(unsigned port)
{
  struct sockaddr_in address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);

  memset(&address, 0, sizeof(address));
#ifdef __rtems__
  address.sin_len = sizeof(address);
#endif
  address.sin_family = AF_INET;
  address.sin_port = htons((uint16_t) port);
  if (listener < 0 || bind(listener, (struct sockaddr *) &address, sizeof(address)) != 0 || listen(listener, 2) != 0) {
    perror("plainecho");
    return;
  }
  for (;;) {
    int client = accept(listener, NULL, NULL);
    if (client >= 0) {
      converse(client);
      close(client);
    }
  }
}

#ifdef __rtems__

#include <rtems.h>
#include <rtems/shell.h>

#include "os/rtems/image.h"

static rtems_task task(rtems_task_argument port)
{
  serve((unsigned) port);
  rtems_task_exit();
}

static int command(int argc, char *argv[])
{
  rtems_id id;
  unsigned port = argc == 3 ? (unsigned) strtoul(argv[1], NULL, 0) : 0;
  rtems_task_priority priority = argc == 3 ? (rtems_task_priority) strtoul(argv[2], NULL, 0) : 0;

  if (port == 0 || priority == 0) {
    printf("usage: plainecho PORT PRIORITY\n");
    return 1;
  }
  if (
    rtems_task_create(
      rtems_build_name('p', 'e', 'c', 'h'), priority, 8192, RTEMS_DEFAULT_MODES, RTEMS_FLOATING_POINT, &id
    ) != RTEMS_SUCCESSFUL ||
    rtems_task_start(id, task, port) != RTEMS_SUCCESSFUL
  ) {
    printf("plainecho: no task for it\n");
    return 1;
  }
  return 0;
}

void plainecho_register(void)
{
  rtems_shell_add_cmd("plainecho", "ioc", "plainecho PORT PRIORITY    echo server in plain C, to compare with", command);
}

#else

int main(int argc, char *argv[])
{
  if (argc == 2) {
    serve((unsigned) strtoul(argv[1], NULL, 0));
  }
  return 1;
}

#endif
