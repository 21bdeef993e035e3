"""Pig, a game of its own in docs/pig.py: all that a registered game gets, where more points are better.

What is expected of it comes from `turn_worth`, which shares no code with the package.
"""

import importlib.util
import io
import itertools
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from unittest.mock import patch

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from scipy import stats
from stb_gym.games.canvas import Canvas

import stb_gym
from stb_gym.cli import main
from stb_gym.games import registry
from stb_gym.solver import ways_to_shut
from tests import PATIENCE

DOCS = Path(__file__).parent.parent / "docs"
HOLD, AGAIN = 0, 1


@pytest.fixture(scope="module", autouse=True)
def pig():
    """The module docs/pig.py; the game is known to the tests of this file only."""
    spec = importlib.util.spec_from_file_location("pig", DOCS / "pig.py")
    module = importlib.util.module_from_spec(spec)
    with ExitStack() as undone_at_the_end:
        for known in (sys.modules, stb_gym.GAMES, registry._ENTRIES, stb_gym.ENVIRONMENTS, gym.registry):
            undone_at_the_end.enter_context(patch.dict(known))
        sys.modules["pig"] = module
        spec.loader.exec_module(module)
        yield module


@pytest.fixture(scope="module")
def game(pig):
    return pig.Pig()


def the_better(points, hold, again):
    return max(hold, again)


def hold_at(least):
    return lambda points, hold, again: hold if points >= least else again


def turn_worth(utility, choose=the_better, limit=100):
    """The expected utility of a turn as a fraction, by recursion over the points."""

    @cache
    def throw(points):
        total = Fraction(utility(0))  # a 1
        for face in range(2, 7):
            now = min(points + face, limit)
            total += utility(now) if now == limit else choose(now, Fraction(utility(now)), throw(now))
        return total / 6

    return throw(0)


def chances(least):
    """The chance of every final score if one holds with so many points or more."""
    scores, in_hand = Counter(), Counter({0: Fraction(1)})
    for now in range(least):
        scores[0] += in_hand[now] / 6
        for face in range(2, 7):
            reached = in_hand if now + face < least else scores
            reached[now + face] += in_hand[now] / 6
    return dict(scores)


def points(score):
    return score


def holds_at(game, least):
    """The policy of an agent of one's own, which sees observations and masks."""
    return stb_gym.RegretMeter(game).policy(
        lambda seen, masks: np.where(masks[:, AGAIN] & (seen.sum(axis=1) < least), 1, 0)
    )


# Perfect play


def test_a_turn_is_worth_8_14_points_exactly(game):
    exact = stb_gym.solve(game, exact=True).value
    assert exact == turn_worth(points) == Fraction(492303203, 60466176)
    assert stb_gym.solve(game).value == pytest.approx(8.1417949, abs=5e-8)


def test_holding_at_20_is_perfect_exactly(game):
    exact, policy = stb_gym.solve(game, exact=True), stb_gym.strategy(game, "hold-at-20")
    assert turn_worth(points, hold_at(20)) == exact.value
    taken = policy[exact.tables.edge_node] == exact.tables.edge_action
    assert taken.sum() == len(exact.tables.decisions)
    assert exact.optimal[taken].all()
    assert stb_gym.evaluate(game, policy).regret == 0.0
    assert (policy == holds_at(game, 20))[exact.tables.decisions].all()


@pytest.mark.parametrize("least", [10, 19, 20, 21, 22, 25])
def test_the_regret_of_holding_earlier_or_later(game, least):
    lost = stb_gym.solve(game, exact=True).value - turn_worth(points, hold_at(least))
    assert (lost == 0) == (least in (20, 21))  # at 20 points both are equally good
    measured = stb_gym.evaluate(game, holds_at(game, least))
    assert measured.regret == pytest.approx(float(lost), rel=1e-12)
    assert measured.value == pytest.approx(float(turn_worth(points, hold_at(least))), rel=1e-12)
    assert measured.agreement_by_visits < 1 or lost == 0
    assert measured.score_distribution == pytest.approx(chances(least))
    assert list(measured.score_distribution) == sorted(chances(least), reverse=True)  # the best first


