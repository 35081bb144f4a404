"""When an evaluator looks, what it evaluates, and that it ends: with a clock of the test's own."""

import pytest

from gangrun.tf_yarn.tasks import evaluation
from gangrun.tf_yarn.tasks.evaluation import Loop


class World:
    """Its time passes only where the loop waits; checkpoints and the end of the training come at their times."""

    def __init__(self, checkpoints=(), trained_at=None, step_s=3.0):
        self.now, self.at, self.trained_at, self.step_s = 0.0, dict(checkpoints), trained_at, step_s
        self.evaluated = []

    def loop(self, **more):
        return Loop(checkpoints=lambda: [f"m/model.ckpt-{step}" for step, at in sorted(self.at.items()) if at <= self.now],
                    evaluate=self.evaluate, trained=lambda: self.trained_at is not None and self.now >= self.trained_at,
                    clock=lambda: self.now, wait=self.wait, **more)

    def evaluate(self, path, is_last):
        self.evaluated.append((evaluation.step_of(path), is_last))
        self.now += self.step_s
        return evaluation.step_of(path)

    def wait(self, seconds):
        assert 0 < seconds <= evaluation.LOOK_S
        self.now += seconds


def test_ends_with_the_last_step():
    world = World({0: 0, 50: 10, 100: 20})
    assert world.loop(max_steps=100).run() == "step 100 of 100 is evaluated"
    assert world.evaluated == [(0, False), (50, False), (100, True)]


def test_a_step_beyond_the_last_is_the_last_too():
    world = World({101: 0})
    assert world.loop(max_steps=100).run() == "step 101 of 100 is evaluated"
    assert world.evaluated == [(101, True)]


def test_what_was_written_after_the_last_step_is_evaluated_too():
    """Several workers go on for a few steps."""
    world = World({50: 0, 100: 0, 102: 0})
    assert world.loop(max_steps=100).run() == "step 102 of 100 is evaluated"
    assert world.evaluated == [(50, False), (100, False), (102, True)]


def test_without_a_number_of_steps_it_ends_with_the_training():
    """An evaluator of tf-yarn waits forever here."""
    world = World({0: 0, 70: 30}, trained_at=40)
    assert "training has ended" in world.loop(throttle_s=5).run()
    assert world.evaluated == [(0, False), (70, False)]
    assert world.now < 41


def test_the_last_checkpoint_is_evaluated_also_when_it_came_at_the_very_end():
    world = World({0: 0, 70: 40}, trained_at=40)
    world.loop(throttle_s=600).run()
    assert world.evaluated == [(0, False), (70, True)]
    assert world.now < 45, "the end is not waited for as long as throttle_secs says"


def test_a_training_that_ends_during_an_evaluation():
    """What was written meanwhile is evaluated too, though the training was not seen to have ended before the look."""
    world = World({0: 0, 70: 2}, trained_at=2.5)
    world.loop(throttle_s=1).run()
    assert [step for step, _ in world.evaluated] == [0, 70]


def test_alone_it_evaluates_all_and_in_a_job_the_newest():
    world = World({0: 0, 10: 0, 20: 0}, trained_at=0)
    world.loop(every_one=True).run()
    assert [step for step, _ in world.evaluated] == [0, 10, 20]
    world = World({0: 0, 10: 0, 20: 0}, trained_at=0)
    world.loop(every_one=False).run()
    assert world.evaluated == [(20, True)]


def test_what_was_evaluated_before_is_not_again():
    world = World({0: 0, 10: 0, 20: 0}, trained_at=0)
    world.loop(seen={0, 10}).run()
    assert [step for step, _ in world.evaluated] == [20]
    world = World({100: 0})
    assert "before" in world.loop(seen={100}, max_steps=100).run()
    assert world.evaluated == []


def test_without_a_new_checkpoint_it_ends_after_twenty_minutes():
    world = World({0: 100})
    assert world.loop(throttle_s=30).run() == "there was no new checkpoint for 1200 s"
    # At 120 s it is seen, and evaluated for 3.
    assert 1300 <= world.now <= 1340


def test_it_starts_later_where_it_is_told_to():
    world = World({0: 0}, trained_at=500)
    seen = []
    loop = world.loop(start_delay_s=120, throttle_s=10)
    inner = loop.evaluate
    loop.evaluate = lambda path, is_last: seen.append(world.now) or inner(path, is_last)
    loop.run()
    assert seen == [120]


@pytest.mark.parametrize("path, step", [("/a-b/model.ckpt-0", 0), ("hdfs://n/x/model.ckpt-1200", 1200)])
def test_the_step_of_a_checkpoint(path, step):
    assert evaluation.step_of(path) == step
