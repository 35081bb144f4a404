"""Trains a small network to tell good wines with PyTorch's DistributedDataParallel, on as many ranks as there are.

Everything that must outlive a rank is in one checkpoint, which rank 0 writes after each epoch: when the gang comes back,
larger or smaller, every rank goes on from there.
"""

import argparse
import csv
import json
import os
import pathlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

GOOD = 6  # points from which a wine is a good one
BATCH = 512  # over all ranks, so that their number does not change the training
SEED = 20


def wines(path):
    """Features and labels: every fifth wine is kept for the evaluation."""
    with open(path, newline="") as file:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(file, delimiter=";"))[1:]]
    table = torch.tensor(rows)
    features, labels = table[:, :-1], (table[:, -1] >= GOOD).float()
    held_out = torch.arange(len(table)) % 5 == 0
    known = features[~held_out]
    features = (features - known.mean(0)) / known.std(0)
    return (features[~held_out], labels[~held_out]), (features[held_out], labels[held_out])


def model():
    torch.manual_seed(SEED)
    return torch.nn.Sequential(torch.nn.Linear(11, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1), torch.nn.Flatten(0))


def load(path, network, optimizer):
    """The state of the training: which epochs are done, and on how many ranks each was."""
    if not path.exists():
        return []
    checkpoint = torch.load(path)
    network.load_state_dict(checkpoint["network"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["ranks"]


def save(path, network, optimizer, ranks):
    state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "ranks": ranks}
    torch.save(state, f"{path}.new")
    os.replace(f"{path}.new", path)


def train_epoch(network, optimizer, features, labels, epoch):
    """One pass over the data, of which each rank takes its share of every batch."""
    order = torch.randperm(len(features), generator=torch.Generator().manual_seed(epoch))
    total = 0.0
    for batch in order.split(BATCH):
        mine = batch[dist.get_rank()::dist.get_world_size()]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(network(features[mine]), labels[mine])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(features)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=150)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    (features, labels), (test_features, test_labels) = wines(arguments.data)
    network = model()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    ranks = load(arguments.out / "checkpoint.pt", network, optimizer)
    print(f"rank {rank} of {size} goes on after epoch {len(ranks)}", flush=True)
    parallel = DistributedDataParallel(network)
    for epoch in range(len(ranks), arguments.epochs):
        loss = train_epoch(parallel, optimizer, features, labels, epoch)
        ranks.append(size)
        if rank == 0:
            save(arguments.out / "checkpoint.pt", network, optimizer, ranks)
            print(f"epoch {epoch + 1}, {size} ranks, loss {loss:.4f}", flush=True)
    if rank == 0:
        with torch.no_grad():
            right = ((network(test_features) > 0).float() == test_labels).float().mean().item()
        baseline = max(test_labels.mean().item(), 1 - test_labels.mean().item())
        found = {"accuracy": round(right, 4), "baseline_accuracy": round(baseline, 4), "ranks": ranks}
        (arguments.out / "evaluation.json").write_text(json.dumps(found))
        print(f"accuracy {right:.4f}; always answering the same: {baseline:.4f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    main()