@pytest.mark.parametrize("limit", [1, 3, 20, 255])
def test_fewer_and_more_points_at_most(pig, limit):
    assert stb_gym.solve(pig.Pig(most_points=limit), exact=True).value == turn_worth(points, limit=limit)


def test_a_die_of_more_faces(pig):
    best = stb_gym.solve(pig.Pig(faces=10), exact=True)  # the other faces add up to 54
    agent = stb_gym.RegretMeter(best.tables.game).policy(
        lambda seen, masks: masks[:, AGAIN] & (seen.sum(axis=1) < 54) * 1
    )
    assert best.optimal[agent[best.tables.edge_node] == best.tables.edge_action].all()


def test_a_certificate(game):
    certificate = stb_gym.certify(game)
    assert certificate.value == turn_worth(points)
    assert certificate.optimal_actions_agree
    assert certificate.largest_relative_error < 1e-13
    assert certificate.text.startswith(
        'pig\n{"faces": 6, "most_points": 100}\nscore\n0 0 0/1\n0 1 492303203/60466176\n'
    )


def test_the_rules_are_checked(pig):
    with pytest.raises(ValueError, match="most_points must be an integer from 1 to 255, not 256"):
        pig.Pig(most_points=256)
    assert repr(pig.Pig(most_points=50)) == "Pig(most_points=50)"


# Objectives


@pytest.mark.parametrize(
    ("objective", "utility"),
    [
        ("shut", lambda score: score == 100),
        ("at-least:20", lambda score: score >= 20),
        ("at-least:3", lambda score: score >= 3),
        (lambda score: np.sqrt(score), lambda score: Fraction(score**0.5)),
        (stb_gym.Objective("squares", lambda score: score**2), lambda score: score**2),
        (lambda score: -score, lambda score: -score),
    ],
)
def test_objectives(game, objective, utility):
    best = stb_gym.solve(game, objective)
    assert best.value == pytest.approx(float(turn_worth(utility)), rel=1e-12)
    assert best.evaluate(best.policy).regret == 0.0
    assert best.evaluate(holds_at(game, 20)).value == pytest.approx(float(turn_worth(utility, hold_at(20))), rel=1e-12)


def test_an_objective_of_games_with_fewer_points_is_refused(game):
    allowed = r"^unknown objective 'at-most:5': allowed are score, shut, at-least:T \(T points, such as at-least:5\)$"
    for asked in (stb_gym.solve, stb_gym.certify):
        with pytest.raises(ValueError, match=allowed):
            asked(game, "at-most:5")
    with pytest.raises(ValueError, match=allowed):
        gym.make("stb_gym/Pig-v0", objective="at-most:5")


def test_the_worst_play(game):
    assert stb_gym.solve(game, worst=True, exact=True).value == turn_worth(points, lambda _, *worth: min(worth))


def test_an_illegal_action_scores_nothing(game):
    always = stb_gym.RegretMeter(game).policy(lambda seen, masks: np.full(len(seen), AGAIN))
    with pytest.raises(ValueError, match=r"^the policy takes the illegal action 1 at held 99, 1 die, roll 1$"):
        stb_gym.evaluate(game, always)
    measured = stb_gym.evaluate(game, always, illegal="end")
    assert measured.value == 0
    assert measured.illegal_mass == pytest.approx(1)  # sooner or later there is a 1
    assert measured.score_distribution == pytest.approx({0: 1})
    assert measured.regret == pytest.approx(float(turn_worth(points)))


# Strategies, saved policies, sampled games


