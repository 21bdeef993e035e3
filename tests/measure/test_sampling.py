"""Sampled regret: beside the exact one of agents of all kinds, its noise as it says, and what is refused."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import DtypeObservation, FlattenObservation
from stb_gym.measure.losses import Losses
from stb_gym.measure.sampling import play

from stb_gym import (
    MaskInObservation,
    Objective,
    RegretMeter,
    ShutTheBox,
    Threes,
    TurnEnv,
    evaluate,
    load_policy,
    solve,
    solve_boards,
    strategies,
    strategy,
)
from stb_gym.envs import stepper_of
from stb_gym.solver import node_of, objective_of
from tests.measure.test_meter import Masked, Model, biggest_first, first_legal, zeros

NINE, SIX = ShutTheBox(), ShutTheBox(tiles=6)
RANDOM = np.random.default_rng(3)


def player(game, policy):
    """A policy [N] or [N, A] as a function of observations."""
    tables = solve(game).tables
    return lambda observations: policy[node_of(tables, observations)]


def mostly(game, policy, share):
    """A policy that is left for any legal move with some probability."""

    def agent(observations, masks):
        chances = (1 - share) * masks / masks.sum(axis=1, keepdims=True)
        chances[np.arange(len(masks)), player(game, policy)(observations)] += share
        return chances

    return agent


def careless(observations, masks):
    """Something illegal after every roll of 7, by a tenth of a chance after others."""
    chances = masks + 0.1 / masks.shape[1]
    chances[observations[:, 14] == 1] = 1
    return chances / chances.sum(axis=1, keepdims=True)


def careless_anywhere(observations, masks):
    """The lowest action that is legal, or now and then any action."""
    return np.where(observations.sum(axis=1) % 5 == 0, masks.shape[1] // 2, masks.argmax(axis=1))


def uniform(observations, masks):
    return masks / masks.sum(axis=1, keepdims=True)


# By what it is: the environment, the agent, and whether it is deterministic.
AGENTS = {
    **{name: (NINE, player(NINE, strategy(NINE, name)), True) for name in strategies(NINE)},
    "the best of PPO": (NINE, player(NINE, load_policy("ppo-nine-tiles", NINE)), True),
    "the best of DQN": (NINE, player(NINE, load_policy("dqn-nine-tiles", NINE)), True),
    "a list": (TurnEnv(NINE), biggest_first, True),
    "perfect but for a tenth": (NINE, mostly(NINE, solve(NINE).policy, 0.9), True),
    "random weights": (NINE, player(NINE, RANDOM.dirichlet(np.ones(62), 5622)), True),
    "careless": (TurnEnv(NINE), careless, True),
    "a model that predicts": (TurnEnv(NINE), Masked(first_legal, NINE), True),
    "a model without masks": (TurnEnv(NINE), Model(lambda seen: 5 + seen[:, 9:].argmax(axis=1), NINE), True),
    "a model that explores": (TurnEnv(NINE), Masked(first_legal, NINE, exploration_rate=0.3), False),
    "one that explores without masks": (TurnEnv(NINE), Model(zeros, NINE, exploration_rate=0.3), False),
    "of floats": (DtypeObservation(TurnEnv(NINE), np.float64), lambda seen, mask: (mask + seen[:, :1]).argmax(1), True),
    "of masks in observations": (MaskInObservation(TurnEnv(NINE)), lambda seen: seen["action_mask"].argmax(1), True),
    "of rows": (FlattenObservation(MaskInObservation(TurnEnv(NINE))), lambda rows: rows[:, :62].argmax(1), True),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", AGENTS)
def test_it_is_the_exact_regret_but_for_what_it_calls_noise(name):
    what, agent, deterministic = AGENTS[name]
    meter = RegretMeter(what)
    exact = meter(agent, deterministic)
    sampled = meter.sample(agent, 20_000, seed=1, deterministic=deterministic)
    assert abs(sampled.regret - exact.regret) <= 4 * sampled.standard_error
    assert abs(sampled.value - exact.value) <= 4 * sampled.standard_error
    assert (sampled.standard_error > 0) is (exact.regret > 1e-9)
    for share in ("illegal_mass", "shut_probability"):
        truth = getattr(exact, share)
        assert abs(getattr(sampled, share) - truth) <= 4 * np.sqrt(truth * (1 - truth) / 20_000) + 1e-12
    assert sampled.agreement_by_visits == pytest.approx(exact.agreement_by_visits, abs=0.01)


def test_there_are_twenty_and_more_of_them():
    assert len(AGENTS) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("illegally", [False, True])
def test_means_of_many_samples_scatter_about_the_exact_regret_as_they_say(illegally):
    meter = RegretMeter(NINE)
    agent = careless if illegally else mostly(NINE, solve(NINE).policy, 0.8)
    exact = meter(agent).regret
    samples = [meter.sample(agent, 300, seed) for seed in range(80)]
    z = np.array([(sample.regret - exact) / sample.standard_error for sample in samples])
    assert abs(z.mean()) < 4 / np.sqrt(80)
    assert 0.8 < z.std() < 1.2
    covered = np.mean([low <= exact <= high for low, high in (sample.interval for sample in samples)])
    assert 0.9 < covered < 0.99


@pytest.mark.slow
def test_an_interval_is_two_standard_errors_to_either_side_and_nothing_below_0():
    meter, agent = RegretMeter(NINE), player(NINE, load_policy("ppo-nine-tiles", NINE))
    samples = [meter.sample(agent, turns, seed) for turns, seeds in ((30, 8), (30_000, 2)) for seed in range(seeds)]
    lows = [sample.interval[0] for sample in samples if sample.regret > 0]
    for sample in samples:
        low, high = sample.interval
        assert high == sample.regret + 1.96 * sample.standard_error
        assert low == max(0, sample.regret - 1.96 * sample.standard_error)
    assert min(lows) == 0 < max(lows)


@pytest.mark.slow
def test_noise_is_hundreds_of_times_less_than_that_of_scores():
    meter = RegretMeter(NINE)
    sampled = meter.sample(player(NINE, load_policy("ppo-nine-tiles", NINE)), 100_000)
    assert sampled.standard_error < sampled.final_score.std() / np.sqrt(sampled.turns) / 300


@pytest.mark.parametrize(
    ("game", "objective"),
    [
        (SIX, "shut"),
        (ShutTheBox(tiles=6, first_move=2), "score"),
        (ShutTheBox(tiles=7, one_die="any-time", score="digits"), "score"),
        (ShutTheBox(match="faces-or-sum", tiles=8), "at-most:9"),
        (Threes(dice=4), Objective("middle", lambda points: 9 - (points - 5) ** 2)),
    ],
    ids=lambda each: getattr(each, "name", str(each)) if isinstance(each, Objective) else str(each),
)
def test_other_rules_and_objectives(game, objective):
    meter = RegretMeter(game, objective)
    for agent in (first_legal, uniform):
        exact, sampled = meter(agent), meter.sample(agent, 20_000, seed=2)
        assert abs(sampled.regret - exact.regret) <= 4 * sampled.standard_error > 0
        assert sampled.agreement_by_visits == pytest.approx(exact.agreement_by_visits, abs=0.02)
        shares = sampled.score_distribution
        assert list(shares) == [score for score in exact.score_distribution if score in shares]
        for score, chance in exact.score_distribution.items():
            noise = np.sqrt(chance * (1 - chance) / 20_000)
            assert shares.get(score, 0) == pytest.approx(chance, abs=4 * noise + 1e-12)


def test_perfect_play_loses_nothing_and_makes_no_mistake():
    meter = RegretMeter(NINE)
    found = meter.sample(player(NINE, meter.optimum.policy), 3000)
    assert (found.regret, found.standard_error, found.interval, found.mistakes()) == (0, 0, (0, 0), [])
    assert (found.value, found.agreement_by_visits, found.illegal_mass) == (meter.optimum.value, 1, 0)


def test_the_dearest_of_the_mistakes_that_are_met_come_first():
    sampled = RegretMeter(SIX).sample(first_legal, 2000)
    costs = [mistake.cost for mistake in sampled.mistakes()]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 3 * costs[-1]
    assert sum(costs) == pytest.approx(sampled.regret)


@pytest.mark.slow
@pytest.mark.parametrize("agent", [biggest_first, careless])
def test_the_mistakes_that_are_met_are_those_of_the_policy(agent):
    meter = RegretMeter(NINE)
    exact, sampled = meter(agent), meter.sample(agent, 20_000)
    known = {mistake.node: mistake for mistake in exact.mistakes()}
    found = sampled.mistakes()
    costs = [mistake.cost for mistake in found]
    assert costs == sorted(costs, reverse=True)
    assert sum(costs) == pytest.approx(sampled.regret)
    assert sampled.mistakes(3) == found[:3]
    for mistake in found:
        truth = known[int(node_of(meter.optimum.tables, sampled.shown(np.array([mistake.node]))[0][0]))]
        assert mistake.best == truth.best
        if agent is biggest_first:
            assert (mistake.plays, mistake.loss) == (truth.plays, pytest.approx(truth.loss))
            assert mistake.visits == pytest.approx(truth.visits, abs=4 * np.sqrt(truth.visits / 20_000))
    illegal = sum(mistake.visits for mistake in found if mistake.plays is None)
    assert illegal == pytest.approx(sampled.illegal_mass)
    assert (illegal > 0) is (agent is careless)


def test_the_same_seed_gives_the_same_turns_and_another_gives_others():
    meter, agent = RegretMeter(SIX), mostly(SIX, solve(SIX).policy, 0.5)
    one, same, other = (meter.sample(agent, 5000, seed) for seed in (7, 7, 8))
    assert (one.lost == same.lost).all()
    assert (one.node == same.node).all()
    assert one.summary() == same.summary()
    assert one.regret != other.regret
    assert RegretMeter(SIX).sample(agent, 5000).summary() == meter.sample(agent, 5000, 0).summary()


def test_wrappers_change_what_an_agent_sees_and_nothing_else():
    plain = RegretMeter(SIX).sample(first_legal, 3000, 5).summary()
    for wrapped, agent in (
        (MaskInObservation(TurnEnv(SIX)), lambda seen: seen["action_mask"].argmax(axis=1)),
        (gym.make_vec("stb_gym/ShutTheBoxMasked-v0", 3, tiles=6), lambda seen: seen["action_mask"].argmax(axis=1)),
        (FlattenObservation(MaskInObservation(TurnEnv(SIX))), lambda seen: seen[:, : len(SIX.moves)].argmax(axis=1)),
    ):
        assert RegretMeter(wrapped).sample(agent, 3000, 5).summary() == plain


def test_agents_are_asked_about_turns_that_go_on_and_may_write_into_what_they_are_handed():
    asked, meter = [], RegretMeter(SIX, illegal="raise")

    def agent(observations, masks):
        asked.append(len(masks))
        assert masks.any(axis=1).all()
        action = masks.argmax(axis=1)
        observations[:], masks[:] = 0, False
        return action

    assert meter.sample(agent, 5000, 1).summary() == meter.sample(first_legal, 5000, 1).summary()
    assert asked[0] == 4096
    assert 5000 - 4096 in asked
    assert sum(asked) == len(meter.sample(first_legal, 5000, 1).node)


def test_progress_is_told():
    told = []
    RegretMeter(SIX).sample(first_legal, 9000, progress=lambda *how_far: told.append(how_far))
    assert told == [(4096, 9000), (8192, 9000), (9000, 9000)]


# Boxes too large for tables


@pytest.mark.parametrize(
    "game", [NINE, ShutTheBox(tiles=8, first_move=3), ShutTheBox(tiles=7, one_die="low-sum", score="count")], ids=str
)
@pytest.mark.parametrize("agent", [first_legal, careless_anywhere])
def test_tables_and_boards_tell_the_same(game, agent):
    one, other = (
        play(Losses(stepper_of(game, objective_of(game, "score"), kind=kind), solved(game)), agent, "end", 3000, 1)
        for kind, solved in (("tables", solve), ("boards", solve_boards))
    )
    assert one.lost == pytest.approx(other.lost, abs=1e-9)
    assert (one.plays == other.plays).all()
    assert (one.best == other.best).all()
    assert (one.final_score == other.final_score).all()
    assert one.summary() == pytest.approx(other.summary(), abs=1e-9)
    assert (one.illegal_mass > 0) is (agent is careless_anywhere)
    for mine, theirs in zip(one.mistakes(20), other.mistakes(20), strict=True):
        assert one.describe_node(mine.node) == other.describe_node(theirs.node)
    assert one.random_value == pytest.approx(other.random_value, abs=1e-9)
    assert one.random_value == pytest.approx(RegretMeter(game)(uniform).value, abs=1e-9)


@pytest.fixture(scope="module")
def large():
    """The meter of a box of five million positions."""
    return RegretMeter(ShutTheBox(tiles=18, dice=4))


@pytest.mark.slow
def test_a_rule_of_thumb_on_a_large_box_has_its_exact_regret(large):
    order = np.array(sorted(range(len(large.game.moves)), key=lambda action: large.game.moves[action][::-1])[::-1])
    exact = evaluate(large.game, strategy(large.game, "biggest-first"))
    sampled = large.sample(lambda seen, masks: order[masks[:, order].argmax(axis=1)], 10_000, seed=1)
    assert abs(sampled.regret - exact.regret) <= 4 * sampled.standard_error < 0.2
    assert sampled.agreement_by_visits == pytest.approx(exact.agreement_by_visits, abs=0.01)
    assert sampled.mean_throws == pytest.approx(exact.mean_throws, abs=0.1)
    assert sampled.normalised_score == pytest.approx(exact.normalised_score, abs=0.01)
    random = large.sample(uniform, 10_000, seed=1)
    assert abs(random.value - exact.random_value) <= 4 * random.standard_error


def test_what_needs_all_positions_says_what_to_use_instead(large):
    message = r"^ShutTheBox\(tiles=18, dice=4\) has too many positions to ask an agent about each of them: let it play"
    for measured in (large, large.policy):
        with pytest.raises(ValueError, match=message):
            measured(first_legal)


@pytest.mark.slow
def test_ten_thousand_turns_of_a_large_box_tell_good_play_to_two_hundredths_of_a_point(large):
    stepper = stepper_of(large.game, large.objective)

    def nearly_perfect(observations):
        """Takes boards for up to a point better than they are, by their number."""
        moves = stepper.legal_moves(stepper.find(observations))
        boards, dice = stepper.position(moves.after)
        worth = large.optimum.worths(boards, dice) + np.sin(13.0 * boards)
        best = worth == np.maximum.reduceat(worth, moves.first)[moves.place]
        return moves.action[np.flatnonzero(best)]

    sampled = large.sample(nearly_perfect, 10_000)
    assert 0.1 < sampled.regret < 1
    assert sampled.standard_error < 0.02


def test_it_says_itself_in_a_line():
    found = RegretMeter(SIX).sample(first_legal, 1000)
    low, high = found.interval
    assert repr(found) == f"<regret {found.regret:.4g} ({low:.4g} to {high:.4g}) points in 1,000 turns>"


def test_what_is_no_policy_is_refused_where_it_is_met():
    meter = RegretMeter(SIX)
    with pytest.raises(ValueError, match=r"^the agent has a probability that is negative or not a number at open 1,"):
        meter.sample(lambda seen, masks: np.full(masks.shape, np.nan))
    with pytest.raises(ValueError, match=r"^the agent has probabilities that do not sum to 1 at open 1,2,3,4,5,6,"):
        meter.sample(lambda seen, masks: np.ones(masks.shape))
    with pytest.raises(ValueError, match=r"^the agent takes an illegal action at open 1,2,3,4,5,6, roll"):
        RegretMeter(SIX, illegal="raise").sample(lambda seen, masks: masks.argmin(axis=1))
    with pytest.raises(ValueError, match=r"^the agent takes an illegal action at open 1,2,3,4,5,6, roll"):
        RegretMeter(SIX, illegal="raise").sample(lambda seen, masks: np.full(masks.shape, 1 / masks.shape[1]))
    with pytest.raises(ValueError, match="must answer each, not with shape"):
        meter.sample(lambda seen, masks: 3)
    with pytest.raises(TypeError, match="is no agent"):
        meter.sample("ppo.zip")


def test_turns_and_seeds_that_are_none_are_refused():
    meter = RegretMeter(SIX)
    for turns in (1, 2.5, 10**6 + 1):
        with pytest.raises(ValueError, match="turns must be"):
            meter.sample(first_legal, turns)
    with pytest.raises(ValueError, match="seed must be"):
        meter.sample(first_legal, 10, -1)
