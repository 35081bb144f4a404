"""Fits a straight line with JAX on as many processes as there are; each has its own part of the data.

jax.distributed.initialize() finds by itself which process this is and where the others are.
"""

import json

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import NamedSharding, PartitionSpec

STEPS = 200
POINTS = 256  # of each process
SLOPE, OFFSET = 3.0, -1.0  # what is to be found


def main():
    jax.distributed.initialize()
    rank, size = jax.process_index(), jax.process_count()
    print(f"process {rank} of {size}: {jax.local_device_count()} device here, {jax.device_count()} together", flush=True)

    ranks = multihost_utils.process_allgather(jnp.array([rank]))
    print(f"sum of all process numbers {int(ranks.sum())}", flush=True)

    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    random = np.random.default_rng(rank)
    x = random.uniform(-1, 1, POINTS).astype(np.float32)
    y = (SLOPE * x + OFFSET + random.normal(0, 0.1, POINTS)).astype(np.float32)
    split = NamedSharding(mesh, PartitionSpec("data"))
    everywhere = NamedSharding(mesh, PartitionSpec())
    x, y = (jax.make_array_from_process_local_data(split, part) for part in (x, y))

    def loss_of(line, x, y):
        return jnp.mean((line[0] * x + line[1] - y) ** 2)

    @jax.jit
    def step(line, x, y):
        loss, gradient = jax.value_and_grad(loss_of)(line, x, y)
        return line - 0.2 * gradient, loss

    line = jax.device_put(np.zeros(2, np.float32), everywhere)
    for number in range(STEPS):
        line, loss = step(line, x, y)
        if rank == 0 and number % 50 == 0:
            print(f"step {number}, loss {float(loss):.4f}", flush=True)
    slope, offset = (float(value) for value in np.asarray(line.addressable_data(0)))
    print("found:", json.dumps({"slope": slope, "offset": offset, "loss": float(loss)}), flush=True)


if __name__ == "__main__":
    main()
