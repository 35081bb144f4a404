"""A program for PyTorch by tf-yarn's call: two workers of two ranks each."""

import json
import os
import sys

import torch
import torch.distributed as dist
import winequality
from gangrun.tf_yarn.pytorch import DataLoaderArgs, PytorchExperiment, TaskSpec, model_ckpt, run_on_yarn

OUT = sys.argv[1]
EPOCHS = 8


def part(number):
    features, labels = winequality.load()[number]
    return torch.from_numpy(features), torch.from_numpy(labels).float()


def main_fn(model, trainloader, device, rank, tb_writer):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    losses = []
    for epoch in range(EPOCHS):
        trainloader.sampler.set_epoch(epoch)
        total = torch.zeros(2)
        for features, labels in trainloader:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(features.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(total)
        losses.append((total[0] / total[1]).item())
        tb_writer.add_scalar("loss", losses[-1], epoch)
        model_ckpt.save_ckpt(f"{OUT}/checkpoints", model, optimizer, epoch, losses=losses)
    weights = torch.cat([weight.detach().flatten() for weight in model.parameters()]).sum()
    sums = [torch.zeros(()) for _ in range(dist.get_world_size())]
    dist.all_gather(sums, weights)
    if rank == 0:
        features, labels = part(1)
        with torch.no_grad():
            accuracy = ((model(features) > 0).float() == labels).float().mean().item()
        with open(f"{OUT}/evaluation.json", "w") as file:
            json.dump({"ranks": len(sums), "losses": losses, "accuracy": accuracy,
                       "weights": sorted({float(weight) for weight in sums})}, file)


def experiment_fn():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(11, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1), torch.nn.Flatten(0))
    return PytorchExperiment(model=model, main_fn=main_fn, train_dataset=torch.utils.data.TensorDataset(*part(0)),
                             dataloader_args=DataLoaderArgs(batch_size=64, shuffle=True, drop_last=True),
                             tensorboard_hdfs_dir=f"{OUT}/board")


if __name__ == "__main__":
    run_on_yarn(experiment_fn,
                task_specs={"worker": TaskSpec(memory="1 GiB", vcores=1, instances=2, nb_proc_per_worker=2)},
                files={"winequality.py": winequality.__file__, "winequality.csv": os.environ["WINES"]})
