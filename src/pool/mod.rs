// SPDX-License-Identifier: BSD-2-Clause
//! `osdPoolStatus`: may n contiguous bytes be allocated? Policy and C ABI on top of the tracker.
