# SPDX-License-Identifier: BSD-2-Clause
"""A number, served by caproto."""

import os

# caproto takes its port from the client's variable.
os.environ["EPICS_CA_SERVER_PORT"] = os.environ["EPICS_CAS_SERVER_PORT"]

from caproto.server import PVGroup, pvproperty, run  # noqa: E402


class Peer(PVGroup):
    """What the bench asks for."""

    catime = pvproperty(name="catime", value=0.0, dtype=float)


run(Peer(prefix="ioc:").pvdb, interfaces=["127.0.0.1"], log_pv_names=False)
