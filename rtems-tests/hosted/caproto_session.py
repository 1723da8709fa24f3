# SPDX-License-Identifier: BSD-2-Clause
"""A caproto threading-client session; any failed assertion fails the test."""
import queue

from caproto import ChannelType
from caproto.threading.client import Context, SharedBroadcaster

LIMIT = 20.0

# The test brings its own repeater; caproto need not start one.
context = Context(SharedBroadcaster(registration_retry_time=None), timeout=LIMIT)
ai, ao, wave, mbbo = context.get_pvs("cmp:ai", "cmp:ao", "cmp:wfdouble", "cmp:mbbo", timeout=LIMIT)
for pv in (ai, ao, wave, mbbo):
    pv.wait_for_connection(timeout=LIMIT)

reading = ai.read(data_type="control", timeout=LIMIT)
assert abs(reading.data[0] - 3.7) < 1e-12
assert reading.metadata.units == b"mm" and reading.metadata.precision == 3, reading.metadata
assert [label for label in mbbo.read(data_type=ChannelType.CTRL_ENUM, timeout=LIMIT).metadata.enum_strings][:3] == [
    b"Idle",
    b"Run",
    b"Fault",
]

seen = queue.Queue()
subscription = ao.subscribe(data_type="time")
# A name for the callback keeps it alive: caproto holds callbacks weakly.
def on_update(sub, response):
    seen.put(float(response.data[0]))
subscription.add_callback(on_update)
assert seen.get(timeout=LIMIT) == 1.25
for value in (4.0, 5.0):
    ao.write([value], wait=True, timeout=LIMIT)
    assert seen.get(timeout=LIMIT) == value

wave.write([float(i) for i in range(300)], wait=True, timeout=LIMIT)
reading = wave.read(timeout=LIMIT)
assert reading.data_count == 300 and reading.data[299] == 299.0, reading.data_count
context.disconnect()
