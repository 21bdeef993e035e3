"""Tabular learners: their table, its steps, and exploration, which is that of the limit too."""

import numpy as np
import pytest

from agents.config import Task
from stb_gym import ShutTheBox
from stb_gym.solver import compile_game
from tests.agents.small import BOX, learner, seen


def test_a_place_of_the_table_moves_to_its_mean_target_by_a_step_that_shrinks_with_its_updates():
    """With one tile and one coin, half of the turns are lost at once: "no move" is worth -1, all the same always."""
    coin = Task(BOX, {"tiles": 1, "dice": 1, "faces": 2})
    agent = learner("q-learning", coin, changes={"horizon": 3.0, "num_envs": 8})
    value, updates = 0.0, 0
    for _ in range(5):
        nodes = agent._envs.nodes.copy()
        lost = compile_game(ShutTheBox(tiles=1, dice=1, faces=2)).decisions[-1]
        count = int((nodes == lost).sum())
        agent._step()
        if count:
            updates += count
            value += min(3 * count / (3 + updates), 1) * (-1 - value)
        assert agent.values(*seen(coin.game(), [lost])) == pytest.approx([value])
    assert updates > 10
    assert agent._updates.sum() == 5 * 8


@pytest.mark.parametrize("algorithm", ["q-learning", "afterstates", "limit"])
def test_exploration_and_dice_have_random_numbers_of_their_own(algorithm):
    agent = learner(algorithm)
    stream = agent._random.bit_generator.state["state"]["inc"]
    assert agent._envs.np_random.bit_generator.state["state"]["inc"] != stream
    assert learner(algorithm)._random.bit_generator.state == agent._random.bit_generator.state
    assert learner(algorithm, seed=1)._random.bit_generator.state != agent._random.bit_generator.state


@pytest.mark.parametrize("algorithm", ["q-learning", "afterstates", "limit"])
def test_they_explore_as_they_say(algorithm, monkeypatch):
    agent = learner(algorithm, changes={"exploration": 0.9, "num_envs": 4000})
    made, step = [], agent._envs.step
    monkeypatch.setattr(agent._envs, "step", lambda actions: made.append(actions) or step(actions))
    nodes = agent._envs.nodes.copy()
    node = int(np.bincount(nodes, compile_game(ShutTheBox(tiles=6)).legal.sum(axis=1)[nodes]).argmax())
    expected = agent.probabilities(*seen(ShutTheBox(tiles=6), [node]))[0]
    agent._step()
    actions = made[0][nodes == node]
    assert len(actions) > 400
    assert np.bincount(actions, minlength=len(expected)) / len(actions) == pytest.approx(expected, abs=0.08)
    assert (expected > 0).sum() >= 3


@pytest.mark.parametrize("algorithm", ["q-learning", "afterstates", "limit"])
def test_a_box_too_large_for_tables_is_refused_in_one_line(algorithm):
    with pytest.raises(ValueError, match=r"^this needs the tables of a game, .*tiles=18\) steps through boards$"):
        learner(algorithm, Task(BOX, {"tiles": 18}))
