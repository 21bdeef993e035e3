"""Test the environment of all seats of many rounds: turn order, observations and wins, against exact rounds."""

from itertools import product

import numpy as np
import pytest

from stb_gym import Threes
from stb_gym.rounds import TIES, RoundEnv, SelfPlayVectorEnv
from tests import every

SMALL = Threes(dice=2, faces=4, free_face=1)


@pytest.mark.parametrize(("ties", "shut_wins"), every(5, [*product(TIES, [True, False])]))
def test_every_turn_changes_the_lead_and_the_last_one_wins_by_the_tie_rule(ties, shut_wins):
    envs = SelfPlayVectorEnv(SMALL, 40, players=4, ties=ties, shut_wins=shut_wins)
    envs.reset(seed=1)
    envs.action_space.seed(1)
    ranked = [*envs.round.scores_so_far.scores.tolist(), "nobody has a score"]
    rounds = [[] for _ in range(40)]  # the final scores so far, None after an illegal action
    for step in range(60):
        _, rewards, over, _, infos = envs.step(envs.legal_sample() if step % 4 else envs.action_space.sample())
        assert not rewards.any()
        final, ended = infos.get("final_info"), infos.get("_wins", np.zeros(40, bool))
        assert not ended[~over].any()
        for number in np.flatnonzero(over):
            scores = rounds[number]
            scores.append(None if final["illegal_action"][number] else int(final["final_score"][number]))
            best = min((score for score in scores if score is not None), default=ranked[-1])
            holders = scores.count(best)
            assert ended[number] == (len(scores) == 4 or (shut_wins and best == 0))
            if ended[number]:
                share = {"split": 1 / max(holders, 1), "all-win": 1, "nobody": holders == 1}[ties]
                wins = [share * (score == best) for score in scores]
                assert infos["wins"][number].tolist() == [*wins, *[0] * (4 - len(scores))]
                rounds[number] = []
            else:
                assert envs.observed[number].tolist() == [ranked.index(best), holders, 3 - len(scores)]


def test_seats_see_what_the_environment_of_one_seat_shows():
    envs = SelfPlayVectorEnv("threes", 300, players=3)
    assert envs.single_observation_space == RoundEnv("threes", players=3).observation_space
    assert envs.single_observation_space.high[-3:].tolist() == [31, 2, 2]
    before, _ = envs.reset(seed=0)
    for _ in range(12):
        observation, _, over, _, infos = envs.step(envs.legal_sample())
        if over.any():
            assert (infos["final_obs"][:, -3:] == before[:, -3:]).all()
        assert (observation[:, -1] == 2 - infos["seat"]).all()
        assert (observation[~over, -3:] == before[~over, -3:]).all()
        before = observation
    places, _, after = envs.afterstates()
    assert (after[:, -4:-1] == observation[places, -3:]).all()
    mask = np.arange(300) < 20
    observation, _ = envs.reset(options={"reset_mask": mask})
    assert (observation[~mask] == before[~mask]).all()
    assert (observation[mask, -3:] == [31, 0, 2]).all()


def test_an_illegal_action_leaves_the_lead_and_wins_nothing():
    envs = SelfPlayVectorEnv("threes", 2, players=2)
    envs.reset(seed=0, options={"points": 0, "dice": 1})
    observation, _, over, _, infos = envs.step(np.array([4, 0]))
    assert over.all()
    assert observation[0, -3:].tolist() == [31, 0, 0]
    while not infos.get("_wins", over * False)[0]:
        *_, infos = envs.step(np.array([0, 0]))
    assert infos["wins"][0].tolist() == [0, 1]


def test_seeds_decide_the_rounds():
    first, again, other = (SelfPlayVectorEnv("threes", 2).reset(seed=seed)[0] for seed in (3, 3, 0))
    assert (first == again).all()
    assert (first != other).any()
