/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts the IOC from the script in the image (RTEMS) or the one named (host), then reads commands from the console. */

#include <epicsExit.h>
#include <epicsThread.h>
#include <iocsh.h>

int main(int argc, char *argv[])
{
#ifdef __rtems__
    (void)argc;
    (void)argv;
    iocsh("/st.cmd");
#else
    if (argc > 1)
        iocsh(argv[1]);
#endif
    iocsh(NULL);
    epicsExit(0);
    return 0;
}
