# SPDX-License-Identifier: BSD-2-Clause
"""The verdicts of the trials under rtems-tests/epics: which figures pass, and which do not."""

import sys
import unittest

import gates

sys.path.insert(0, str(gates.HERE.parent / "epics"))
import exhaustion  # noqa: E402
import soak  # noqa: E402
import work  # noqa: E402


class Verdicts(unittest.TestCase):
    """What a trial saw, and what it is to say of it."""

    def test_memory_is_back(self):
        before = (33_800, 218_002_528)
        for after in (before, (33_790, 218_010_000), (33_800, 218_002_520)):
            self.assertTrue(work.is_back(before, after), after)
        for after in ((33_801, 218_002_528), (33_806, 218_002_096), (33_800, 218_002_096)):
            self.assertFalse(work.is_back(before, after), after)

    def test_no_worse_than_without(self):
        for lost, without in ((0, 0), (1455, 1454), (1455, 1500), (0, -300), (5, -300), (-20, 0)):
            self.assertTrue(soak.is_no_worse(lost, without), (lost, without))
        # A control that has gained is no licence, nor is one that loses a lot.
        for lost, without in ((16, 0), (16, -300), (1475, 1454), (2000, 1454)):
            self.assertFalse(soak.is_no_worse(lost, without), (lost, without))

    def test_exhaustion(self):
        large = {"free": 900_000, "largest": 700_008, "searches": 20, "circuit": "answered", "met": ["refused"] * 3, "served": 20}
        small = {**large, "free": 45_000, "largest": 35_008}
        silent = {**small, "searches": 0, "circuit": "refused"}
        for variant, found in (("tier-a", large), ("always", large), ("tier-a", silent), ("always", small)):
            self.assertEqual(exhaustion.faults(variant, found), [], (variant, found))
        # Inviting clients below the reserve, and not inviting them above it.
        self.assertEqual(len(exhaustion.faults("tier-a", small)), 2)
        self.assertEqual(len(exhaustion.faults("always", silent)), 2)
        self.assertEqual(len(exhaustion.faults("tier-a", {**large, "searches": 0, "circuit": "refused"})), 2)
        for fault in (
            {"met": ["refused", "no answer", "refused"]},
            {"met": ["served"]},
            {"met": []},
            {"served": 19},
            {"free": 1_200_000},
            {"searches": 19},
        ):
            self.assertEqual(len(exhaustion.faults("tier-a", {**large, **fault})), 1, fault)


if __name__ == "__main__":
    unittest.main()