def test_strategies(game):
    plays = stb_gym.strategies(game)
    assert list(plays)[:3] == ["random", "hold-at-20", "hold-at-25"]
    assert plays["hold-at-20"] == "Hold with 20 points or more."
    chosen = {
        "random": lambda _, hold, again: (hold + again) / 2,
        "hold-at-20": hold_at(20),
        "hold-at-25": hold_at(25),
        "most-ways": hold_at(100),
        "optimal": the_better,
        "optimal-score": the_better,
        "optimal-shut": hold_at(100),
        "worst": lambda _, *worth: min(worth),
    }
    assert plays.keys() - chosen.keys() == {"approximation"}
    for name, choose in chosen.items():
        value = stb_gym.evaluate(game, stb_gym.strategy(game, name)).value
        assert value == pytest.approx(float(turn_worth(points, choose)), rel=1e-12), name


def test_the_ways_to_the_most_points(pig):
    def ways(now, throws):
        """In how many ways exactly so many throws lead to 7 points, of which there are no more."""
        if throws == 0 or now == 7:
            return int(throws == 0 and now == 7)
        return sum(ways(min(now + face, 7), throws - 1) for face in range(2, 7))

    tables = stb_gym.compile_game(pig.Pig(most_points=7))
    assert [ways(0, throws) for throws in range(6)] == ways_to_shut(tables)[tables.start, :6].tolist()


@pytest.mark.slow
def test_the_approximation_keeps_others_from_beating_it(game):
    stands = [1 - turn_worth(lambda score, lead=lead: score > lead) for lead in range(101)]
    measured = stb_gym.evaluate(
        game, stb_gym.strategy(game, "approximation"), lambda score: np.array(stands, float)[score]
    )
    assert measured.value == pytest.approx(float(turn_worth(stands.__getitem__)), rel=1e-12)


def test_sampled_games(game):
    for objective in ("score", "at-least:20"):
        played = stb_gym.simulate(game, stb_gym.strategy(game, "hold-at-25"), turns=20_000, seed=4, objective=objective)
        assert abs(played.z) < 5
        utility = {"score": points, "at-least:20": lambda score: score >= 20}[objective]
        assert played.exact == pytest.approx(float(turn_worth(utility, hold_at(25))))
        assert played.standard_error < 0.1


def test_a_policy_is_saved_and_read(pig, game, tmp_path):
    policy = stb_gym.strategy(game, "hold-at-25")
    stb_gym.save_policy(tmp_path / "policy.npz", game, policy)
    assert (stb_gym.load_policy(tmp_path / "policy.npz", game) == policy).all()
    for other in (pig.Pig(most_points=50), stb_gym.Threes()):
        with pytest.raises(ValueError, match="is a policy of pig with"):
            stb_gym.load_policy(tmp_path / "policy.npz", other)


# Environments


def legal_after(observation):
    """The mask that the rules give an observation (points before the throw, face)."""
    points, face = map(int, observation)
    return [face > 0, face > 1 and points + face < 100]


def points_after(observation):
    points, face = map(int, observation)
    return min(points + face, 100) if face > 1 else 0


@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_gymnasium_finds_no_fault(render_mode):
    check_env(gym.make("stb_gym/Pig-v0", render_mode=render_mode, most_points=30).unwrapped)


def test_turns_are_played_by_the_rules():
    env = gym.make("stb_gym/Pig-v0")
    random, faces, scores = np.random.default_rng(1), [], []
    for seed in range(500):
        observation, info = env.reset(seed=seed)
        assert observation[0] == 0
        for _ in range(100):
            faces.append(int(observation[1]))
            assert info["action_mask"].tolist() == legal_after(observation)
            action = AGAIN if info["action_mask"][AGAIN] and random.random() < 0.8 else HOLD
            before, (observation, reward, terminated, _, info) = observation, env.step(action)
            assert observation[0] == points_after(before)
            assert terminated == (action == HOLD)
            if terminated:
                break
            assert reward == 0
        assert (observation[1], info["illegal_action"]) == (0, False)
        assert reward == info["final_score"] == observation[0]
        scores.append(reward)
    assert len(set(scores)) > 30
    assert stats.chisquare(np.bincount(faces, minlength=7)[1:]).pvalue > 1e-6
    assert np.bincount(faces)[0] == 0


