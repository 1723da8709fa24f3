// SPDX-License-Identifier: BSD-2-Clause
//! Boundary tags, size-class index and tracker of RTEMS's first-fit heap: pure, no OS call.
