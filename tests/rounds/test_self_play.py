"""Test the environment of all seats of many rounds: turn order, observations and wins, against exact rounds."""

import numpy as np
import pytest

from stb_gym import Threes
from stb_gym.rounds import TIES, Play, Round, RoundEnv, RoundVectorEnv, ScoresSoFar, SelfPlayVectorEnv
from tests import every
from tests.rounds.agents import as_agent

SMALL = Threes(dice=2, faces=4, free_face=1)


@pytest.mark.parametrize(
    ("ties", "shut_wins"), every(3, [("split", False), ("all-win", True), ("nobody", False)], pytest.mark.slow)
)
def test_perfect_seats_win_as_often_as_they_should(ties, shut_wins):
    solution = Round(SMALL, 3, ties, shut_wins).solve()
    agent = as_agent(SMALL, lambda tables, at: np.eye(tables.num_actions)[solution.policy(at)])
    envs = SelfPlayVectorEnv(SMALL, 8000, players=3, ties=ties, shut_wins=shut_wins)
    observation, infos = envs.reset(seed=1)
    wins = np.full((envs.num_envs, 3), np.nan)  # of the first rounds
    while np.isnan(wins).any():
        actions = agent(observation, infos["action_mask"].view(bool)).argmax(axis=1)
        observation, rewards, _, _, infos = envs.step(actions)
        assert not rewards.any()
        if "wins" in infos:
            assert not infos["wins"][~infos["_wins"]].any()
            new = infos["_wins"] & np.isnan(wins[:, 0])
            wins[new] = infos["wins"][new]
    assert wins.mean(axis=0) == pytest.approx(solution.seats, abs=4 * wins.std() / len(wins) ** 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("shut_wins", [False, True])
@pytest.mark.parametrize("ties", TIES)
def test_all_scores_and_illegal_actions_win_by_the_tie_rule(ties, shut_wins):
    rules, count = Round(SMALL, 4, ties, shut_wins), 200
    illegal_state = len(rules.scores_so_far.scores)
    drawn = np.random.default_rng(0).integers(illegal_state + 1, size=(count, 4))
    drawn[:20] = illegal_state
    play, going_on, wins = Play(rules, count), np.arange(count), np.zeros((count, 4))
    for seat in range(4):
        for number in going_on:
            before = [int(rules.scores_so_far.scores[place]) for place in drawn[number, :seat] if place < illegal_state]
            lead = min(before, default=None)
            assert play.scores_so_far(number) == ScoresSoFar(lead, before.count(lead), 3 - seat)
        ended, won = play.end_turns(going_on, drawn[going_on, seat])
        wins[ended] = won
        going_on = np.setdiff1d(going_on, ended)
    assert len(going_on) == 0
    if shut_wins:
        ended = (drawn == 0).cumsum(axis=1).cumsum(axis=1) > 1  # nobody plays after a perfect score
        drawn[ended] = illegal_state
    leads = (drawn == drawn.min(axis=1, keepdims=True)) & (drawn < illegal_state)
    number = np.maximum(leads.sum(axis=1, keepdims=True), 1)
    share = {"split": leads / number, "all-win": leads, "nobody": leads & (number == 1)}[ties]
    assert (wins == share).all()


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


def test_an_illegal_action_leaves_the_lead_and_wins_nothing(snapshot):
    envs = SelfPlayVectorEnv("threes", 2, players=2, render_mode="ansi")
    envs.reset(seed=0, options={"points": 0, "dice": 1})
    observation, _, over, _, infos = envs.step(np.array([4, 0]))
    assert over.all()
    assert observation[0, -3:].tolist() == [31, 0, 0]
    assert [frame.splitlines()[0] for frame in envs.render()] == snapshot
    while not infos.get("_wins", over * False)[0]:
        *_, infos = envs.step(np.array([0, 0]))
    assert infos["wins"][0].tolist() == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SelfPlayVectorEnv, RoundVectorEnv, RoundEnv])
def test_seeds_decide_the_rounds(kind):
    first, again, other = (kind("threes", 2).reset(seed=seed)[0] for seed in (3, 3, 0))
    assert (first == again).all()
    assert (first != other).any()
