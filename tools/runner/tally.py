"""What passed, what failed, and how long each test took."""

import dataclasses
import xml.etree.ElementTree


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    names: list = dataclasses.field(default_factory=list)  # of what failed
    unsteady: list = dataclasses.field(default_factory=list)  # what failed beside others, and passed alone
    times: list = dataclasses.field(default_factory=list)  # (seconds, test)

    def fail(self, name):
        self.failed += 1
        self.names.append(name)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.names += other.names
        self.unsteady += other.unsteady
        self.times += other.times

    def add_junit(self, path):
        """Counts a runner's report; a test that was not run has not passed.

        Returns the names of those that failed, of pytest as it takes them on its command line.
        """
        failed = []
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            name = "::".join(dict.fromkeys([case.get("file") or case.get("classname", ""), case.get("name", "")]))
            self.times.append((float(case.get("time") or 0), name))
            not_run = case.get("status") in ("notrun", "disabled", "fail")
            if not_run or any(case.find(tag) is not None for tag in ("failure", "error", "skipped")):
                failed.append(name)
            else:
                self.passed += 1
        failed = list(dict.fromkeys(failed))  # an error after the test's end is a second case of it
        for name in failed:
            self.fail(name)
        return failed

    def passed_alone(self, names):
        """These had failed beside others."""
        self.passed += len(names)
        self.failed -= len(names)
        self.names = [name for name in self.names if name not in names]
        self.unsteady += names
