"""An agent in every seat of a round, and opponents that change, beside the reference in fractions."""

import gymnasium as gym
import numpy as np
import pytest

from stb_gym import Round, RoundMeter, RoundVectorEnv, ShutTheBox, Threes
from stb_gym.rounds import opponents_of
from tests import reference
from tests.reference_rounds import best_response_value, lineup, whatever_the_scores
from tests.rounds.test_round_env import as_agent, uniform
from tests.twins import twin

DICE, BOX = Threes(dice=2, faces=4), ShutTheBox(tiles=3)
THREES = "stb_gym/ThreesRound-v0"


def everyone(agent, game, players, ties="split", **how):
    """The round in which an agent plays in every seat."""
    meter = RoundMeter(RoundVectorEnv(game, 1, players, ties=ties, **how))
    return meter.opponents.rules.evaluate([meter.strategy(agent)] * players)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "players", "ties"), [(DICE, 3, "split"), (BOX, 2, "nobody")])
def test_what_everyone_could_gain_is_that_of_the_reference(game, players, ties):
    found = everyone(uniform, game, players, ties)
    other = twin(game)
    policies = [whatever_the_scores(reference.uniform(other))] * players
    wins = lineup(other, policies, ties)
    assert found.seats == pytest.approx([float(win) for win in wins])
    gains = [best_response_value(other, seat, policies, ties) - win for seat, win in enumerate(wins)]
    assert [found.best_response(seat).gain for seat in range(players)] == pytest.approx(list(map(float, gains)))


@pytest.mark.parametrize(("game", "players"), [(DICE, 3), (BOX, 2)])
def test_the_equilibrium_cannot_be_exploited(game, players):
    solution = Round(game, players).solve()
    choices = np.eye(len(game.moves))
    equilibrium = as_agent(game, players, lambda tables, standing: choices[solution.policy(standing)])
    found = everyone(equilibrium, game, players)
    assert found.exploitability == pytest.approx(0, abs=1e-12)
    assert found.seats == pytest.approx(solution.seats)


def test_an_agent_that_plays_one_seat_alone_or_illegally_is_refused():
    with pytest.raises(ValueError, match='the environment shows another seat: make it with seat="drawn"'):
        everyone(uniform, DICE, 3, seat=1)
    with pytest.raises(ValueError, match="illegal"):
        everyone(lambda seen, masks: np.zeros(len(seen), int), BOX, 2)


@pytest.mark.parametrize("seat", ["drawn", 1])
def test_a_line_up_leaves_what_its_players_leave(seat):
    rules, names = Round(DICE, 3), ["random", "threes-only", "approximation"]
    found = opponents_of(rules, seat, rules.evaluate(["approximation"] * 3))
    wanted = opponents_of(rules, seat, ["approximation"] * 2)
    assert (found.chance == wanted.chance).all()
    assert (found.fates == wanted.fates).all()
    between = opponents_of(rules, 1, rules.evaluate(names))
    assert (between.fates == opponents_of(rules, 1, [names[0], names[2]]).fates).all()
    assert (between.chance == opponents_of(rules, 1, [names[0], names[2]]).chance).all()


def played(env, steps=40):
    """What is seen and won in some steps of the first legal actions."""
    observation, info = env.reset(seed=3)
    seen = [np.array(observation)]
    for _ in range(steps):
        mask = np.atleast_2d(info["action_mask"])
        actions = mask.argmax(axis=1) if hasattr(env, "num_envs") else int(mask.argmax())
        observation, reward, over, _, info = env.step(actions)
        seen += [np.array(observation), np.array(reward)]
        if not hasattr(env, "num_envs") and over:
            observation, info = env.reset()
    return np.concatenate([np.ravel(each) for each in seen])


@pytest.mark.parametrize("make", [lambda **how: gym.make(THREES, **how).unwrapped,
                                  lambda **how: gym.make_vec(THREES, 16, **how)])  # fmt: skip
def test_new_opponents_are_played_as_if_there_had_been_no_others(make):
    changed, wanted = make(players=3, opponents="random"), make(players=3, opponents="optimal")
    before = played(changed)
    changed.set_opponents("optimal")
    assert (played(changed) == played(wanted)).all()
    assert not (before == played(wanted)).all()
    assert changed.reward_threshold == wanted.reward_threshold


def test_rounds_under_way_go_on_where_they_stand_and_end_by_the_new_opponents():
    envs = RoundVectorEnv(DICE, 64, 2, seat=0, opponents="worst", autoreset_mode="SameStep")
    before, infos = envs.reset(seed=0)
    envs.set_opponents("optimal")
    assert (envs.opponents.seen[envs._place] == before[:, -3:]).all()
    won = []
    for _ in range(40):
        _, reward, over, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        won += reward[over].tolist()
    meter = RoundMeter(envs)
    wins = meter(lambda seen, masks: masks.argmax(axis=1)).value
    assert len(won) > 1000
    assert np.mean(won) == pytest.approx(wins, abs=4 * np.std(won) / len(won) ** 0.5)
    envs.set_opponents("worst")
    assert RoundMeter(envs)(lambda seen, masks: masks.argmax(axis=1)).value > wins + 0.2


def test_a_function_is_asked_again_when_it_has_learned():
    env, learned = gym.make("stb_gym/ThreesRound-v0", dice=2, faces=4).unwrapped, [0]
    meter = RoundMeter(env)
    plays = meter.strategy(
        lambda seen, masks: [masks.argmax(axis=1), masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)][learned[0]]
    )
    wins = []
    for learned[0] in (0, 1):
        env.set_opponents(plays)
        wins.append(env.reward_threshold)
    assert wins[0] != wins[1]


def test_the_spec_tells_of_the_new_opponents():
    env = gym.make("stb_gym/ThreesRound-v0", dice=2, faces=4, opponents="random").unwrapped
    before = env.spec.reward_threshold
    env.set_opponents("optimal")
    assert env.spec.reward_threshold == env.reward_threshold < before


def test_a_line_up_of_another_round_is_refused():
    rules = Round(DICE, 3)
    for other in (Round(DICE, 2), Round(DICE, 3, "nobody"), Round(Threes(dice=2, faces=4, free_face=2), 3)):
        with pytest.raises(ValueError, match="the line-up of opponents is of another round than Round"):
            opponents_of(rules, 0, other.evaluate(["random"] * other.players))


def test_a_reset_that_is_refused_changes_nothing():
    env = gym.make(THREES, players=3).unwrapped
    env.reset(seed=1)
    before = env.snapshot()
    for options in ({"points": 999}, {"points": 999, "lead": 3}):
        with pytest.raises(ValueError, match=r"999|lead"):
            env.reset(options=options)
        assert env.snapshot() == before
    with pytest.raises(ValueError, match="snapshot"):
        env.restore({**before, "place": 0, "node": -1})
    assert env.snapshot() == before