@pytest.mark.parametrize("mode", AutoresetMode)
def test_many_turns_at_once_are_the_same_turns(mode):
    env, single = gym.make_vec("stb_gym/Pig-v0", 32, autoreset_mode=mode), gym.make("stb_gym/Pig-v0")
    observation, info = env.reset(seed=2)
    over, ended = np.zeros(32, bool), 0
    for step in range(40):
        assert info["action_mask"].tolist() == [legal_after(seen) for seen in observation]
        assert (env.unwrapped.action_masks() == info["action_mask"]).all()
        actions = np.where(info["action_mask"][:, AGAIN] & (np.arange(32) % 5 != step % 5), AGAIN, HOLD)
        before, begins, (observation, reward, terminated, _, info) = observation, over, env.step(actions)
        assert (terminated == ((actions == HOLD) & ~begins)).all()
        last = info["final_obs"] if mode == AutoresetMode.SAME_STEP and terminated.any() else observation
        for place in np.flatnonzero(~begins):
            held, face = map(int, before[place])
            seen, told = single.reset(options={"held": held, "roll": face}, seed=step)
            assert (seen == before[place]).all()
            alone, worth, end, _, told = single.step(actions[place])
            assert (worth, end) == (reward[place], terminated[place])
            assert alone[0] == last[place][0]
            if end:
                ends = info["final_info"] if mode == AutoresetMode.SAME_STEP else info
                assert told["final_score"] == ends["final_score"][place] == points_after(before[place])
                assert (alone == last[place]).all()
                ended += 1
        if mode == AutoresetMode.SAME_STEP:
            assert (observation[terminated][:, 0] == 0).all()
            assert (observation[:, 1] > 0).all()
        if mode == AutoresetMode.NEXT_STEP:
            assert (observation[begins][:, 0] == 0).all()
            over = terminated
        if mode == AutoresetMode.DISABLED and terminated.any():
            with pytest.raises(RuntimeError, match="a game is over"):
                env.step(actions)
            observation, info = env.reset(options={"reset_mask": terminated})
    assert ended > 200


def test_a_turn_begins_where_one_likes():
    env = gym.make("stb_gym/Pig-v0")
    observation, info = env.reset(options={"held": 18, "roll": [2]}, seed=1)
    assert (observation.tolist(), info["action_mask"].tolist()) == ([18, 2], [1, 1])
    assert {int(env.reset(options={"held": 99}, seed=seed)[0][1]) for seed in range(100)} == set(range(1, 7))
    for options, fault in (
        ({"held": 100}, "^held must be an integer from 0 to 99, not 100$"),
        ({"roll": 7}, "^each of roll must be an integer from 1 to 6, not 7$"),
        ({"roll": [2, 3]}, "^unknown number of dice 2: allowed are 1$"),
        ({"points": 3}, "^unknown position 'points': allowed are held, dice, roll$"),
    ):
        with pytest.raises(ValueError, match=fault):
            env.reset(options=options)


def test_an_illegal_action_ends_the_turn_with_nothing():
    env = gym.make("stb_gym/Pig-v0")
    env.reset(options={"held": 30, "roll": 1}, seed=1)
    observation, reward, terminated, _, info = env.step(AGAIN)
    assert (observation.tolist(), reward, terminated) == ([0, 0], 0, True)
    assert (info["final_score"], info["illegal_action"]) == (0, True)


