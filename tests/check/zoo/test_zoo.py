"""Test that right textbook learners pass every check, and that the table of faults is what the checks say now."""

import pytest

from tests.check import assert_passes
from tests.check.zoo import dqn, group, ppo, table
from tests.check.zoo.registry import FAULTS

RIGHT = [
    (name, run)
    for module, learner in ((ppo, ppo.PPO), (dqn, dqn.DQN), (group, group.Group))
    for name, run in module.checks(learner).items()
]
TABLE = {row["key"]: row for row in table.read()}
COMPARED = ("flagged", "named", "noise")


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "run"), RIGHT)
def test_right_learners_pass(name, run):
    assert_passes(run())


@pytest.mark.nightly
def test_right_learners_climb_the_ladder():
    for result in (table.climb(ppo.PPO), table.climb(dqn.DQN, *table.CLIMBED.values())):
        assert result, result


@pytest.mark.nightly
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.key)
def test_the_table_is_what_the_checks_say(fault):
    row = table.row(fault)
    assert {name: row[name] for name in COMPARED} == {name: TABLE[fault.key][name] for name in COMPARED}, row


def test_most_faults_are_flagged_and_named():
    def share(name, value="yes"):
        return sum(row[name] == value for row in TABLE.values()) / len(TABLE)

    assert set(TABLE) == {fault.key for fault in FAULTS}
    assert share("flagged") == 1
    assert share("named") >= 0.9
    assert share("noise", "no") >= 0.9
