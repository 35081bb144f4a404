"""The gate: what decides about a change. Every unit test with sanitizers, the programs, and each place on real servers.

Who adds to it takes away as much: its budgets stand here, and are told beside each run's times.
"""

from .stages import Stage
from .suites import build, install, labelled, parts_of, pytest, room_tests, side_by_side

GROUP = "gate"
# The groups of tools/install-deps that only the last stage needs: they are installed beside the first ones. `make test`
# installs what those need.
SERVERS = ("hadoop", "spark", "kubernetes")
# The benchmarks are only compiled here, so that a change of what they use does not break them unseen.
RELEASE = ("src/all", "tests/all", "bench/all")


def rules(tally):
    pytest(tally, "tests/tidy", "tests/toolchain", group=GROUP)


def unit(tally):
    if build(tally, "dev", *room_tests()):
        labelled(tally, "dev", "^unit$")


def programs(tally):
    if build(tally, "release", *RELEASE):
        labelled(tally, "release", "^simulation$")
        side_by_side(tally, *parts_of("tests/integration", 2), ("tests/end_to_end", "tests/ssh"), ("python/tests",), group=GROUP)


def places(tally):
    if build(tally, "release", *RELEASE) and install(tally, *SERVERS):
        side_by_side(tally, ("tests/yarn", "tests/python", "tests/clusters"), ("tests/spark",), ("tests/kubernetes",), group=GROUP)


STAGES = [
    Stage("rules", "The house rules, and what is known of the compiler.", 60, rules),
    Stage("unit", "Each room's tests, with the address and undefined-behaviour sanitizers.", 210, unit, needs=("compile",)),
    Stage("programs", "The programs and the Python package as a user has them, a training, the simulation.", 180, programs,
          needs=("compile",)),
    Stage("places", "Jobs on a real Hadoop, a secured one, Spark and Kubernetes.", 240, places, needs=("install",)),
]


def scripts():
    """{name: what is made beside the first stages}. What one stage needs first is compiled first."""
    return {
        "compile": f"tools/build dev {' '.join(room_tests())} && tools/build release {' '.join(RELEASE)}",
        "install": f"tools/install-deps {' '.join(SERVERS)}",
    }
