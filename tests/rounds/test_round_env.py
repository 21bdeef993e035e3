"""The round as an environment: its draws, its standings, its ends, and the meter, beside the exact rounds."""

import json
import math
from functools import cache
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import stb_gym
from stb_gym import RegretMeter, Round, RoundMeter, RoundVectorEnv, ShutTheBox, Standing, Threes, compile_game, strategy
from stb_gym.rounds import TIES, opponents_of
from stb_gym.rounds.draws import Draws
from stb_gym.rounds.matches import endings_of
from stb_gym.solver import expected_visits, score_chances
from tests import golden
from tests.rounds.test_rounds import figure, some_strategy
from tests.twins import ours

BOX, THREES = "stb_gym/ShutTheBoxRound-v0", "stb_gym/ThreesRound-v0"
TINY, MOON = ours(golden.OF_ROUNDS[0]), ours(golden.OF_ROUNDS[5])


def uniform(observations, masks):
    return masks / masks.sum(axis=1, keepdims=True)


def as_agent(game, players, plays):
    """An agent that plays a strategy, told of everything by observations alone."""
    tables = compile_game(game)
    width = tables.observation.shape[1]
    policies = {}

    def agent(observations, masks):
        answers = np.zeros(masks.shape)
        nodes = tables.observation_index.find(observations[:, :width])
        for seen in np.unique(observations[:, width:], axis=0).astype(int).tolist():
            lead, holders, after = seen
            at = Standing(int(tables.scores[lead]) if holders else None, holders, after)
            if at not in policies:
                policies[at] = plays(tables, at) if callable(plays) else plays
            here = (observations[:, width:] == seen).all(axis=1)
            answers[here] = policies[at][nodes[here]]
        return answers

    return agent


