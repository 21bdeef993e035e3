"""Test the environments of one seat of a round against exact results: draws, scores so far, ends and arguments."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

import stb_gym
from stb_gym import ShutTheBox, Threes, strategy
from stb_gym.rounds import Round, RoundMeter, RoundVectorEnv, opponents_of
from tests.envs.test_snapshots import go_on
from tests.measure.test_meter import first_legal, uniform

BOX, THREES = "stb_gym/ShutTheBoxRound-v0", "stb_gym/ThreesRound-v0"
SMALL = Threes(dice=3, faces=4)


def both(**arguments):
    """Return a single environment and a vector environment made alike."""
    return gym.make(THREES, **arguments).unwrapped, gym.make_vec(THREES, num_envs=50, **arguments).unwrapped


# Draws


def test_draws_have_the_chances_of_the_opponents():
    opponents = opponents_of(Round(SMALL, 3), "drawn", ["random", "approximation"])
    random = np.arange(2**16, dtype=np.uint64) << np.uint64(48)
    for options, fits in (({}, True), ({"after": 1}, opponents.observed[:, 2] == 1)):
        starts = opponents.draw_start(opponents.cumulative_chances(options), random)
        chances = opponents.chance * fits
        assert np.bincount(starts, minlength=len(chances)) / 2**16 == pytest.approx(chances / chances.sum(), abs=2**-15)
    never_left = opponents_of(Round(ShutTheBox()), 1).cumulative_chances({"lead": 45})
    assert never_left.tolist() == [*[0] * 45, 1]
    for start, score in ((0, 2), (20, 1), (39, 3)):
        after = opponents.rules.scores_so_far.next_row[opponents.row[start], score]
        holds = opponents.rules.scores_so_far.takes_lead[opponents.row[start], score]
        chances = opponents.holder_chances[opponents.seat[start], after] if holds else [1, 0, 0, 0]
        holders = opponents.draw_holders(np.full(2**16, start), np.full(2**16, score), random)
        assert np.bincount(holders, minlength=4) / 2**16 == pytest.approx(chances, abs=2**-15)
    assert opponents.draw_holders(39, len(opponents.rules.scores_so_far.scores), 2**63) == 0  # an illegal action
    even = opponents_of(Round(ShutTheBox(tiles=1, dice=1, faces=2)), 0)  # beaten, or one of two holders
    halves = np.array([2**63 - 2**11, 2**63], np.uint64)
    assert even.draw_holders(np.zeros(2, int), np.ones(2, int), halves).tolist() == [0, 2]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_rounds_win_as_often_as_the_meter_says(mode):
    envs = RoundVectorEnv("threes", 2**12, players=3, opponents="random", ties="nobody", autoreset_mode=mode)
    before, won = envs.reset(seed=0)[0], []
    new = np.zeros(envs.num_envs, bool)
    for _ in range(20):
        observation, reward, over, _, infos = envs.step(envs.legal_sample())
        ends = infos.get("final_info", infos)
        if mode == "SameStep":
            new = over
            assert (infos["final_obs"][:, -3:] == before[:, -3:]).all()
        assert (reward[over] == envs.opponents.share[ends["holders"][over]]).all()
        assert (observation[~new, -3:] == before[~new, -3:]).all()
        won += reward[over].tolist()
        before, new = observation, over
    meter = RoundMeter(envs)(uniform)
    assert np.mean(won) == pytest.approx(meter.value, abs=4 * np.std(won) / len(won) ** 0.5)


@pytest.mark.slow
def test_single_rounds_win_as_often_as_the_meter_says():
    env, won = gym.make(THREES, players=2, dice=2, faces=3).unwrapped, []
    env.reset(seed=3)
    for _ in range(1000):
        begun, over = env.reset()[0][-3:], False
        while not over:
            observation, reward, over, _, info = env.step(env.action_masks().argmax())
            assert (observation[-3:] == begun).all()
        assert reward == env.opponents.share[info["holders"]]
        won.append(reward)
    meter = RoundMeter(env)(first_legal)
    assert np.mean(won) == pytest.approx(meter.value, abs=4 * np.std(won) / len(won) ** 0.5)


def test_rounds_that_end_before_the_players_turn_are_not_drawn():
    game = ShutTheBox(tiles=3)
    envs = RoundVectorEnv(game, 1000, players=4, seat=3, shut_wins=True)
    assert envs.reset(seed=0)[0][:, -3].min() == 1  # a lead of 0 has won
    exact = Round(game, 4, shut_wins=True).evaluate([*["optimal"] * 3, "random"])
    assert RoundMeter(envs)(uniform).value == pytest.approx(exact.seats[3])


# Beginnings


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({"lead": 8, "holders": 2, "after": 1}, {(8, 2, 1)}),
        ({"lead": 3, "after": 1}, {(3, 1, 1), (3, 2, 1)}),
        ({"lead": None}, {(31, 0, 3)}),
        ({"points": 3, "dice": 2, "after": 3}, {(31, 0, 3)}),
    ],
    ids=str,
)
def test_rounds_begin_at_the_scores_so_far_in_the_options(options, seen):
    env, envs = both(players=4)
    singles = np.array([env.reset(seed=seed, options=options)[0] for seed in range(20)])
    for observations in (singles, envs.reset(seed=0, options=options)[0]):
        assert {*map(tuple, observations[:, -3:].tolist())} == seen
        assert (observations[:, 0] == options.get("points", 0)).all()


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"lead": 31}, {"holders": 3, "after": 1}, {"led": 8}, {"points": 999, "lead": 3}])
def test_a_refused_reset_changes_nothing(options):
    for env in both(players=4):
        env.reset(seed=1)
        before = repr(env.snapshot())
        with pytest.raises(ValueError, match=next(iter(options))):
            env.reset(options=options)
        assert repr(env.snapshot()) == before


def test_some_rounds_begin_again_and_others_go_on():
    envs = gym.make_vec(THREES, num_envs=50, players=3, dice=2).unwrapped
    envs.reset(seed=0)
    before, *_ = envs.step(envs.legal_sample())
    mask = np.arange(50) % 2 == 0
    after, _ = envs.reset(options={"reset_mask": mask, "lead": 0, "holders": 2})
    assert (after[~mask] == before[~mask]).all()
    assert (after[mask, -3:] == [0, 2, 0]).all()
    later, *_ = envs.step(envs.legal_sample())
    assert (later[mask, -3:] == [0, 2, 0]).all()


# Arguments


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"players": 0}, "players"),
        ({"seat": 2}, "seat"),
        ({"opponents": ["random", "random"]}, "opponents"),
        ({"opponents": "nobody-knows"}, "nobody-knows"),
        ({"opponents": "none.npz"}, "none.npz"),
        ({"opponents": "ppo-nine-tiles"}, r"ShutTheBox\(\)"),
        ({"opponents": Round(Threes(), 2, "nobody").evaluate(["random"] * 2)}, "another round"),
        ({"opponents": Round(SMALL).evaluate(["random"] * 2)}, "another round"),
        ({"game": ShutTheBox(score="digits"), "observation_dtype": "uint8"}, "observation_dtype"),  # 512 final scores
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(arguments, error):
    for make in (gym.make, gym.make_vec):
        with pytest.raises(ValueError, match=error):
            make(THREES, **arguments)
        with pytest.raises(TypeError, match="players, seat, opponents, ties"):
            make(THREES, reward_scale=2)


def test_opponents_may_be_names_policies_files_functions_and_lineups(tmp_path):
    game = Threes(dice=3)
    policy, path = strategy(game, "take-all"), tmp_path / "mine.npz"
    stb_gym.save_policy(path, game, policy)
    lineup = Round(game).evaluate(["take-all", "random"])
    assert Round(game).evaluate([path, "random"]).seats.tolist() == lineup.seats.tolist()
    ways = ["take-all", policy, str(path), path, ["take-all"], lambda tables, at: policy, lineup]
    wanted, *found = [gym.make(THREES, dice=3, seat=1, opponents=plays).unwrapped.opponents for plays in ways]
    for opponents in found:
        np.testing.assert_array_equal(opponents.chance, wanted.chance)
        np.testing.assert_array_equal(opponents.holder_chances, wanted.holder_chances)
    assert wanted.chance.tolist() != opponents_of(Round(game), 1, "random").chance.tolist()


@pytest.mark.slow
def test_new_opponents_play_as_if_there_had_been_no_others():
    for changed, wanted in zip(both(players=3, opponents="random"), both(players=3), strict=True):
        changed.reset(seed=3)
        before = go_on(changed, 40)
        changed.set_opponents("optimal")
        for env in (changed, wanted):
            env.reset(seed=3)
        after = go_on(changed, 40)
        np.testing.assert_equal(after, go_on(wanted, 40))
        assert not data_equivalence(after, before)
        assert changed.spec.reward_threshold == wanted.opponents.reward_threshold
    assert gym.make(BOX, seat=1).spec.reward_threshold == pytest.approx(0.5020060531)


# Illegal actions, afterstates and rendering


def test_an_illegal_action_wins_nothing_even_against_the_worst_lead():
    env = gym.make(THREES, players=2, seat=1)
    env.reset(seed=0, options={"lead": 30, "points": 24, "dice": 1})
    _, reward, over, _, info = env.step(4)
    assert (reward, over, info["holders"], info["final_score"], info["illegal_action"]) == (0, True, 0, 30, True)


def test_afterstates_put_the_scores_so_far_before_the_dice():
    env, envs = both(players=3)
    env.reset(seed=0, options={"points": 4, "roll": [1, 3, 6], "lead": 9, "after": 1})
    assert [(row[0], *row[-4:]) for row in env.afterstates()[2].tolist()] == [
        (4, 9, 1, 1, 2), (5, 9, 1, 1, 1), (11, 9, 1, 1, 0),
    ]  # fmt: skip
    observation, _ = envs.reset(seed=0)
    np.testing.assert_equal(envs.afterstates(), env.afterstates(observation))
    assert envs.afterstate_space.contains(envs.afterstates()[2][0])
    assert (env.find_states(observation) == envs.states).all()


def test_a_round_with_too_many_scores_so_far_to_record_losses_is_refused(monkeypatch):
    monkeypatch.setattr("stb_gym.rounds.env.LARGEST_VALUES", 100)  # less than scores times states, more than their sum
    with pytest.raises(ValueError, match="too many scores so far to record losses"):
        stb_gym.RecordRegret(gym.make(THREES, dice=2)).reset(seed=0)


def test_the_scores_so_far_are_rendered(snapshot):
    for env in both(players=3, render_mode="ansi"):
        env.reset(seed=0, options={"lead": 9, "holders": 1, "after": 1})
        assert np.ravel(env.render())[0].splitlines()[0] == snapshot
