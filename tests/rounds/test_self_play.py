"""All seats of many rounds at once: who plays, what they see, and what they win, beside the exact rounds."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import stb_gym
from stb_gym import Round, SelfPlayVectorEnv, ShutTheBox, Standing, Threes
from stb_gym.rounds import TIES, Play
from stb_gym.rounds.matches import endings_of
from tests.rounds.test_round_env import as_agent, chi_square

SMALL = Threes(dice=2, faces=4, free_face=1)


@cache
def perfect(game, players, **rules):
    """The equilibrium as an agent, and its evaluation."""
    best = Round(game, players, **rules).solve()
    return as_agent(game, players, lambda tables, at: np.eye(tables.actions)[best.policy(at)]), best.evaluation


def first_rounds(envs, agent):
    """[B, N] what the seats of the first round of each of B columns win, and how many turns it had [B]."""
    observation, infos = envs.reset(seed=1)
    wins, turns = np.full((envs.num_envs, envs.round.players), np.nan), np.zeros(envs.num_envs)
    while np.isnan(wins).any():
        actions = agent(observation, infos["action_mask"].view(bool)).argmax(axis=1)
        going_on = np.isnan(wins).any(axis=1)
        observation, rewards, over, _, infos = envs.step(actions)
        assert not rewards.any()
        turns += over & going_on
        if "wins" in infos:
            new = infos["_wins"] & going_on
            wins[new] = infos["wins"][new]
    return wins, turns


@pytest.mark.parametrize(("ties", "shut_wins"), [("split", False), ("all-win", True), ("nobody", False)])
def test_rounds_of_perfect_seats_end_as_often_as_they_should(ties, shut_wins):
    agent, evaluation = perfect(SMALL, 3, ties=ties, shut_wins=shut_wins)
    envs = SelfPlayVectorEnv(SMALL, 20_000, players=3, ties=ties, shut_wins=shut_wins)
    wins, turns = first_rounds(envs, agent)
    assert abs(wins.mean(axis=0) - evaluation.seats).max() < 4 * wins.std() / np.sqrt(len(wins))
    assert turns.max() == 3
    assert (turns.min() < 3) == shut_wins
    if ties == "all-win":
        counts = np.bincount(wins.astype(int) @ [1, 2, 4], minlength=8)
        chances = np.zeros(8)
        for (holders, _), chance in endings_of(evaluation).items():
            chances[holders] += chance
        assert abs(chi_square(counts, chances)) < 4


def won(scores, ties, perfect=None):
    """Who wins with final scores, None of who forfeits; and how many turns there are: said once more, plainly."""
    if perfect is not None and perfect in scores:
        played = scores.index(perfect) + 1
        scores = scores[:played] + [None] * len(scores[played:])
    best = min((score for score in scores if score is not None), default=None)
    first = [score is not None and score == best for score in scores]
    worth = {"split": Fraction(1, max(1, sum(first))), "all-win": 1, "nobody": int(sum(first) == 1)}[ties]
    return [float(worth) * leads for leads in first]


@pytest.mark.parametrize("shut_wins", [False, True])
@pytest.mark.parametrize("ties", TIES)
def test_whatever_is_scored_or_forfeited_wins_what_it_should(ties, shut_wins):
    rules = Round(SMALL, 4, ties, shut_wins)
    scores, count = rules.standings.scores.tolist(), 500
    places = np.random.default_rng(0).integers(len(scores) + 1, size=(count, 4))
    places[:100] = len(scores)  # nobody scores
    play, going_on = Play(rules, count), np.arange(count)
    for seat in range(4):
        told = [play.standing(number) for number in going_on]
        before = [[scores[place] for place in places[number, :seat] if place < len(scores)] for number in going_on]
        leads = [min(each, default=None) for each in before]
        holders = [each.count(lead) for each, lead in zip(before, leads, strict=True)]
        assert told == [Standing(lead, held, 3 - seat) for lead, held in zip(leads, holders, strict=True)]
        assert (play.seat[going_on] == seat).all()
        over = play.end_turns(going_on, places[going_on, seat])
        going_on = np.setdiff1d(going_on, over)
    assert len(going_on) == 0
    written = [[scores[place] if place < len(scores) else None for place in row] for row in places.tolist()]
    expected = [won(row, ties, scores[0] if shut_wins else None) for row in written]
    assert play.wins(np.arange(count)).tolist() == expected
    play.begin(np.array([3]))
    assert (play.seen[3].tolist(), play.seat[3]) == ([len(scores), 0, 3], 0)


def test_seats_see_what_the_environment_of_one_seat_shows():
    envs = SelfPlayVectorEnv("threes", 300, players=3)
    assert envs.single_observation_space == stb_gym.RoundEnv("threes", players=3).observation_space
    before, infos = envs.reset(seed=0)
    seat, lead = infos["seat"], np.full(300, 31)
    for _ in range(12):
        observation, _, over, _, infos = envs.step(envs.legal_sample())
        assert envs.observation_space.contains(observation)
        assert (observation[~over, -3:] == before[~over, -3:]).all()
        if over.any():
            assert (infos["final_obs"][:, -3:] == before[:, -3:]).all()
            lead[over] = np.minimum(lead, infos["final_info"]["final_score"])[over]
        lead[over & (infos["seat"] == 0)] = 31
        assert (infos["seat"] == np.where(over, (seat + 1) % 3, seat)).all()
        assert (observation[:, -3] == lead).all()
        assert (observation[:, -1] == 2 - infos["seat"]).all()
        before, seat = observation, infos["seat"]
    places, actions, after = envs.afterstates()
    assert (after[:, -4:-1] == observation[places, -3:]).all()
    assert len(actions) > 300


def test_forfeits_leave_the_standing_as_it_was():
    envs = SelfPlayVectorEnv("threes", 2, players=2, render_mode="ansi")
    envs.reset(seed=0, options={"points": 0, "dice": 1})
    observation, _, over, _, infos = envs.step(np.array([4, 0]))
    assert over.all()
    assert observation[0, -3:].tolist() == [31, 0, 0]
    assert envs.render()[0].splitlines()[0] == "player_1: nobody has a score, none play after you"
    assert envs.render()[1].splitlines()[0].startswith("player_1: 1 player leads with ")
    while not infos.get("_wins", over * False)[0]:
        *_, infos = envs.step(np.array([0, 0]))
    assert infos["wins"][0].tolist() == [0, 1]
    strict = SelfPlayVectorEnv("threes", 1, illegal="raise")
    strict.reset(seed=0, options={"dice": 1})
    with pytest.raises(ValueError, match="is illegal at"):
        strict.step([3])


def test_some_rounds_are_begun_anew():
    envs = SelfPlayVectorEnv("threes", 40, players=4)
    envs.reset(seed=0)
    for _ in range(6):
        before, *_, infos = envs.step(envs.legal_sample())
    mask = np.arange(40) < 20
    assert infos["seat"][mask].any()
    after, infos = envs.reset(options={"reset_mask": mask})
    assert (after[~mask] == before[~mask]).all()
    assert (after[mask, -3:] == [31, 0, 3]).all()
    assert not infos["seat"][mask].any()


def test_rounds_go_on_from_a_snapshot_as_they_would_have():
    env, other = (SelfPlayVectorEnv(ShutTheBox(tiles=6), 30, players=3) for _ in range(2))
    env.reset(seed=0)
    for _ in range(9):
        env.step(env.legal_sample())
    snapshot = env.snapshot()
    other.restore(snapshot)
    for _ in range(20):
        actions = env.legal_sample()
        ours, theirs = env.step(actions), other.step(actions)
        assert (ours[0] == theirs[0]).all()
        assert ("wins" in ours[4]) == ("wins" in theirs[4])
        if "wins" in ours[4]:
            assert (ours[4]["wins"] == theirs[4]["wins"]).all()
    for wrong in ({"seat": 3}, {"seat": np.full(30, 3)}, {"places": snapshot["places"] + 99}, {"places": None}):
        with pytest.raises(ValueError, match="the snapshot is not of"):
            other.restore(snapshot | wrong)


def test_rounds_are_those_of_their_seed_and_who_has_not_ended_has_no_wins():
    envs, again, other = (SelfPlayVectorEnv(ShutTheBox(tiles=6), 30) for _ in range(3))
    for each, seed in ((envs, 1), (again, 1), (other, 2)):
        each.reset(seed=seed)
    assert not np.array_equal(envs.reset()[0], other.reset()[0])
    assert np.array_equal(envs.reset(seed=3)[0], again.reset(seed=3)[0])
    ended = 0
    for _ in range(40):
        *_, infos = envs.step(envs.legal_sample())
        if "wins" in infos:
            assert not infos["wins"][~infos["_wins"]].any()
            ended += int(infos["_wins"].sum())
    assert ended > 30


def test_a_turn_alone_is_not_measured():
    with pytest.raises(ValueError, match="RoundMeter"):
        stb_gym.solve(SelfPlayVectorEnv("threes"))
    with pytest.raises(TypeError, match="no environment of one seat of a round"):
        stb_gym.RoundMeter(SelfPlayVectorEnv("threes"))