def rounds_played(envs, count):
    """The standing seen, the score's place and how many share the lead in the end of rounds of random legal play."""
    tables, width = envs.round.tables, len(envs.game.observation_high)
    seen, scores, holders, rewards = [], [], [], []
    for _ in range(count // envs.num_envs):
        observation, _ = envs.reset()
        begun, playing = observation[:, width:].copy(), np.ones(envs.num_envs, bool)
        score, held, reward = (np.zeros(envs.num_envs) for _ in range(3))
        while playing.any():
            observation, won, over, _, infos = envs.step(envs.legal_sample())
            ended = playing & over
            if ended.any():
                assert (observation[ended, width:] == begun[ended]).all()
                score[ended], held[ended] = infos["final_score"][ended], infos["holders"][ended]
                reward[ended] = won[ended]
            playing &= ~over
        seen.append(begun)
        scores.append(tables.place_of(score.astype(int)))
        holders.append(held.astype(int))
        rewards.append(reward)
    return tuple(map(np.concatenate, (seen, scores, holders, rewards)))


def exact_chances(opponents):
    """[C, T, N + 1] of random legal play: the standing seen, the score's place, how many share the lead in the end."""
    standings, tables = opponents.rules.standings, opponents.rules.tables
    turn = score_chances(tables, expected_visits(tables, tables.uniform))
    fates = opponents.fates[opponents.seat[:, None], standings.after[opponents.index]]
    beaten = np.eye(1, fates.shape[-1])[0]
    fates = np.where(standings.holds[opponents.index][:, :, None], fates, beaten)
    return opponents.chance[:, None, None] / opponents.chance.sum() * turn[:, None] * fates


def chi_square(counts, chances):
    """How many standard deviations too far counts are from their chances; rare outcomes are taken together."""
    wanted = chances * counts.sum()
    rare = wanted < 10
    assert not counts[chances == 0].any()
    counts, wanted = (np.append(each[~rare], each[rare].sum()) for each in (counts, wanted))
    counts, wanted = counts[wanted > 0], wanted[wanted > 0]
    freedom = len(counts) - 1
    return (((counts - wanted) ** 2 / wanted).sum() - freedom) / math.sqrt(2 * freedom)


SECOND_OF_TWO = {"players": 2, "seat": 1, "opponents": "optimal"}
ANY_OF_THREE = {"players": 3, "opponents": ["random", "approximation"], "ties": "nobody"}


@pytest.mark.parametrize(
    ("count", "game", "options"),
    [
        (2**15, "threes", ANY_OF_THREE),
        pytest.param(2**18, "shut-the-box", SECOND_OF_TWO, marks=pytest.mark.slow),
        pytest.param(2**18, "threes", ANY_OF_THREE, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_thirty_thousand_rounds_and_a_quarter_of_a_million_are_as_likely_as_they_should_be(count, game, options):
    envs = RoundVectorEnv(game, 2**13, **options)
    envs.reset(seed=1)
    seen, scores, holders, rewards = rounds_played(envs, count)
    opponents = envs.opponents
    chances = exact_chances(opponents)
    numbers = {tuple(row): place for place, row in enumerate(opponents.seen.tolist())}
    distinct, which = np.unique(seen, axis=0, return_inverse=True)
    place = np.array([numbers[tuple(row)] for row in distinct.tolist()])[which.ravel()]
    counts = np.zeros(chances.shape)
    np.add.at(counts, (place, scores, holders), 1)
    assert abs(chi_square(counts, chances)) < 4
    meter = RoundMeter(envs)(uniform)
    assert abs(rewards.mean() - meter.mean_reward) < 4 * rewards.std() / math.sqrt(len(rewards))


def test_single_rounds_are_as_likely_as_those_of_many_at_once():
    env = gym.make(THREES, players=2, dice=2, faces=3).unwrapped
    env.reset(seed=3)
    env.action_space.seed(3)
    chances = exact_chances(env.opponents)
    counts = np.zeros(chances.shape)
    for _ in range(4000):
        observation, info = env.reset()
        place, over = env.snapshot()["place"], False
        assert observation[-3:].tolist() == env.opponents.seen[place].tolist()
        while not over:
            observation, reward, over, _, info = env.step(env.action_space.sample(info["action_mask"]))
        counts[place, env.opponents.rules.tables.place_of(info["final_score"]), info["holders"]] += 1
        assert reward == env.opponents.share[info["holders"]]
    assert abs(chi_square(counts, chances)) < 4


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("players", [2, 3, 5])
def test_ends_are_those_of_the_rounds(players, ties):
    """Who shares the lead in the end, by another way than the one by which the environments draw it."""
    rules = Round(Threes(dice=3, faces=4), players, ties)
    lineup = ["random", "approximation", "optimal", "threes-only", "take-all"][:players]
    evaluation = rules.evaluate(lineup)
    for seat in range(players):
        opponents = opponents_of(rules, seat, [*lineup[:seat], *lineup[seat + 1 :]])
        turn = evaluation.played[seat].chances[opponents.index]
        fates = opponents.fates[0][rules.standings.after[opponents.index]]
        ends = (opponents.chance[:, None] * turn * rules.standings.holds[opponents.index])[:, :, None] * fates
        found = ends.sum(axis=(0, 1))[1:]
        exact = np.zeros(players)
        for (holders, _), chance in endings_of(evaluation).items():
            exact[holders.bit_count() - 1] += chance * (holders >> seat & 1)
        assert found == pytest.approx(exact, abs=1e-12)
        assert found @ opponents.share[1:] == pytest.approx(evaluation.seats[seat], abs=1e-12)


# The meter


@pytest.mark.parametrize("shut_wins", [False, True])
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("game", [TINY, MOON], ids=str)
def test_chances_to_win_and_gaps_are_those_of_the_reference(game, players, ties, shut_wins):
    plays = [strategy(game, "random"), *(some_strategy(game, seed) for seed in range(1, players))]
    expected = figure("line-ups", game, players, ties, shut_wins)
    rules = {"players": players, "ties": ties, "shut_wins": shut_wins}
    for seat, (wins, best) in enumerate(zip(expected["seats"], expected["best"], strict=True)):
        others = [*plays[:seat], *plays[seat + 1 :]]
        env = stb_gym.RoundEnv(game, seat=seat, opponents=others, observation_dtype="float32", **rules)
        found = RoundMeter(env)(as_agent(game, players, plays[seat]))
        assert found.value == pytest.approx(float(wins), abs=1e-12)
        assert found.best == pytest.approx(float(best), abs=1e-12)
        assert found.regret == pytest.approx(float(best - wins), abs=1e-12)
        assert found.mean_reward == pytest.approx(found.value / env.opponents.chance.sum())
        assert env.reward_threshold == pytest.approx(found.best / env.opponents.chance.sum())


@pytest.mark.parametrize("game", [ShutTheBox(tiles=6), Threes()], ids=str)
def test_a_drawn_seat_is_the_mean_of_all_seats(game):
    rules, others = Round(game, 3, "all-win"), ["approximation", "random"]
    env = stb_gym.RoundEnv(game, 3, opponents=others, ties="all-win")
    found = RoundMeter(env)(uniform)
    for seat in range(3):
        lineup = [*others[:seat], "random", *others[seat:]]
        evaluation = rules.evaluate(lineup)
        assert found.seats[seat] == pytest.approx(evaluation.seats[seat], abs=1e-12)
        assert found.gains[seat] == pytest.approx(evaluation.best_response(seat).gain, abs=1e-12)
    assert found.value == pytest.approx(found.seats.mean())
    assert found.regret == pytest.approx(found.gains.mean())
    lost = found.dearest(10**6)
    assert math.fsum(loss for _, loss in lost) == pytest.approx(found.regret)
    assert lost == sorted(lost, key=lambda each: -each[1])


def test_who_plays_the_best_response_has_no_regret():
    game = ShutTheBox(tiles=6)
    env = gym.make(BOX, tiles=6, players=3, seat=1, opponents="random")
    reply = env.unwrapped.opponents.reply(0)

    def best(tables, standing):
        return np.eye(tables.actions)[reply.policy(standing)]

    found = RoundMeter(env)(as_agent(game, 3, best))
    assert found.regret == pytest.approx(0, abs=1e-12)
    assert found.value == pytest.approx(env.spec.reward_threshold)
    assert found.value > 0.4


def test_the_meter_sees_through_wrappers_and_masks():
    small = {"dice": 3, "faces": 4}
    plain = RoundMeter(gym.make(THREES, **small))(uniform).value
    masked = gym.make(THREES.replace("-v0", "Masked-v0"), mask_names="rllib", **small)
    found = RoundMeter(masked)(lambda seen, masks: uniform(seen["observations"], seen["action_mask"]))
    assert found.value == plain
    scaled = gym.wrappers.TransformObservation(gym.make(THREES, **small), lambda seen: seen * 2, None)
    shown = []
    RoundMeter(scaled)(lambda seen, masks: shown.append(seen) or uniform(seen, masks))
    assert (np.concatenate(shown) % 2 == 0).all()
    many = gym.make_vec(THREES, num_envs=3, **small)
    assert RoundMeter(many)(uniform).value == plain


def test_an_illegal_action_loses_the_round():
    env = gym.make(THREES, players=2, seat=0)
    assert RoundMeter(env)(lambda seen, masks: np.full(len(masks), masks.shape[1] - 1)).value < 0.5
    five = RoundMeter(env)(lambda seen, masks: np.full(len(masks), 1))  # of one die two cannot be kept
    assert five.value < RoundMeter(env)(lambda seen, masks: np.where(masks[:, 1], 1, 0)).value
    env.reset(seed=0, options={"points": 0, "dice": 1})
    _, reward, over, _, info = env.step(4)
    assert (reward, over, info["holders"], info["illegal_action"]) == (0, True, 0, True)
    with pytest.raises(ValueError, match="illegal action 1 at"):
        RoundMeter(gym.make(THREES, illegal="raise"))(lambda seen, masks: np.full(len(masks), 1))


def test_meters_refuse_what_they_do_not_measure():
    with pytest.raises(TypeError, match="no environment of one seat of a round"):
        RoundMeter(gym.make("stb_gym/Threes-v0"))
    for env in (gym.make(THREES), gym.make_vec(THREES, num_envs=2)):
        for question in (RegretMeter, stb_gym.solve, lambda env: stb_gym.evaluate(env, None)):
            with pytest.raises(ValueError, match=r"measure agents with stb_gym\.RoundMeter"):
                question(env)
    with pytest.raises(ValueError, match="measure rounds with a RoundMeter"):
        RegretMeter(gym.make(THREES), "score")


# What environments are asked for


@cache
def threes():
    return gym.make(THREES, players=4)


@cache
def many_threes():
    return gym.make_vec(THREES, num_envs=100, players=4)


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({"lead": 8, "holders": 2, "after": 1}, {(8, 2, 1)}),
        ({"lead": 3, "after": 1}, {(3, 1, 1), (3, 2, 1)}),
        ({"lead": None}, {(31, 0, 3)}),
        ({"after": 2, "lead": 30}, {(30, 1, 2)}),
        ({"points": 3, "dice": 2, "after": 3}, {(31, 0, 3)}),
    ],
    ids=str,
)
def test_rounds_begin_at_the_standing_that_is_named(options, seen):
    env = threes()
    found = {tuple(env.reset(seed=seed, options=options)[0][-3:].tolist()) for seed in range(20)}
    assert found == seen
    observation, _ = many_threes().reset(seed=0, options=options)
    assert {tuple(row) for row in observation[:, -3:].tolist()} == seen
    assert set(observation[:, 0].tolist()) == {options.get("points", 0)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lead": 31}, "never sees lead 31 in a round of 4"),
        ({"lead": 8, "holders": 3, "after": 1}, "never sees"),
        ({"lead": None, "after": 0}, "never sees"),
        ({"led": 8}, "led"),
    ],
)
def test_standings_that_there_are_not_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        threes().reset(options=options)


def test_some_rounds_are_begun_anew_and_others_go_on():
    envs = gym.make_vec(THREES, num_envs=50, players=3, dice=2).unwrapped
    before, _ = envs.reset(seed=0)
    before, _, over, _, _ = envs.step(envs.legal_sample())
    mask = np.arange(50) % 2 == 0
    assert over[mask].any()
    assert over[~mask].any()
    after, _ = envs.reset(options={"reset_mask": mask, "lead": 0, "holders": 2})
    assert (after[~mask] == before[~mask]).all()
    assert (after[mask, -3:] == [0, 2, 0]).all()
    later, *_ = envs.step(envs.legal_sample())
    assert (later[mask, -3:] == [0, 2, 0]).all()
    assert (later[over & ~mask, -3:] != before[over & ~mask, -3:]).any()


def test_rounds_that_end_before_the_players_turn_are_not_drawn():
    envs = RoundVectorEnv(TINY, 1000, players=4, seat=3, opponents="optimal", shut_wins=True)
    seen = envs.reset(seed=0)[0][:, -3:]
    assert seen[:, 0].min() == 1  # a lead of 0 has won
    assert envs.opponents.chance.sum() < 0.9
    found = RoundMeter(envs)(uniform)
    assert found.value == pytest.approx(Round(TINY, 4, shut_wins=True).evaluate([*["optimal"] * 3, "random"]).seats[3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"players": 0}, "players must be an integer from 1"),
        ({"seat": 2}, "seat.* from 0 to 1, not 2"),
        ({"seat": "last"}, "seat"),
        ({"opponents": ["random", "random"]}, "has 1 opponents, not 2"),
        ({"opponents": "nobody-knows"}, "unknown strategy of threes"),
        ({"opponents": "none.npz"}, "none.npz"),
        ({"opponents": "ppo-nine-tiles"}, "ppo-nine-tiles.*shut-the-box"),
        ({"ties": "none"}, "unknown ties"),
    ],
    ids=str,
)
def test_arguments_that_are_none_are_refused(arguments, message):
    for make in (gym.make, gym.make_vec):
        with pytest.raises(ValueError, match=message):
            make(THREES, **arguments)


