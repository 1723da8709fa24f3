// SPDX-License-Identifier: BSD-2-Clause
//! Sockets and the one event loop that joins `ca`, `pv` and `pool`.