def test_positions_are_drawn():
    env = gym.make("stb_gym/Pig-v0", render_mode="ansi")
    env.reset(options={"held": 18, "roll": 2}, seed=1)
    assert env.render() == "dice   2\npoints 18"
    env.step(HOLD)
    assert env.render() == "dice   none\npoints 20"
    env = gym.make("stb_gym/Pig-v0", render_mode="rgb_array")
    pictures = []
    for held, face in ((18, 2), (18, 3), (19, 3)):
        env.reset(options={"held": held, "roll": face}, seed=1)
        pictures.append(env.render())
    assert {(picture.shape, picture.dtype) for picture in pictures} == {((298, 452, 3), np.dtype(np.uint8))}
    differ = [(first != other).any(axis=(1, 2)) for first, other in itertools.pairwise(pictures)]
    assert np.flatnonzero(differ[0]).min() > np.flatnonzero(differ[1]).max()  # the die lies below the number


def test_the_reward_threshold_is_what_was_registered(pig):
    assert gym.spec("stb_gym/Pig-v0").reward_threshold is gym.make("stb_gym/Pig-v0").spec.reward_threshold is None
    optimum = stb_gym.solve(pig.Pig()).value
    stb_gym.register_game(pig.Pig, reward_thresholds={"Pig-v0": optimum})
    assert gym.make("stb_gym/PigMasked-v0", reward_scale=0.5).spec.reward_threshold == optimum / 2
    assert gym.make("stb_gym/Pig-v0", faces=8).spec.reward_threshold is None
    stb_gym.register_game(pig.Pig, rules_of_thumb={"hold-at-20": pig.hold_at_20, "hold-at-25": pig.hold_at_25})


def test_a_picture_tells_the_last_move(monkeypatch):
    told = []
    monkeypatch.setattr(Canvas, "text", lambda canvas, x, y, words, *how, **more: told.append(words) or 0)
    env = gym.make("stb_gym/Pig-v0", render_mode="rgb_array")
    env.reset(options={"held": 18, "roll": 2}, seed=1)
    env.render()
    env.step(AGAIN)
    env.render()
    env.reset(options={"held": 18, "roll": 2})
    env.step(HOLD)
    env.render()
    assert told[1::4] == ["first throw", "throw again", "hold: the turn ends"]
    assert told[2::4] == ["18", "20", "20"]


# Rounds and tournaments: the most points win


def equilibrium(limit):
    """The share of the win that the first of two perfect players gets, and the chance of a final score of each."""
    second = [
        turn_worth(lambda score, lead=lead: Fraction((score > lead) + (score >= lead), 2), limit=limit)
        for lead in range(limit + 1)
    ]
    return turn_worth(lambda score: 1 - second[score], limit=limit)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [7, 100])
def test_the_most_points_win_a_round(pig, limit):
    solved = stb_gym.Round(pig.Pig(most_points=limit), 2, "split").solve()
    first = float(equilibrium(limit))
    assert solved.seats == pytest.approx([first, 1 - first], rel=1e-12)
    assert solved.evaluation.exploitability == pytest.approx(0, abs=1e-12)


def win_share(first, second):
    """What the first of two players with these chances of scores wins under "split"."""
    return sum(
        chance * other * Fraction((score > theirs) + (score >= theirs), 2)
        for score, chance in first.items()
        for theirs, other in second.items()
    )


def test_a_line_up(game):
    played = stb_gym.Round(game, 2, "split").evaluate(["hold-at-20", "hold-at-25"])
    twenty, five_more = chances(20), chances(25)
    assert played.seats[0] == pytest.approx(float(win_share(twenty, five_more)), rel=1e-12)
    best = sum(
        chance * turn_worth(lambda score, lead=lead: Fraction((score > lead) + (score >= lead), 2))
        for lead, chance in twenty.items()
    )
    assert played.best_response(1).value == pytest.approx(float(best), rel=1e-12)


