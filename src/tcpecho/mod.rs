// SPDX-License-Identifier: BSD-2-Clause
//! The TCP echo, discard and source task.
