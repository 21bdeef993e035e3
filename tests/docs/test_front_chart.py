"""The chart of the first page."""

from docs.front_chart import BUDGET, DRAWN, RESULTS, TASK
from training.results import by_agent, by_task, read_measurements


def test_visitors_can_play_against_all_learners_but_those_that_play_illegal_actions():
    _, measurements = by_task(read_measurements([RESULTS]))[TASK]
    runs = by_agent(measurements[measurements["budget"] == BUDGET])
    last = {name: runs[name].groupby("seed").last() for name in DRAWN}
    illegal = {name for name, measured in last.items() if (measured["illegal_mass"] > 0).any()}
    assert illegal == {name for name, policy in DRAWN.items() if not policy}