def test_a_keyword_that_is_none_is_refused_naming_those_there_are():
    with pytest.raises(TypeError, match=r"allowed are the rules tiles.*players, seat, opponents, ties"):
        gym.make(BOX, objective="shut")


def test_opponents_may_be_policies_files_and_functions(tmp_path):
    game, policy = Threes(), strategy(Threes(), "take-all")
    stb_gym.save_policy(tmp_path / "mine.npz", game, policy)
    ways = ["take-all", policy, str(tmp_path / "mine.npz"), Path(tmp_path / "mine.npz"), lambda tables, at: policy]
    found = [gym.make(THREES, seat=1, opponents=plays).unwrapped.opponents for plays in ways]
    for opponents in found[1:]:
        assert opponents.chance.tolist() == found[0].chance.tolist()
    assert found[0].chance.tolist() != opponents_of(Round(game), 1, "random").chance.tolist()
    kept = gym.make(BOX, opponents="ppo-nine-tiles", seat=1).spec.reward_threshold
    assert 0.5 < kept < 0.52


def test_opponents_sit_in_the_order_they_are_named_in():
    one, other = "worst", "optimal-score"
    rules = Round(Threes(), 3)
    for seat, lineup in enumerate([("random", one, other), (one, "random", other), (one, other, "random")]):
        found = RoundMeter(gym.make(THREES, players=3, seat=seat, opponents=(one, other)))(uniform)
        assert found.value == pytest.approx(rules.evaluate(lineup).seats[seat])