def test_a_player_who_is_behind_throws_again(game):
    solved = stb_gym.Round(game, 2, "split").solve()
    behind = solved.policy(stb_gym.Standing(lead=40, holders=1, after=0))
    tables = solved.evaluation.tables
    chosen = {
        int(tables.held[tables.edge_next[tables.edges_of(node)[0]]]): int(behind[node]) for node in tables.decisions
    }
    assert [chosen[now] for now in (20, 39, 41)] == [AGAIN, AGAIN, HOLD]


def test_all_that_can_be_reached_wins_at_once_if_one_likes(pig):
    lone = stb_gym.Round(pig.Pig(most_points=5), 2, "split", shut_wins=True).solve()
    second = [
        turn_worth(lambda score, lead=lead: Fraction((score > lead) + (score >= lead), 2), limit=5) for lead in range(5)
    ]
    assert lone.seats[0] == pytest.approx(float(turn_worth(lambda score: 1 - [*second, 0][score], limit=5)))


def test_points_that_can_be_lost_are_no_reason_to_stop(game):
    with pytest.raises(ValueError, match=r"^may_stop needs a game whose points only get better during a turn; in pig"):
        stb_gym.Round(game, may_stop=True)


def tournament_share(first, second, limit):
    """What the first of two wins of a tournament: totals grow until one reaches the limit; the higher one wins."""
    steps = [np.array([float(turn.get(score, 0)) for score in range(26)]) for turn in (first, second)]
    below, share = [np.eye(1, limit)[0]] * 2, 0.0
    for _ in range(400):
        totals = [np.convolve(start, step) for start, step in zip(below, steps, strict=True)]
        joint = np.outer(*totals)
        joint[:limit, :limit] = 0
        share += np.tril(joint, -1).sum() + np.trace(joint) / 2
        below = [after[:limit] for after in totals]
    assert below[0].sum() * below[1].sum() < 1e-12
    return share


def test_a_tournament_to_100_points(game):
    players = [stb_gym.strategy(game, "hold-at-20"), holds_at(game, 10)]
    wins = stb_gym.tournament(game, players, "first-to", 100).wins
    expected = tournament_share(chances(20), chances(10), 100)
    assert wins == pytest.approx([expected, 1 - expected], abs=1e-12)
    assert expected > 0.5
    with pytest.raises(ValueError, match=r"^out-at is for games in which points are bad, and in pig more are better"):
        stb_gym.tournament(game, players, "out-at")


# Registration


def test_a_game_may_be_registered_again_but_not_another_under_its_name(pig):
    stb_gym.register_game(pig.Pig, rules_of_thumb={"hold-at-20": pig.hold_at_20})
    assert "hold-at-25" not in stb_gym.strategies(pig.Pig())
    stb_gym.register_game(pig.Pig, rules_of_thumb={"hold-at-20": pig.hold_at_20, "hold-at-25": pig.hold_at_25})
    assert "hold-at-25" in stb_gym.strategies(pig.Pig())
    refused = {
        "the rule of thumb hold must be a function of moves, not 5": {"rules_of_thumb": {"hold": 5}},
        "unknown rule 'foo': allowed are": {"environments": {"PigWith-v0": {"foo": 3}}},
    }
    for message, changes in refused.items():
        with pytest.raises(ValueError, match=message):
            stb_gym.register_game(pig.Pig, **changes)

    @dataclass(frozen=True, repr=False)
    class Hog(pig.Pig):
        pass

    with pytest.raises(ValueError, match=r"^there is a game pig already: pig\.Pig$"):
        stb_gym.register_game(Hog)
    assert stb_gym.GAMES["pig"] is pig.Pig
    assert stb_gym.game_of_environment("stb_gym/Pig-v0", {"most_points": 40}) == pig.Pig(most_points=40)
    assert "stb_gym/Hog-v0" not in gym.registry


