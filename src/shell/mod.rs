// SPDX-License-Identifier: BSD-2-Clause
//! The commands, the same on the RTEMS shell and hosted.
