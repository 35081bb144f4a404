"""What the compiler at hand does, against what is written down for its version.

expectations.json is where docs/decisions point to: when a newer compiler is taken up, its line is added,
and a decision that rests on an old one's defect can be looked at again.
"""

import json
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
EXPECTATIONS = json.loads((HERE / "expectations.json").read_text())


def compiler_version():
    version = subprocess.run(["g++", "-dumpfullversion"], check=True, capture_output=True, text=True)
    return "g++ " + version.stdout.strip()


@pytest.mark.parametrize("optimization", ["-O0", "-O2"])
def test_coroutines_destroy_what_they_captured(tmp_path, optimization):
    program = tmp_path / "coroutine_probe"
    source = HERE / "coroutine_probe.cc"
    subprocess.run(["g++", "-std=c++20", optimization, source, "-o", program], check=True, timeout=120)
    run = subprocess.run([program], check=True, capture_output=True, text=True, timeout=30)
    found = run.stdout.splitlines()[-1]
    print(f"{compiler_version()} {optimization}: {found}\n{run.stdout}")
    assert found in ("defect", "correct")
    expected = EXPECTATIONS["coroutine_probe"].get(compiler_version(), found)
    assert found == expected, f"expectations.json says {expected!r} for {compiler_version()}"
