"""Trains a small network to tell good wines with PyTorch under Horovod: each rank sees its own part of the wines.

Nothing here knows of the launcher: hvd.init() finds the other ranks.
"""

import argparse
import csv
import json
import pathlib

import horovod.torch as hvd
import torch

GOOD = 6  # points from which a wine is a good one
BATCH = 64  # on each rank
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
    # Another beginning on every rank: the broadcast of rank 0 has to make them equal.
    torch.manual_seed(SEED + hvd.rank())
    return torch.nn.Sequential(torch.nn.Linear(11, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1), torch.nn.Flatten(0))


def train_epoch(network, optimizer, features, labels):
    """One pass over this rank's part. The mean loss over all ranks."""
    total, batches = 0.0, torch.randperm(len(features)).split(BATCH)
    for batch in batches:
        loss = torch.nn.functional.binary_cross_entropy_with_logits(network(features[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return hvd.allreduce(torch.tensor(total / len(batches)), name="loss").item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=8)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    hvd.init()
    print(f"rank {hvd.rank()} of {hvd.size()}, {hvd.local_rank()} of {hvd.local_size()} on its host, "
          f"{hvd.cross_rank()} of {hvd.cross_size()} hosts", flush=True)
    (features, labels), (test_features, test_labels) = wines(arguments.data)
    # As many wines on every rank: whoever had a batch more would wait for the others forever.
    mine = torch.arange(len(features) // hvd.size()) * hvd.size() + hvd.rank()
    network = model()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.001 * hvd.size())
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=network.named_parameters())
    hvd.broadcast_parameters(network.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    losses = []
    for epoch in range(arguments.epochs):
        losses.append(train_epoch(network, optimizer, features[mine], labels[mine]))
        if hvd.rank() == 0:
            print(f"epoch {epoch + 1}, {hvd.size()} ranks, loss {losses[-1]:.4f}", flush=True)
    sum_of_ranks = hvd.allreduce(torch.tensor(float(hvd.rank())), op=hvd.Sum, name="ranks").item()
    checksum = sum(part.double().abs().sum().item() for part in network.state_dict().values())
    checksums = hvd.allgather(torch.tensor([checksum], dtype=torch.float64), name="weights").tolist()
    print(f"sum of ranks {sum_of_ranks}, weights {checksums}", flush=True)
    if hvd.rank() == 0:
        with torch.no_grad():
            right = ((network(test_features) > 0).float() == test_labels).float().mean().item()
        baseline = max(test_labels.mean().item(), 1 - test_labels.mean().item())
        found = {"ranks": hvd.size(), "losses": losses, "accuracy": right, "baseline_accuracy": baseline,
                 "sum_of_ranks": sum_of_ranks, "weights": checksums}
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "evaluation.json").write_text(json.dumps(found))
        print(f"accuracy {right:.4f}; always answering the same: {baseline:.4f}", flush=True)


if __name__ == "__main__":
    main()
