"""Acceptance: all that the gate leaves out, by name."""

import sys
import time

from .commands import PYTHON, ROOT, run
from .stages import Stage
from .suites import MOST_UNSTEADY, build, counted, has_threads, install, labelled, pytest, room_tests, test_program

sys.path.insert(0, str(ROOT / "tests"))
import groups  # noqa: E402: pytest's groups, which each are a name here

FUZZ_SECONDS = 30
SOAK_JOBS, SOAK_GANGS, SOAK_FEEDS = 500, 200, 1000


def sanitizers(tally):
    if build(tally, "sanitizers", *room_tests(), "simulation_test"):
        labelled(tally, "sanitizers", "^unit$|^simulation$")


def threads(tally):
    targets = room_tests(has_threads)
    if targets and build(tally, "tsan", *targets):
        labelled(tally, "tsan", "^unit$")


def simulation(tally):
    if build(tally, "release", "simulation_test"):
        labelled(tally, "release", "^simulation_long$")


# Rooms whose bytes, shared memory and characters could differ on another processor. Those that start processes are not among
# them: the emulation starts none as the kernel does, and a test would signal whom it did not start.
ON_AARCH64 = ("base", "feed", "records")


def aarch64(tally):
    if not build(tally, "aarch64", "gangrun-agent", *map(test_program, ON_AARCH64)):
        return
    for agent in ("gangrun-agent", "gangrun-pod-agent"):
        status, output = run("qemu-aarch64-static", f"build/aarch64/src/{agent}", "--version", keep=True)
        if status or not output.startswith(f"{agent} "):
            tally.fail(f"{agent} for aarch64: status {status}")
        else:
            tally.passed += 1
    # The loader starts without a C library. The emulation would not start what it brings.
    status, output = run("sh", "-c", "qemu-aarch64-static build/aarch64/src/gangrun-loader 2>&1", keep=True)
    if status != 125 or not output.startswith("gangrun-loader: usage: "):
        tally.fail(f"gangrun-loader for aarch64: status {status}")
    else:
        tally.passed += 1
    # The emulation looks for so much room page by page, for minutes.
    labelled(tally, "aarch64", "^unit$", "-E", "ASizeThatNoMachineHasIsAnError")


def coverage(tally):
    counted(tally, "tools/coverage")


def fuzz(tally):
    if build(tally, "fuzz", "fuzz/all"):
        counted(tally, "tools/fuzz", FUZZ_SECONDS)


def lint(tally):
    if build(tally, "lint", "src/all"):
        counted(tally, "tools/tidy")


def bench_program(tally, program):
    """A claim that is missed is measured once more, as a busy minute of the machine is no reason to doubt it."""
    started = time.monotonic()
    for again in (False, True):
        status, _ = run(PYTHON, program, env={"GANGRUN_BUILD": str(ROOT / "build/release")})
        if status == 0 or len(tally.unsteady) >= MOST_UNSTEADY:
            break
    name = f"bench {program.name}"
    print(f"run_tests: {name}: {time.monotonic() - started:.0f} s")
    if status:
        return tally.fail(f"{name}: status {status}")
    tally.passed += 1
    if again:
        tally.unsteady.append(name)


def bench_programs():
    """By name; other files of the folder are what they share."""
    return {path.stem: path for path in sorted((ROOT / "bench").glob("*.py")) if "__main__" in path.read_text()}


def bench(tally, chosen=()):
    if not build(tally, "release", "src/all", "bench/all"):
        return
    for name, program in bench_programs().items():
        if not chosen or name in chosen:
            bench_program(tally, program)


def soak(tally):
    tests_of(tally, "soak")
    for program, option, rounds in (("soak", "--rounds", SOAK_JOBS), ("ports", "--gangs", SOAK_GANGS), ("feed", "--rounds", SOAK_FEEDS)):
        status, _ = run(PYTHON, f"tests/soak/{program}.py", option, rounds)
        if status:
            tally.fail(f"tests/soak/{program}.py: status {status}")
        else:
            tally.passed += 1


