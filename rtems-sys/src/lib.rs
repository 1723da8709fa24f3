//! Bindings of the few RTEMS headers that rtems-ioc uses.
#![no_std]
