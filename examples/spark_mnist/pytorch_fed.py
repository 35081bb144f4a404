"""PyTorch on the executors of a Spark application, fed with a DataFrame: no row becomes a Python object on its way.

    spark-submit --py-files digits.py pytorch_fed.py --nodes 2
"""

import argparse
import json

from pyspark.sql import SparkSession

import digits
import gangrun.spark

IMAGES = 2000
EPOCHS = 8  # more than is needed: a node stops its feed when it has made its steps
PARTITIONS = 8
BATCH = 32  # of each node


def train(steps):
    """In each node: DistributedDataParallel, whose ranks have to make the same number of steps."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(digits.SIDE ** 2, 64), torch.nn.ReLU(), torch.nn.Linear(64, digits.CLASSES))
    ranks = DistributedDataParallel(network)
    optimizer = torch.optim.Adam(ranks.parameters(), lr=0.01)
    feed = gangrun.spark.feed()
    for _, batch in zip(range(steps), feed.torch(BATCH)):
        loss = torch.nn.functional.cross_entropy(ranks(batch["image"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        gangrun.task.report(loss=float(loss))
    feed.terminate()
    images, labels = (torch.from_numpy(array) for array in digits.arrays(range(1_000_000, 1_001_000)))
    with torch.no_grad():
        return {"rank": dist.get_rank(), "accuracy": float((network(images).argmax(1) == labels).float().mean()),
                "weights": float(sum(weight.sum() for weight in network.parameters()))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--steps", type=int, default=120)
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("digits").getOrCreate()
    rows = spark.sparkContext.parallelize(range(IMAGES), PARTITIONS).map(digits.row)
    frame = spark.createDataFrame(rows, "image array<float>, label long").cache()
    cluster = gangrun.spark.start(spark, train, (arguments.steps,), arguments.nodes)
    cluster.train(frame, EPOCHS)
    cluster.shutdown()
    print("evaluated:", json.dumps(cluster.results()), flush=True)


if __name__ == "__main__":
    main()