# What goes on, and what is seen


def test_a_single_round_goes_on_from_a_snapshot_as_it_would_have():
    env, other = gym.make(THREES, players=5).unwrapped, gym.make(THREES, players=5).unwrapped
    for seed in range(30):
        env.reset(seed=seed)
        env.step(0)
        other.restore(json.loads(json.dumps(env.snapshot())))
        for action in (0, 1, 0, 0, 0):
            ends = []
            for each in (env, other):
                observation, *step, info = each.step(action)
                ends.append(
                    (observation.tolist(), *step, info["final_score"] if step[1] else None, info.get("holders"))
                )
            assert ends[0] == ends[1]
            if ends[0][2]:
                break


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_many_rounds_go_on_from_a_snapshot_as_they_would_have(mode):
    env, other = (gym.make_vec(BOX, num_envs=20, players=3, autoreset_mode=mode).unwrapped for _ in range(2))
    env.reset(seed=0)
    for _ in range(7):
        env.step(env.legal_sample())
    other.restore(env.snapshot())
    for _ in range(20):
        actions = env.legal_sample()
        ours, theirs = env.step(actions), other.step(actions)
        for one, another in zip(ours[:4], theirs[:4], strict=True):
            assert (one == another).all()
    assert ours[4].keys() == theirs[4].keys()


