"""What a rank of a PyTorch job does, in processes of their own: PyTorch is not in the environment of the tests."""

import json
import os
import pathlib
import socket
import subprocess
import sys

import pytest

from gangrun.tf_yarn.distributed import task
from gangrun.tf_yarn.pytorch.tasks import worker

PYTHON = pathlib.Path(worker.__file__).resolve().parents[4]
INTERPRETER = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "gangrun/pytorch/bin/python"
LIMIT_S = 280

CHECKPOINTS = """
import json, os, sys, torch
from gangrun.tf_yarn import storage
from gangrun.tf_yarn.pytorch import model_ckpt
torch.manual_seed(1)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
def step():
    optimizer.zero_grad()
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
found = {}
for name in ("checkpoints", "memory://checkpoints", f"file://{os.getcwd()}/by/arrow"):
    if name.startswith("file:"):
        sys.modules["fsspec.core"] = None  # it is not installed
        storage.local_path = lambda url: ""
    found[name] = [model_ckpt.find_latest_ckpt(name), model_ckpt.load_latest_ckpt(name, model, optimizer, "cpu")]
    step()
    found[name] += [model_ckpt.save_ckpt(name, model, optimizer, epoch, best=0.5) for epoch in (9, 10)]
    saved = [part.clone() for part in model.state_dict().values()]
    step()
    loaded = model_ckpt.load_latest_ckpt(name, model, optimizer, "cpu")
    found[name] += [loaded["epoch"], loaded["best"], model_ckpt.find_latest_ckpt(name)]
    found[name] += [all(map(torch.equal, saved, model.state_dict().values())), float(optimizer.state_dict()["state"][0]["step"])]
print(json.dumps(found))
"""

LOADERS = """
import json, pathlib, pyarrow, pyarrow.parquet, torch, webdataset
from gangrun.tf_yarn.pytorch import DataLoaderArgs, ParquetDataset
from gangrun.tf_yarn.pytorch.tasks.worker import make_loader
import torch.distributed as dist
pathlib.Path("data").mkdir()
# Row groups of 7 rows: no batch of 4 ends with one. 25 rows have 6 full batches, 10 rows have 2.
for name, rows in (("a.parquet", range(25)), ("b.parquet", range(100, 110))):
    pyarrow.parquet.write_table(pyarrow.table({"x": list(rows), "y": [1.5] * len(rows)}), f"data/{name}", row_group_size=7)
found = {"parquet": {}}
for world, workers in ((1, 0), (3, 0), (3, 2)):
    parts = []
    for rank in range(world):
        dataset = ParquetDataset("data", 4, columns=["x"])
        dataset.rank, dataset.world_size = rank, world
        loader = make_loader(dataset, DataLoaderArgs(batch_size=None, num_workers=workers, drop_last=True))
        part = sorted(batch.column("x").to_pylist() for batch in loader)
        assert len(part) == len(dataset), (part, len(dataset))
        parts.append(part)
    found["parquet"][f"{world} {workers}"] = parts
dataset = ParquetDataset("data", 20)
dataset.world_size = 2
try:
    list(dataset)
except ValueError as error:
    found["few"] = str(error)

dist.init_process_group("gloo", rank=0, world_size=1)
numbers = torch.utils.data.TensorDataset(torch.arange(10))
loader = make_loader(numbers, DataLoaderArgs(batch_size=3, shuffle=True, drop_last=True, num_workers=1))
orders = []
for epoch in (0, 1):
    loader.sampler.set_epoch(epoch)
    orders.append([batch[0].tolist() for batch in loader])
found["sizes"] = [len(batch) for batch in orders[0]]
found["shuffled"] = orders[0] != orders[1]
collated = make_loader(numbers, DataLoaderArgs(batch_size=5, collate_fn=lambda rows: [int(row[0]) for row in rows]))
found["collated"] = list(collated)

with webdataset.TarWriter("shard-0.tar") as shard:
    for number in range(6):
        shard.write({"__key__": f"k{number}", "n.cls": number})
web = webdataset.WebDataset("shard-0.tar", shardshuffle=False).decode().to_tuple("n.cls")
loader = make_loader(web, DataLoaderArgs(batch_size=2, num_workers=1))
found["web"] = [type(loader).__name__, [batch[0].tolist() for batch in loader]]
print(json.dumps(found))
"""

# One rank of its job, which is all that DistributedDataParallel needs.
RANK = """
import json, os, pathlib, sys, torch
from gangrun.tf_yarn.pytorch import DataLoaderArgs, DistributedDataParallelArgs, PytorchExperiment
from gangrun.tf_yarn.pytorch.tasks import worker
told = {}
def main_fn(model, loader, device, rank, tb_writer):
    tb_writer.add_scalar("loss", 0.25, 1)
    told.update(model=type(model).__name__, device=device, rank=rank, batches=len(loader), unused=model.find_unused_parameters)
def of_four(model, loader, device, rank):
    told["four"] = rank
def experiment_fn(main_fn=main_fn, **more):
    return PytorchExperiment(torch.nn.Linear(1, 1), main_fn, torch.utils.data.TensorDataset(torch.zeros(8, 1)),
                             DataLoaderArgs(batch_size=2), **more)
worker.run(lambda: experiment_fn(tensorboard_hdfs_dir="board", ddp_args=DistributedDataParallelArgs(find_unused_parameters=True)))
worker.train(experiment_fn(of_four), 0, None)
told["events"] = [path.parent.name for path in pathlib.Path("board").rglob("events.*")]
for wrong in (lambda: 3, lambda: experiment_fn(n_workers_per_executor=2)):
    try:
        worker.checked(wrong(), 1)
    except (TypeError, ValueError) as error:
        told.setdefault("errors", []).append(str(error))
print(json.dumps(told))
"""


