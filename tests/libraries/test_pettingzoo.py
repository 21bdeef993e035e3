"""PettingZoo: its own tests of environments, for rounds; and rounds of perfect seats beside exact chances."""

import doctest

import pytest
from pettingzoo.test import api_test, render_test, seed_test

import stb_gym
from stb_gym import Threes
from stb_gym import pettingzoo as zoo
from stb_gym.solver import compile_game
from tests.test_api_campaign import returned_calls

OF_EITHER_GAME = pytest.mark.parametrize("game", ["shut-the-box", "threes"])
ANY_RULES = [{}, {"players": 1}, {"players": 3, "ties": "all-win", "shut_wins": True}, {"players": 5, "ties": "nobody"}]
SMALL = Threes(dice=2, faces=4, free_face=1)


def play(env, choose, seed=None):
    """Return the agents in the order in which they act, and what each wins."""
    env.reset(seed=seed)
    acted, won = [], {}
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        if terminated or truncated:
            won[agent] = reward
            env.step(None)
        else:
            acted.append(agent)
            env.step(choose(agent, observation))
    return acted, won


@pytest.mark.parametrize("rules", ANY_RULES, ids=str)
@OF_EITHER_GAME
def test_its_api(game, rules):
    api_test(zoo.env(game, **rules), num_cycles=100)


@OF_EITHER_GAME
def test_the_seed_test_of_pettingzoo_passes(game):
    seed_test(lambda: zoo.env(game, players=3, observation_dtype="float32"))


@OF_EITHER_GAME
def test_its_rendering(game, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(zoo.RoundAECEnv.metadata, "render_fps", 1000)
    monkeypatch.setitem(stb_gym.envs.TurnEnv.metadata, "render_fps", 1000)
    render_test(lambda **arguments: zoo.env(game, players=3, **arguments))


def test_an_illegal_action_forfeits_and_the_others_play_on():
    env = zoo.env("threes", players=3)
    acted, won = play(env, lambda agent, seen: {"player_0": 1, "player_1": 4, "player_2": 4}[agent], seed=0)
    assert acted[-2:] == ["player_1", "player_2"]
    assert won["player_0"] == 0
    assert sum(won.values()) == 1
    with pytest.raises(ValueError, match="illegal"):
        play(zoo.env("threes", illegal="raise"), lambda agent, seen: 1)


@pytest.mark.parametrize("seed", range(20))
def test_agents_see_the_lead_and_the_lowest_score_wins(seed):
    env, ended = zoo.env(SMALL, players=3), []
    places = compile_game(SMALL).scores.tolist()
    env.reset(seed=seed)
    while len(ended) < 3:
        agent, (seen, *_) = env.agent_selection, env.last()
        lead = places.index(min(ended)) if ended else len(places)
        holders = ended.count(min(ended, default=None))
        assert seen["observation"][-3:].tolist() == [lead, holders, 2 - len(ended)]
        env.step(seen["action_mask"].argmax())
        if env.infos[agent]:
            ended.append(env.infos[agent]["final_score"])
    assert list(env.rewards.values()) == [(score == min(ended)) / ended.count(min(ended)) for score in ended]


def test_only_the_agent_that_plays_has_actions():
    env = zoo.env("shut-the-box", players=3)
    env.reset(seed=0)
    seen = {agent: env.observe(agent) for agent in env.agents}
    assert [each["action_mask"].any() for each in seen.values()] == [True, False, False]
    assert all((each["observation"] == seen["player_0"]["observation"]).all() for each in seen.values())
    assert seen["player_0"]["observation"][-3:].tolist() == [46, 0, 2]
    last, _ = play(env, lambda agent, seen: int(seen["action_mask"].argmax()), seed=0)
    assert env.agents == []
    assert not env.observe(last[-1])["action_mask"].any()


def test_the_winners_are_rendered():
    env = zoo.env("threes", players=3, render_mode="ansi")
    play(env, lambda agent, seen: 4, seed=0)
    env.reset(seed=0)
    for _ in range(3):
        env.step(4)
    winners = [agent for agent in env.agents if env.rewards[agent] > 0]
    assert env.render().startswith(f"{' and '.join(winners)} win")


@pytest.mark.parametrize("wrong", [{"players": 0}, {"ties": "none"}, {"tiles": 0}, {"tilse": 9}])
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
        zoo.env(**wrong)


def test_its_example_runs():
    assert doctest.testmod(zoo).failed == 0


def test_any_call_returns_or_is_refused_in_a_line(tmp_path, monkeypatch):
    assert returned_calls(tmp_path, monkeypatch, 2000, "AEC|pettingzoo") > 500


def test_a_move_after_the_end_is_refused():
    env = zoo.RoundAECEnv(SMALL)
    play(env, lambda agent, seen: seen["action_mask"].argmax())
    for action in (0, None):
        with pytest.raises(ValueError, match="the round is over"):
            env.step(action)