def test_opponents_play_as_a_rule_of_thumb_is_registered_now(pig):
    def threshold(name):
        return gym.make("stb_gym/PigRound-v0", opponents=name).spec.reward_threshold

    thumbs = {"hold-at-20": pig.hold_at_20, "hold-at-25": pig.hold_at_25}
    before = {name: threshold(name) for name in thumbs}
    stb_gym.register_game(pig.Pig, rules_of_thumb={**thumbs, "hold-at-20": pig.hold_at_25})
    assert threshold("hold-at-20") == before["hold-at-25"] != before["hold-at-20"]
    stb_gym.register_game(pig.Pig, rules_of_thumb=thumbs)
    assert threshold("hold-at-20") == before["hold-at-20"]


# Commands


@pytest.fixture
def in_docs(monkeypatch):
    monkeypatch.chdir(DOCS)
    monkeypatch.setattr(sys, "path", [*sys.path])  # --import puts the folder there


@pytest.fixture
def command(in_docs, capsys):
    """What a command prints; and on standard error, if it fails."""

    def run(*words):
        status = main(["--import", "pig", *words])
        printed = capsys.readouterr()
        return printed.out if status == 0 else printed.err

    return run


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("solve pig", r"value +8\.141795\n"),
        ("solve pig --exact", r"fraction +492303203/60466176\n"),
        ("solve pig --most-points 20 --objective shut", r"value +37\.545917%"),
        ("solve pig --objective at-least:20", r"value +37\.545917%"),
        ("certify pig", r"nodes +701\n(.*\n)*optimal actions agree +yes\n"),
        ("evaluate pig --policy hold-at-25", r"regret +0\.144613\n"),
        ("list pig", r"hold-at-20 +8\.141795 +0\.000000 .* Hold with 20 points or more\."),
        ("list", r"hold-at-20 +Hold with 20 points or more\."),
        ("advise pig --held 18 --roll 3", r"21\.000000 +0\.000000\n.* +20\.833333 +0\.166667\n"),
        (
            "advise pig --held 18 --roll 3 --depth 1",
            r"hold -> held 21, 0 dice: 21\n  throw again -> .*: 20\.8333, loss 0\.166667\n",
        ),
        ("watch pig --rolls 6,6,6,6", r"optimal ends with 24 points"),
        ("simulate pig --policy optimal --turns 1000 --seed 1", r"exact +8\.141795\n"),
        ("round pig --ties split", r"1 +optimal +31\.9892% .*\n2 +optimal +68\.0108%"),
        ("round pig --ties split --policy hold-at-20,optimal", r"exploitability(.*\n)*1 +hold-at-20 +30\.2364%"),
        ("match pig --policy optimal,hold-at-20 --rounds 1", r"\nmatch\nwin +\d+\.\d+%\n"),
        ("tournament pig --policy hold-at-20,hold-at-25", r"hold-at-20 +49\.6224%\n2 +hold-at-25 +50\.3776%"),
        ("solve pig --objective at-most:5", r"^stb-gym: unknown objective 'at-most:5': .* at-least:5\)\n$"),
        ("solve pig --most-points 256", r"^stb-gym: most_points must be an integer from 1 to 255, not 256\n$"),
        ("solve pig --tiles 5", r"^stb-gym: Unknown option: --tiles\..*\n$"),
        ("list pig --variants", r"^stb-gym: pig has no variants\n$"),
    ],
)
def test_commands(command, words, printed):
    assert re.search(printed, command(*words.split()))


def type_lines(monkeypatch, *lines):
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_a_turn_at_the_terminal(command, monkeypatch):
    type_lines(monkeypatch, "throw", "?", *["throw again"] * 99)
    shown = command("play", "pig", "--seed", "4", "--coach")
    assert shown.startswith("Pig: try to end with the most points you can.\nThrow a die as often as you like")
    assert "Coach: 8.14 expected points with perfect play." in shown
    assert "Type hold or throw again." in shown
    assert "You can hold; throw again." in shown
    assert "Coach: best move." in shown
    assert shown.count("points lost: hold was best.") > 0
    assert re.search(r"\nin all +[+-]\d+\.\d\d +-\d+\.\d\d +0\.00\n", shown)