def test_snapshots_of_others_are_refused():
    env = gym.make(THREES, players=2).unwrapped
    env.reset(seed=0)
    good = env.snapshot()
    for wrong in ({"place": 10**6}, {"place": -1}, {"holders": 3}, {"holders": [0]}, {"node": -1}):
        with pytest.raises(ValueError, match="the snapshot is not of"):
            env.restore(good | wrong)


def test_what_a_step_hands_out_of_an_end_is_of_the_round_that_ended():
    envs = gym.make_vec(THREES, num_envs=200, players=3, autoreset_mode=AutoresetMode.SAME_STEP).unwrapped
    before = envs.reset(seed=0)[0]
    changed = 0
    for _ in range(10):
        observation, reward, over, _, infos = envs.step(envs.legal_sample())
        if over.any():
            assert (infos["final_obs"][:, -3:] == before[:, -3:]).all()
            told = infos["final_info"]
            assert (told["_holders"] == over).all()
            assert (reward == envs.opponents.share[told["holders"]]).all()
            changed += (observation[over, -3:] != before[over, -3:]).any(axis=1).sum()
        assert (observation[~over, -3:] == before[~over, -3:]).all()
        before = observation
    assert changed > 100


def test_afterstates_keep_the_standing_before_the_dice():
    env = gym.make(THREES, players=3).unwrapped
    env.reset(seed=0, options={"points": 4, "roll": [1, 3, 6], "lead": 9, "after": 1})
    assert env.afterstates()[2].tolist() == [
        [4, *[0] * 6, 9, 1, 1, 2],
        [5, *[0] * 6, 9, 1, 1, 1],
        [11, *[0] * 6, 9, 1, 1, 0],
    ]
    envs = gym.make_vec(THREES, num_envs=4, players=3).unwrapped
    observation, _ = envs.reset(seed=0)
    ours, theirs = envs.afterstates(), env.afterstates(observation)
    assert all((one == other).all() for one, other in zip(ours, theirs, strict=True))
    assert envs.afterstate_space.contains(ours[2][0])


