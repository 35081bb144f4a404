"""What the programs beside this file end with: they serve the tests that started them (tests/clusters/spark/fixtures.py)."""

import json
import os
import sys
import threading
import time
import traceback


LIMIT_S = 60


def wait_for(condition, what):
    """Polls: what is waited for is done by the test, or by other nodes."""
    limit, nothing = time.monotonic() + LIMIT_S, threading.Event()
    while not condition():
        if time.monotonic() > limit:
            raise TimeoutError(f"waited {LIMIT_S} s for {what}")
        nothing.wait(0.02)


def wait_for_file(path):
    """Until somebody has made it."""
    wait_for(lambda: os.path.exists(path), path)


def context():
    """The SparkContext that the test has described."""
    from pyspark import SparkConf, SparkContext
    conf = SparkConf().setMaster(os.environ["SPARK_TEST_MASTER"]).setAppName(os.path.basename(sys.argv[0]))
    for name, value in json.loads(os.environ["SPARK_TEST_OPTIONS"]).items():
        conf.set(name, value)
    return SparkContext(conf=conf)


def leave(folder, name, what):
    """A file for the test, which finds it whole or not at all."""
    new = os.path.join(folder, f".{name}")
    with open(new, "w") as file:
        json.dump(what, file)
    os.rename(new, os.path.join(folder, name))


def serve(functions):
    """Runs what the test asks for by name, one after another, and answers what it returned or raised."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sc = context()
    answers.write(json.dumps({"up": True}) + "\n")
    answers.flush()
    for line in sys.stdin:
        name, arguments = json.loads(line)
        began = time.monotonic()
        try:
            answer = {"value": functions[name](sc, *arguments)}
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            answer = {"kind": type(error).__name__, "text": str(error), "trace": traceback.format_exc()}
        answers.write(json.dumps(answer | {"seconds": time.monotonic() - began}) + "\n")
        answers.flush()
    sc.stop()
