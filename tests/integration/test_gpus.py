"""GPUs of a machine. There are none where this is tested: a library that stands for NVIDIA's lists those that a test names."""

import os
import subprocess
import sys

import pytest

PYTHON = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "python")
# Each GPU is a line of the file GPUS: its UUID, then those of its parts. It has no answer where that is a FIFO.
LIBRARY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char lines[16][512];
static char parts[16][16][96];
static unsigned count, counts[16];

int nvmlInit_v2(void) {
  FILE *file = fopen(getenv("GPUS"), "r");
  while (file && fgets(lines[count], sizeof lines[0], file)) {
    char *word = strtok(lines[count], " \n");
    while ((word = strtok(NULL, " \n"))) strcpy(parts[count][counts[count]++], word);
    ++count;
  }
  return file ? 0 : 9;
}
int nvmlDeviceGetCount_v2(unsigned *out) { *out = count; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out) { *out = lines[index]; return 0; }
int nvmlDeviceGetUUID(void *device, char *out, unsigned size) { snprintf(out, size, "%s", (char *)device); return 0; }
static unsigned number(void *device) { return (unsigned)(((char *)device - lines[0]) / sizeof lines[0]); }
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending) {
  *now = *pending = counts[number(device)] > 0;
  return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *out) { (void)device; *out = 16; return 0; }
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **out) {
  *out = parts[number(device)][index];
  return index < counts[number(device)] ? 0 : 6;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nvidia")
    (folder / "library.c").write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libnvidia-ml.so.1", folder / "library.c"], check=True, timeout=60)
    return folder


@pytest.fixture
def machine(library, tmp_path):
    """machine(*gpus, **variables): the environment of a machine with these."""

    def make(*gpus, **variables):
        (tmp_path / "gpus").write_text("".join(f"{gpu}\n" for gpu in gpus))
        return {**os.environ, "LD_LIBRARY_PATH": str(library), "GPUS": str(tmp_path / "gpus"),
                "GANGRUN_GPU_LOCKS": str(tmp_path / "locks"), **variables}

    return make


def seen(run_gangrun, environment, *flags):
    """What each task sees of GPUs."""
    done = run_gangrun("run", *flags, "--", "sh", "-c", 'echo "seen=${CUDA_VISIBLE_DEVICES-unset}"', env=environment)
    assert done.status == 0, done.stderr
    return sorted(line.split("seen=")[1] for line in done.stdout.splitlines() if "seen=" in line)


def test_each_task_has_gpus_of_its_own_by_their_uuids(run_gangrun, machine):
    environment = machine("GPU-a", "GPU-b", "GPU-c")
    assert seen(run_gangrun, environment, "-r", "worker:2", "--gpus", "1") == ["GPU-a", "GPU-b"]


def test_ours_are_those_that_we_may_use(run_gangrun, machine):
    environment = machine("GPU-a", "GPU-b", "GPU-c", CUDA_VISIBLE_DEVICES="GPU-c,0")
    assert seen(run_gangrun, environment, "--gpus", "2") == ["GPU-c,GPU-a"]
    refused = run_gangrun("run", "--gpus", "3", "--", "true", env=environment)
    assert refused.status == 2 and "the job asks for 3 GPUs; this machine has 2" in refused.stderr


def test_parts_of_a_gpu_are_given_out_one_by_one(run_gangrun, machine):
    environment = machine("GPU-a MIG-x MIG-y")
    assert seen(run_gangrun, environment, "-r", "worker:2", "--gpus", "1") == ["MIG-x", "MIG-y"]


def test_a_job_that_asks_for_none_sees_what_its_caller_sees(run_gangrun, machine):
    assert seen(run_gangrun, machine("GPU-a")) == ["unset"]
    assert seen(run_gangrun, machine("GPU-a", CUDA_VISIBLE_DEVICES="0")) == ["0"]


def test_a_task_that_asks_for_none_sees_none_of_the_others(run_gangrun, machine):
    assert seen(run_gangrun, machine("GPU-a"), "-r", "worker:2", "--gpus", "worker[1]:1") == ["", "GPU-a"]


@pytest.mark.programs  # it takes the limit's 10 s
def test_a_driver_that_does_not_answer_is_waited_for_no_longer_than_its_limit(run_gangrun, machine, tmp_path):
    environment = machine("GPU-a")
    (tmp_path / "gpus").unlink()
    os.mkfifo(tmp_path / "gpus")
    done = run_gangrun("run", "--gpus", "1", "--", "true", env=environment)
    assert done.status == 2 and "this machine has 0" in done.stderr


def test_gpus_of_a_spark_task_are_not_given_to_a_job(run_gangrun, machine, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "nvidia-smi").write_text('#!/bin/sh\ncase "$*" in *query-gpu=*) printf "0, GPU-a\\n1, GPU-b\\n" ;; esac\n')
    (programs / "nvidia-smi").chmod(0o755)
    environment = machine("GPU-a", "GPU-b", PATH=f"{programs}:{os.environ['PATH']}", PYTHONPATH=PYTHON)
    hold = "from gangrun.tensorflowonspark import gpu_info; print(gpu_info.get_gpus(1), flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as other:
        assert other.stdout.readline() == "0\n"
        assert seen(run_gangrun, environment, "--gpus", "1") == ["GPU-b"]
        other.communicate("\n", timeout=30)