def test_the_standing_and_the_end_are_told_in_words():
    env = gym.make(THREES, players=3, render_mode="ansi")
    env.reset(seed=0, options={"lead": 9, "holders": 1, "after": 1, "points": 4, "dice": 1})
    assert env.render().splitlines()[0] == "1 player leads with 9 points, 1 plays after you"
    ends = set()
    for seed in range(30):
        env.reset(seed=seed, options={"lead": 9, "holders": 1, "after": 1, "points": 4, "dice": 1})
        _, reward, *_ = env.step(0)
        ends.add((env.render().splitlines()[0].partition(": ")[2], reward))
    told = {"beaten": 0, "leads alone in the end": 1, "shares the lead with 1 in the end": 1 / 2}
    assert ends >= set(told.items())
    assert ends <= {*told.items(), ("shares the lead with 2 in the end", 1 / 3)}


# Draws


def test_draws_are_those_of_a_search_for_every_number():
    random = np.random.default_rng(0)
    chances = random.random((7, 5)) * (random.random((7, 5)) < 0.7)
    chances[:, 2] += 0.1
    chances[3] = [0, 0, 1, 0, 0]
    draws = Draws(chances)
    edges = np.concatenate((draws.sums.ravel(), np.arange(64) / 64, random.random(1000)))
    numbers = np.concatenate((edges, np.nextafter(edges, 0), np.nextafter(edges, 1)))
    numbers = np.floor(numbers[(numbers >= 0) & (numbers < 1)] * 2**53) / 2**53
    bits = (numbers * 2**53).astype(np.uint64) << np.uint64(11) | random.integers(2**11, size=len(numbers), dtype="u8")
    for row in range(7):
        expected = np.searchsorted(draws.sums[row], numbers, side="right")
        assert (draws(bits, draws.begins[np.full(len(bits), row)]) == expected).all()
        assert (chances[row, expected] > 0).all()
        assert (Draws(chances[[row]])(bits) == expected).all()


@pytest.mark.parametrize("rows", [2, 9, 3000])
def test_tables_of_draws_stay_small(rows):
    begins = Draws(np.ones((rows, 2))).begins
    assert begins.tolist() == [begins[1] * row for row in range(rows)]
    assert 2**17 < rows * begins[1] <= 2**20
    assert begins[1] <= 2**18


# What ends, and what begins


def test_an_illegal_action_wins_nothing_against_the_worst_lead_either():
    env = gym.make(THREES, players=2, seat=1)
    env.reset(seed=0, options={"lead": 30, "points": 24, "dice": 1})
    _, reward, _, _, info = env.step(4)
    assert (reward, info["holders"], info["final_score"]) == (0, 0, 30)


def test_a_standing_that_the_opponents_never_leave_can_be_named_all_the_same():
    env = gym.make(BOX, players=2, seat=1)
    for seed in range(20):
        assert env.reset(seed=seed, options={"lead": 45})[0][-3:].tolist() == [
            len(compile_game(ShutTheBox()).scores) - 1,
            1,
            0,
        ]


def test_the_step_after_an_end_draws_a_new_standing():
    envs = gym.make_vec(THREES, num_envs=200, players=3).unwrapped
    before, ended, changed = envs.reset(seed=0)[0], np.zeros(200, bool), 0
    for _ in range(10):
        observation, _, over, _, _ = envs.step(envs.legal_sample())
        changed += (observation[ended, -3:] != before[ended, -3:]).any(axis=1).sum()
        assert (observation[~ended, -3:] == before[~ended, -3:]).all()
        before, ended = observation, over
    assert changed > 100


def test_new_opponents_end_rounds_as_if_they_had_been_there_from_the_start():
    """Also where an end was met before: what is remembered of the old opponents must be forgotten."""
    changed, old, new = (gym.make(THREES, opponents=plays).unwrapped for plays in ("worst", "worst", "optimal"))

    def played(env):
        found = []
        for seed in range(60):
            observation, over = env.reset(seed=seed)[0], False
            while not over:
                observation, reward, over, _, info = env.step(0)
            found.append((observation.tolist(), reward, info["holders"]))
        return found

    assert played(changed) == played(old) != played(new)
    changed.set_opponents("optimal")
    assert played(changed) == played(new)
