// SPDX-License-Identifier: BSD-2-Clause
//! The settings of the BSP: stacks, priorities, tick, pool reserve, from its file in bsp-config by way of wscript.

include!(env!(
    "RTEMS_IOC_CONFIG",
    "the file of constants that wscript makes from bsp-config: build with waf"
));