def program(text, folder, **env):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1",
             "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([INTERPRETER, "-c", text], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
                          env={**os.environ, "PYTHONPATH": str(PYTHON), **place, **env})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.frameworks
def test_checkpoints_are_found_loaded_and_saved(tmp_path):
    """In a folder of this machine, by a URL of fsspec's, and by one of pyarrow's."""
    for steps, (name, found) in enumerate(program(CHECKPOINTS, tmp_path).items(), 1):
        assert found == [None, None, f"{name}/model_9.pt", f"{name}/model_10.pt", 10, 0.5, f"{name}/model_10.pt", True,
                         steps], name
    for folder in ("checkpoints", "by/arrow"):
        assert sorted(os.listdir(tmp_path / folder)) == ["model_10.pt", "model_9.pt"]
    ranked = program(CHECKPOINTS.partition("found = ")[0] + "print(json.dumps(model_ckpt.save_ckpt('x', model, optimizer, 1)))",
                     tmp_path, RANK="1")
    assert ranked is None and not (tmp_path / "x").exists()


@pytest.mark.frameworks
def test_each_rank_reads_its_part(tmp_path):
    found = program(LOADERS, tmp_path)
    full = [list(range(first, first + 4)) for first in (0, 4, 8, 12, 16, 20, 100, 104)]
    assert found["parquet"]["1 0"] == [full]
    # Eight batches do not go round among three: two are left out, and all have two.
    assert found["parquet"]["3 0"] == found["parquet"]["3 2"] == [[full[rank], full[rank + 3]] for rank in range(3)]
    assert found["few"] == "1 batches of 20 rows are too few for 2 ranks"
    assert found["sizes"] == [3, 3, 3] and found["shuffled"]
    assert found["collated"] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert found["web"] == ["WebLoader", [[0, 1], [2, 3], [4, 5]]]


@pytest.mark.frameworks
def test_a_rank_gets_model_loader_device_and_writer(tmp_path):
    found = program(RANK, tmp_path)
    assert found.pop("errors") == ["experiment_fn returned int; a PytorchExperiment is needed",
                                   "n_workers_per_executor: 2, but each task has 1; how many processes a task has is said to "
                                   "the cluster: TaskSpec(..., nb_proc_per_worker=2)"]
    assert found == {"model": "DistributedDataParallel", "device": "cpu", "rank": 0, "batches": 4, "unused": True, "four": 0,
                     "events": ["worker0"]}


@pytest.mark.parametrize("local_rank, processes, gpus, chosen", [
    (0, 1, 0, ("gloo", None)), (3, 4, 0, ("gloo", None)), (0, 1, 1, ("nccl", 0)), (1, 2, 2, ("nccl", 1)),
    (1, 2, 8, ("nccl", 1)), (3, 4, 2, ("gloo", 1)), (2, 3, 2, ("gloo", 0))])
def test_nccl_is_for_tasks_with_a_gpu_for_each_process(local_rank, processes, gpus, chosen):
    assert worker.choose(local_rank, processes, gpus) == chosen


def test_a_task_without_a_rank_is_refused(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(RuntimeError, match="this task has no rank .RANK, .* and no ps or evaluator"):
        worker.run(lambda: None)


def test_a_function_learns_its_place(monkeypatch):
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    with pytest.raises(RuntimeError, match="LOCAL_RANK is not set"):
        task.get_task()
    for name, value in {"LOCAL_RANK": 1, "RANK": 4, "WORLD_SIZE": 5, "MASTER_ADDR": "h", "MASTER_PORT": 7,
                        "LOCAL_WORLD_SIZE": 2, "GANGRUN_TASK_TYPE": "worker"}.items():
        monkeypatch.setenv(name, str(value))
    assert task.get_task() == task.get_task(1) == ("worker", 4, 5, "h", 7, 2)
    with pytest.raises(ValueError, match="the local rank of this process is 1, not 0"):
        task.get_task(0)
    assert task.run(lambda local_rank: local_rank) == 1 and task.run(lambda: "nothing asked") == "nothing asked"


def test_the_front_door_needs_no_pytorch():
    done = subprocess.run([sys.executable, "-c", "import sys; import gangrun.tf_yarn.pytorch as p; p.PytorchExperiment; "
                           "p.DataLoaderArgs; print([name for name in ('torch', 'tensorflow', 'cloudpickle') if name in sys.modules])"],
                          capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(PYTHON)})
    assert done.stdout == "[]\n", done.stderr
