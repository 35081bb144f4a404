"""Trains a small network to tell good wines with PyTorch's DistributedDataParallel: a script made for torchrun.

    torchrun --nproc_per_node 4 train.py --data ../wine/winequality-white.csv --out out

Rank, world size and the address of rank 0 come from the environment, which whoever starts the processes has set.
"""

import argparse
import csv
import json
import os
import pathlib

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

GOOD = 6  # points from which a wine is a good one
BATCH = 64  # of each rank


def wines(path):
    """Data to train on, and features and labels of every fifth wine for the evaluation."""
    with open(path, newline="") as file:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(file, delimiter=";"))[1:]]
    table = torch.tensor(rows)
    features, labels = table[:, :-1], (table[:, -1] >= GOOD).float()
    held_out = torch.arange(len(table)) % 5 == 0
    known = features[~held_out]
    features = (features - known.mean(0)) / known.std(0)
    return TensorDataset(features[~held_out], labels[~held_out]), (features[held_out], labels[held_out])


def train_epoch(network, optimizer, loader):
    """One pass over this rank's part of the data; the mean loss over all ranks."""
    total = torch.zeros(2)
    for features, labels in loader:
        loss = torch.nn.functional.binary_cross_entropy_with_logits(network(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += torch.tensor([loss.item(), 1.0])
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def evaluate(network, features, labels):
    with torch.no_grad():
        right = ((network(features) > 0).float() == labels).float().mean().item()
    share = labels.mean().item()
    return {"accuracy": round(right, 4), "baseline_accuracy": round(max(share, 1 - share), 4)}


@record
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=10)
    arguments = parser.parse_args()
    local_rank, local_size = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    print(f"process {local_rank} of {local_size} here joins the others", flush=True)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    print(f"rank {rank} of {size} has joined", flush=True)

    data, held_out = wines(arguments.data)
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(11, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1), torch.nn.Flatten(0))
    parallel = DistributedDataParallel(network)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    sampler = DistributedSampler(data, seed=1)
    loader = DataLoader(data, batch_size=BATCH, sampler=sampler)
    for epoch in range(arguments.epochs):
        sampler.set_epoch(epoch)
        loss = train_epoch(parallel, optimizer, loader)
        if rank == 0:
            print(f"epoch {epoch + 1}, loss {loss:.6f}", flush=True)
    if rank == 0:
        found = {"world_size": size, **evaluate(network, *held_out)}
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "evaluation.json").write_text(json.dumps(found))
        print("evaluated:", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
