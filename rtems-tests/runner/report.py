# SPDX-License-Identifier: BSD-2-Clause
"""Counts and prints results, and writes them for the support table of the README."""

import json


class Report:
    """The results of one image."""

    def __init__(self, name):
        self.name = name
        self.results = []

    def add(self, test, outcome, detail=""):
        """Notes a result: passed, failed or skipped."""
        self.results.append({"test": test, "outcome": outcome, "detail": detail})
        print(f"{self.name}: {outcome:7} {test}{': ' + detail if detail else ''}", flush=True)

    def count(self, outcome):
        """How many tests had this outcome."""
        return sum(result["outcome"] == outcome for result in self.results)

    def summary(self):
        """One line."""
        return (
            f"{self.name}: {self.count('passed')} passed, {self.count('failed')} failed, "
            f"{self.count('skipped')} skipped"
        )

    def write(self, path, facts):
        """Writes the results as JSON, with other facts of the image."""
        path.write_text(json.dumps({"bsp": self.name, **facts, "results": self.results}, indent=1) + "\n")
