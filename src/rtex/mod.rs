// SPDX-License-Identifier: BSD-2-Clause
//! First-touch cost of heap and stack: the determinism demonstration.