def test_a_goal_at_the_terminal(command, monkeypatch):
    type_lines(monkeypatch, "hold")
    shown = command("play", "pig", "--seed", "4", "--coach", "--objective", "at-least:20")
    assert "Pig: try to end with at least 20 points." in shown
    assert "Coach: 37.55% chance of at least 20 points with perfect play." in shown
    assert "You wanted at least 20 points." in shown


def test_a_round_at_the_terminal(command, monkeypatch):
    type_lines(monkeypatch, *["hold"] * 9)
    shown = command(
        "play", "pig", "--seed", "4", "--coach", "--against", "hold-at-20", "--seat", "2", "--ties", "split"
    )
    assert "Pig: a round of 2, the highest score wins, tied players share the win." in shown
    assert "ends with 21 points" in shown
    assert "Your turn: hold-at-20 leads with 21 points, nobody plays after you." in shown
    assert "percentage points lost: throw again was best." in shown
    assert "hold-at-20 wins with 21 points." in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [["pig.py"], ["-P", "-c", "import sys; from stb_gym.cli import main; sys.exit(main())", "--import", "pig"]],
    ids=["the file is a command", "the command finds the file"],
)
def test_a_process_of_its_own(words):
    environment = {**os.environ, "PYTHONPATH": str(DOCS.parent)}
    done = subprocess.run(
        [sys.executable, *words, "solve", "pig"],
        cwd=DOCS,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"value +8\.141795\n", done.stdout)


# The tutorial

TUTORIAL = (DOCS / "your_own_game.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TUTORIAL, re.DOTALL)
FILE = (DOCS / "pig.py").read_text()


def in_a_class(code):
    """Functions as they stand in a class: indented, with one empty line between them."""
    return textwrap.indent(code.replace("\n\n\n", "\n\n"), "    ")


OF_THE_FILE = [code for language, code in BLOCKS if code in FILE or in_a_class(code) in FILE]
PROGRAMS = [code for language, code in BLOCKS if language == "python" and code not in OF_THE_FILE]
SESSION = [line for language, code in BLOCKS if language == "sh" for line in code.splitlines()]


def figures(text):
    """Every number with a decimal point, and every fraction, in comments."""
    return re.findall(r"\d+(?:\.\d+%?|/\d+)", "\n".join(re.findall("#.*", text)))


def test_the_tutorial_shows_what_stands_in_the_file():
    assert len(OF_THE_FILE) == 7
    assert len(PROGRAMS) == 4
    assert all("import" in code for code in PROGRAMS)  # whatever is not of the file can run alone
    assert len(FILE.splitlines()) <= 120


@pytest.mark.parametrize("code", PROGRAMS)
def test_the_programs_of_the_tutorial_run_and_print_their_figures(code, capsys, in_docs):
    exec(code, {})
    printed = capsys.readouterr().out
    promised = figures(code)
    assert promised
    assert [number for number in promised if number not in printed] == []


def promised_below(line):
    below = itertools.takewhile(lambda each: each.startswith("#"), SESSION[SESSION.index(line) + 1 :])
    return figures("\n".join(below))


def words_after_import(line):
    words = shlex.split(line)
    assert words[:3] == ["stb-gym", "--import", "pig"]
    return words[3:]


@pytest.mark.parametrize("line", [line for line in SESSION if not line.startswith("#")])
def test_the_commands_of_the_tutorial_print_the_figures_below_them(line, command):
    printed, promised = command(*words_after_import(line)), promised_below(line)
    assert promised
    assert [number for number in promised if number not in printed] == []


def test_the_tutorial_links_to_files_that_exist():
    targets = re.findall(r"\]\(([^)]+)\)", TUTORIAL)
    assert targets
    assert [target for target in targets if not (DOCS / target).exists()] == []
