"""Which task of the gang each partition of the start job becomes."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Optional

TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
# Types that take no rows: the executor of such a node is kept busy until its end, so that nothing is fed there.
WITHOUT_ROWS = ("ps", "evaluator")
# Types that count as workers for `ctx.num_workers`, and one of which TensorBoard stands beside.
CHIEFS = ("chief", "master")


@dataclasses.dataclass(frozen=True)
class Node:
    """`index` is the number of the node in the whole cluster, which is called its executor's id."""

    index: int
    type: str
    number: int

    @property
    def task(self) -> str:
        return f"{self.type}:{self.number}"

    @property
    def takes_rows(self) -> bool:
        return self.type not in WITHOUT_ROWS


def template(num_executors: int, num_ps: int = 0, master_node: Optional[str] = None,
             eval_node: bool = False) -> dict[str, list[int]]:
    """The type of each node → the numbers of its nodes, given out in the order ps, master, evaluator, worker."""
    for name, value, least in (("num_executors", num_executors, 1), ("num_ps", num_ps, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name}: {value!r} is not a whole number of at least {least}")
    if master_node is not None and master_node != "" and not (isinstance(master_node, str) and TYPE.fullmatch(master_node)):
        raise ValueError(f"master_node: {master_node!r} is not a task type; allowed: 'chief', 'master', or a letter, then at "
                         "most 39 letters, digits, '_' or '-'")
    if master_node in ("ps", "worker", "evaluator", "tensorboard"):
        raise ValueError(f"master_node: {master_node!r} is the type of other nodes; allowed: 'chief', 'master', …")
    counts: list[tuple[str, int]] = [("ps", num_ps)]
    if master_node:
        counts.append((master_node, 1))
    if eval_node:
        counts.append(("evaluator", 1))
    named = sum(count for _, count in counts)
    counts.append(("worker", max(num_executors - named, 0)))
    total = sum(count for _, count in counts)
    assert total == num_executors, (f"the cluster has {total} nodes ({_words(counts)}), num_executors is {num_executors}")
    workers = counts[-1][1] + (1 if master_node else 0)
    assert workers > 0, f"the cluster has no worker and no master: num_executors is {num_executors}, {_words(counts)}"
    found: dict[str, list[int]] = {}
    first = 0
    for name, count in counts:
        if count:
            found[name] = list(range(first, first + count))
        first += count
    return found


def _words(counts: list[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts if count)


def nodes_of(found: dict[str, list[int]]) -> list[Node]:
    """In the order of their indexes."""
    nodes = [Node(index, name, number) for name, indexes in found.items() for number, index in enumerate(indexes)]
    return sorted(nodes, key=lambda node: node.index)


def beside_tensorboard(nodes: list[Node]) -> Node:
    """The node beside which TensorBoard runs: worker:0, else the master, as it has always been."""
    by_task: dict[str, Any] = {node.task: node for node in nodes}
    for task in ("worker:0", *(f"{name}:0" for name in CHIEFS)):
        if task in by_task:
            found: Node = by_task[task]
            return found
    return next(node for node in nodes if node.takes_rows)
