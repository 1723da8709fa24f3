# SPDX-License-Identifier: BSD-2-Clause
"""A pyepics session as a script of a beamline has it; any failed assertion fails the test."""
import queue

import epics

LIMIT = 20.0


def connected(name, **options):
    # Without a monitor a get asks the server; with one, an update that comes late would overwrite what was read.
    pv = epics.PV(name, connection_timeout=LIMIT, **{"auto_monitor": False, **options})
    assert pv.wait_for_connection(timeout=LIMIT), name
    return pv


ai = connected("cmp:ai")
assert abs(ai.get(timeout=LIMIT) - 3.7) < 1e-12, ai.get()
assert ai.get(as_string=True, timeout=LIMIT) == "3.700", ai.char_value
control = ai.get_ctrlvars(timeout=LIMIT)
assert control["units"] == "mm" and control["precision"] == 3, control
assert control["upper_disp_limit"] == 100 and control["lower_alarm_limit"] == -90, control
assert ai.severity == 0 and ai.status == 0, (ai.severity, ai.status)

mbbo = connected("cmp:mbbo")
mbbo.get_ctrlvars(timeout=LIMIT)
assert [str(s) for s in mbbo.enum_strs] == ["Idle", "Run", "Fault"], mbbo.enum_strs
assert mbbo.get(as_string=True, timeout=LIMIT) == "Run"

# A put that waits for its completion, seen by a callback with the value of every put.
seen = queue.Queue()
ao = connected("cmp:ao", callback=lambda value=None, **rest: seen.put(value), auto_monitor=True)
assert seen.get(timeout=LIMIT) == 1.25
for value in (2.0, 3.0, -4.5):
    assert ao.put(value, wait=True, timeout=LIMIT) == 1
    assert seen.get(timeout=LIMIT) == value
    assert ao.get(use_monitor=False, timeout=LIMIT) == value

wave = connected("cmp:wfdouble")
assert wave.put([0.5 * i for i in range(1000)], wait=True, timeout=LIMIT) == 1
back = wave.get(use_monitor=False, timeout=LIMIT)
assert len(back) == 1000 and back[999] == 499.5, back
assert wave.put([1.0, 2.0], wait=True, timeout=LIMIT) == 1
back = wave.get(use_monitor=False, timeout=LIMIT)
assert list(back) == [1.0, 2.0], back

# An empty char array is a value, not an error.
chars = connected("cmp:wfchar")
assert len(chars.get(use_monitor=False, timeout=LIMIT)) == 0
assert chars.put("a long string", wait=True, timeout=LIMIT) == 1
assert chars.get(as_string=True, use_monitor=False, timeout=LIMIT) == "a long string"

text = connected("cmp:stringin")
assert text.get(timeout=LIMIT) == "hello"
assert text.put("goodbye", wait=True, timeout=LIMIT) == 1
assert text.get(use_monitor=False, timeout=LIMIT) == "goodbye"

# Many at once over one circuit.
names = ["cmp:ai", "cmp:longin", "cmp:longout", "cmp:bo", "cmp:plain"] * 20
values = epics.caget_many(names, timeout=LIMIT)
assert values[:4] == [3.7, -7, 70000, 0], values[:5]
assert values[5:10] == values[:5]