def storm(tally):
    if build(tally, "release", "src/all"):
        counted(tally, PYTHON, "tests/attacks/storm.py")


def pod_storm(tally):
    if build(tally, "release", "src/all"):
        counted(tally, PYTHON, "tests/kubernetes/pod_storm.py")


def gpu(tally):
    if build(tally, "release", "src/all"):
        counted(tally, PYTHON, "tests/gpu/cuda_ipc.py")


def tests_of(tally, group):
    """The tests of one group, wherever they lie; tests/ and python/tests have a conftest each, and so a run each."""
    if build(tally, "release", "src/all", "tests/all"):
        for folder in ("tests", "python/tests"):
            pytest(tally, folder, group=group)


# What tools/install-deps brings for a name, beside `build` and `test`.
PACKAGES = {
    "aarch64": ("aarch64",),
    "frameworks": ("demo", "frameworks"),
    "package": ("demo", "frameworks"),
    "programs": ("demo",),
    "yarn": ("hadoop-all", "spark-all", "demo", "frameworks", "browser"),
    "secure": ("hadoop-all", "demo"),
    "releases": ("hadoop-all", "spark-all"),
    "spark": ("spark-all", "hadoop", "demo"),
    "kubernetes": ("kubernetes-all",),
    "pod_storm": ("kubernetes",),
    "attacks": ("hadoop", "spark", "kubernetes"),
    "docs": ("docs", "plots", "browser"),
    "servers": ("hadoop-all", "spark-all", "kubernetes-all"),
    "bench": ("hadoop-all", "spark-all", "kubernetes-all", "bench"),
    "soak": ("demo",),
}

WITHOUT_PYTEST = {
    "sanitizers": ("Unit tests and the simulation, compiled by g++ with the address and undefined-behaviour sanitizers.", sanitizers),
    "threads": ("Unit tests of rooms with threads, with the thread sanitizer.", threads),
    "aarch64": ("The agent and the rooms base, feed and records, compiled for aarch64 and run under emulation.", aarch64),
    "simulation": ("Forty thousand schedules of deaths, delays and partitions.", simulation),
    "coverage": ("The lines of the rooms that keep a job alive that their tests and the simulation run.", coverage),
    "fuzz": ("Every parser of outside bytes, half a minute each.", fuzz),
    "lint": ("clang-tidy over all sources.", lint),
    "storm": ("Random kills and freezes here and over ssh, 300 runs or an hour; STORM_SEED and STORM_RUNS choose them.", storm),
    "pod_storm": ("Random faults of pods and of their cluster, 150 runs or an hour; POD_STORM_SEED and POD_STORM_RUNS choose them.",
                  pod_storm),
    "gpu": ("Two tasks share a buffer on an NVIDIA GPU; only by its name, on a machine that has one.", gpu),
    "bench": ("Every claim of speed, beside its peer.", bench),
}


def stage(name):
    what, function = WITHOUT_PYTEST.get(name) or (groups.GROUPS[name], None)
    function = function or (soak if name == "soak" else lambda tally: tests_of(tally, name))

    def with_packages(tally):
        if install(tally, "build", "test", *PACKAGES.get(name, ())):
            function(tally)

    return Stage(name, what, 0, with_packages)


def names():
    """In the order in which all of them run: what is cheap first."""
    return [*(name for name in WITHOUT_PYTEST if name not in ("gpu", "bench")), *(name for name in groups.GROUPS if name != groups.GATE), "bench"]


def stages(chosen):
    return [stage(name) for name in chosen or names()]


def bench_stage(chosen):
    """Some of the programs, or all."""
    def measure(tally):
        if install(tally, "build", "test", *PACKAGES["bench"]):
            bench(tally, chosen)

    return Stage("bench", WITHOUT_PYTEST["bench"][0], 0, measure)
