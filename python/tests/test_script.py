"""What a function finds around it: the script that it is from."""

import json
import os
import subprocess
import sys

SCRIPT = '''
import argparse, dataclasses, json, multiprocessing, os, sys
import gangrun

@dataclasses.dataclass
class Point:
    x: int

def doubled(point):
    return Point(2 * point.x)

def pooled(how, points):
    with multiprocessing.get_context(how).Pool(2) as pool:
        return [point.x for point in pool.map(doubled, points)]

def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float)
    return parser.parse_args().rate

def around():
    return {"argv": sys.argv, "file": __file__, "main": sys.modules["__main__"].__file__, "folder": os.getcwd(), "path": sys.path[0]}

def ask(function, *args):
    try:
        return gangrun.run({"worker": 1}, function, args=args, display=False).result
    except gangrun.errors.JobFailed as error:
        return str(error)

if __name__ == "__main__":
    print(json.dumps({"fork": ask(pooled, "fork", [Point(1), Point(4)]), "spawn": ask(pooled, "spawn", [Point(1), Point(4)]),
                      "parsed": ask(parsed), "around": ask(around)}))
'''


def ran(script, *words, cwd):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, script, *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


def answers(script, *words, cwd):
    done = ran(script, *words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Pools failed with "attribute lookup doubled on __main__ failed", and argparse saw words of gangrun's own.
def test_a_function_is_in_its_script(tmp_path):
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts/train.py"
    script.write_text(SCRIPT)
    found = answers("scripts/train.py", "--rate", "0.5", cwd=tmp_path)
    assert found["fork"] == found["spawn"] == [2, 8]
    assert found["parsed"] == 0.5
    assert found["around"] == {"argv": ["scripts/train.py", "--rate", "0.5"], "file": str(script), "main": str(script),
                               "folder": str(tmp_path), "path": str(script.parent)}


def test_what_argparse_says_is_in_the_error(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    found = answers("train.py", "--speed", "1", cwd=tmp_path)
    assert 'exited with status 2 (it said "train.py: error: unrecognized arguments: --speed 1")' in found["parsed"]


# Who reads the script again, starts the job again.
def test_a_pool_needs_no_guard_in_the_script(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT.replace('if __name__ == "__main__":', "if True:"))
    assert answers("train.py", cwd=tmp_path)["spawn"] == [2, 8]
