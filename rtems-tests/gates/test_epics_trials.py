# SPDX-License-Identifier: BSD-2-Clause
"""The verdicts of the trials under rtems-tests/epics: which figures pass, and which do not."""

import sys
import unittest

import gates

sys.path.insert(0, str(gates.HERE.parent / "epics"))
import chart  # noqa: E402
import exhaustion  # noqa: E402
import soak  # noqa: E402
import verdicts  # noqa: E402
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


class Figures(unittest.TestCase):
    """What measure.py measured, and what it is to say of it."""

    def test_searches(self):
        for ours, faults in (([2600, 2609, 2620], 0), ([2600, 2574, 9000], 0), ([2660, 2609, 2690], 1), ([2_118_477], 1)):
            found = {"shipped": [2_118_477], "always": [2571, 2572, 2600], "tier-a": ours}
            self.assertEqual(len(verdicts.searches(found)), faults, ours)
        for missing in ({"tier-a": [2609]}, {"always": [2572]}, {"tier-a": [2609], "always": []}, {}):
            self.assertIsNone(verdicts.searches(missing), missing)

    @staticmethod
    def reports(*connects, tries=1.0, put=30.0):
        return [{"connect": each, "put": put, "tries": tries, "max tries": 1.0, "blocks": (1, 1)} for each in connects]

    def test_connect(self):
        ours = self.reports(70, 80, 300)
        for shipped, faults in ((self.reports(9000, 8000, 7000), 0), (self.reports(9000, 7900, 7000), 1), (self.reports(60), 1)):
            self.assertEqual(len(verdicts.connect({"shipped": shipped, "tier-a": ours})), faults, shipped)
        # A run that has not ended gives no report, which is no factor.
        for missing in ({"shipped": [], "tier-a": ours}, {"tier-a": ours}, {"shipped": ours, "tier-a": []}):
            self.assertIsNone(verdicts.connect(missing), missing)

    def test_tries(self):
        for tries, faults in ((1.0, 0), (1.04, 0), (1.06, 1), (4.0, 1)):
            self.assertEqual(len(verdicts.tries({"tier-a": self.reports(70, 80, tries=tries)})), faults, tries)
        self.assertEqual(len(verdicts.tries({"tier-a": []})), 1)
        self.assertIsNone(verdicts.tries({"always": self.reports(70)}))

    def test_above_the_slowest_run_of_always(self):
        always = self.reports(60, 80, 90, put=30.0)
        # Ranges that overlap are not enough: it is the median that counts. To be faster is no fault.
        for ours, slower in ((self.reports(70, 89, 200), 0), (self.reports(1, 2, 3, put=1.0), 0), (self.reports(70, 91, 200), 1),
                             (self.reports(70, 91, 200, put=31.0), 2)):
            names, found = verdicts.above({"always": always, "tier-a": ours})
            self.assertEqual((names, len(found)), (["connect", "put"], slower), ours)
        self.assertIsNone(verdicts.above({"always": [], "tier-a": always}))

    def test_curve_that_stops_early(self):
        lines = chart.table({"shipped": [(10, 5.0)], "ours": [(11, 2.0), (20, 2.5)], "none": []}, "connect", "blocks").splitlines()
        self.assertEqual(lines[0], "| connect | 11 blocks | 20 blocks |")
        self.assertEqual({line.count("|") for line in lines}, {4}, lines)
        self.assertIn("| shipped | 5 | no end in time |", lines)


if __name__ == "__main__":
    unittest.main()
