"""Every task runs once, phases run in order, helpers end with the block: on one thread and on several."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from softlookup.kernels.compiler import compile_function
from softlookup.kernels.tasks import PHASE_WORDS, TaskTeam, phase_of, tasks_of
from softlookup.kernels.vector_code import I64, VectorCode

THREADS = (1, 2, 5)
PHASES, TASKS = 200, 24


@pytest.fixture(scope="module")
def stamp():
    """Task (cell, clock, work): the cell becomes the clock + 1; then the caller's loop of ``work`` turns."""
    code = VectorCode("stamp", 4)
    cell, clock, work = (code.parameter(index) for index in (1, 2, 3))
    turns = code.variable(code.i64(0))
    with code.loop(0, work) as turn:
        turns.set(code.b.xor(code.mul(turns.get(), 3), turn))
    code.store(code.b.and_(turns.get(), I64(0)), cell, 1)  # keeps the loop
    code.store(code.add(code.load(cell, I64), 1), cell)
    code.store(code.add(code.load(clock, I64), 1), cell, 2)
    return compile_function(code.finish(), "stamp")


@pytest.fixture(scope="module")
def tick():
    """Task (clock): the clock goes on by 1."""
    code = VectorCode("tick", 4)
    clock = code.parameter(1)
    code.store(code.add(code.load(clock, I64), 1), clock)
    return compile_function(code.finish(), "tick")


def stamped(stamp, tick, threads, random, edit=None):
    """Counts and clock readings [PHASES, TASKS] after phases of stamps with a tick behind each."""
    cells = np.zeros((PHASES, TASKS, 8), dtype=np.int64)
    clock = np.zeros(1, dtype=np.int64)
    ticks = tasks_of(tick, 1)
    ticks[:, 1] = clock.ctypes.data
    kept, phases = [], []
    for row in cells:
        tasks = tasks_of(stamp, TASKS)
        tasks[:, 1] = row.ctypes.data + np.arange(TASKS) * cells.strides[1]
        tasks[:, 2] = clock.ctypes.data
        tasks[:, 3] = random.integers(1, 300, TASKS)
        kept.append(tasks)
        phases += [phase_of(tasks), phase_of(ticks)]
    if edit is not None:
        edit(phases)
    with TaskTeam(threads) as team:
        half = PHASES  # two calls, with a pause in which helpers begin to sleep
        team.run(np.array(phases[:half], dtype=np.int64))
        threading.Event().wait(0.01)
        team.run(np.array(phases[half:], dtype=np.int64))
    return cells[:, :, 0], cells[:, :, 2], int(clock[0])


def check(counts, readings, ticks):
    assert (counts == 1).all(), "a task did not run exactly once"
    assert (readings == np.arange(1, PHASES + 1)[:, None]).all(), "a phase began before the one before it ended"
    assert ticks == PHASES


@pytest.mark.parametrize("threads", THREADS)
def test_every_task_runs_once_and_phases_run_in_order(threads, stamp, tick, seed):
    check(*stamped(stamp, tick, threads, np.random.default_rng(seed)))


def test_a_phase_that_runs_twice_or_never_is_caught(stamp, tick, seed):
    def edit(phases):
        phases[2] = phases[0]

    with pytest.raises(AssertionError, match="exactly once"):
        check(*stamped(stamp, tick, 2, np.random.default_rng(seed), edit))


def test_a_phase_out_of_order_is_caught(stamp, tick, seed):
    def edit(phases):
        phases[1], phases[2] = phases[2], phases[1]

    with pytest.raises(AssertionError, match="before it ended"):
        check(*stamped(stamp, tick, 2, np.random.default_rng(seed), edit))


def test_tasks_that_are_not_shared_run_in_order_on_the_caller(tick):
    clock = np.zeros(1, dtype=np.int64)
    tasks = tasks_of(tick, 1000)  # an unguarded counter: two threads would lose counts
    tasks[:, 1] = clock.ctypes.data
    with TaskTeam(4) as team:
        for _ in range(20):
            team.run(np.array([phase_of(tasks, shared=False)], dtype=np.int64))
    assert clock[0] == 20_000


def test_helpers_end_with_the_block_also_after_an_error():
    before = set(threading.enumerate())

    def interrupted():
        with TaskTeam(4):
            assert len(set(threading.enumerate()) - before) == 3
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not set(threading.enumerate()) - before


def test_fewer_threads_than_asked_for_do_the_same_work(stamp, tick, seed, monkeypatch):
    started = []
    real = threading.Thread.start

    def start(self):
        if started:
            raise RuntimeError("can't start new thread")
        started.append(self)
        real(self)

    monkeypatch.setattr(threading.Thread, "start", start)
    check(*stamped(stamp, tick, 4, np.random.default_rng(seed)))
    assert len(started) == 1


def test_phases_of_no_or_one_task(tick):
    clock = np.zeros(1, dtype=np.int64)
    one = tasks_of(tick, 1)
    one[:, 1] = clock.ctypes.data
    phases = np.array([phase_of(one), phase_of(one[:0])], dtype=np.int64)
    assert phases.shape == (2, PHASE_WORDS)
    with TaskTeam(2) as team:
        team.run(phases)
        team.run(phases[:0])
    assert clock[0] == 1
