"""Learners: the adaptor to stable-baselines3, masks both ways, replay and targets, determinism, and learning."""

from dataclasses import asdict

import gymnasium as gym
import numpy as np
import pytest
import torch

from agents.config import ALGORITHMS, Config
from agents.dqn import DQNSettings, random_legal
from agents.networks import UnaryObservation
from agents.policy_array import policies
from agents.ppo import PPOSettings
from agents.vec_env import TurnVecEnv
from stb_gym import ShutTheBox, Threes, compile_game, evaluate, policy_from, solve
from stb_gym.policy import node_of

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
SMALL = {
    "ppo": PPOSettings(games=64, n_steps=16, batch_size=256, width=32),
    "dqn": DQNSettings(
        games=64, batch_size=256, width=32, learning_starts=1000, target_update_interval=1000, gradient_steps=4
    ),
}
STEPS = {"ppo": 30_000, "dqn": 20_000}


def learner(algorithm, env=BOX, rules=None, seed=0, **options):
    return Config(algorithm, env, SMALL[algorithm], rules or {"tiles": 6}, seed=seed, **options).learner()


def same_step(name, games, **options):
    return gym.make_vec(name, games, autoreset_mode="SameStep", **options)


@pytest.mark.parametrize("mask_in_observation", [False, True])
def test_the_adaptor_tells_stable_baselines_what_the_games_do(mask_in_observation):
    vec_env = TurnVecEnv(same_step(BOX, 16), mask_in_observation)
    games, tables = same_step(BOX, 16), compile_game(ShutTheBox())
    vec_env.seed(3)
    seen, (observation, _) = vec_env.reset(), games.reset(seed=3)
    ended = 0
    for _ in range(30):
        plain = seen["observation"] if mask_in_observation else seen
        masks = np.stack(vec_env.env_method("action_masks"))
        assert (plain == observation).all()
        assert (masks == tables.legal(node_of(tables, plain))).all()
        if mask_in_observation:
            assert (seen["action_mask"] == masks).all()
            assert vec_env.observation_space["action_mask"].contains(seen["action_mask"][0])
        actions = masks.argmax(axis=1)
        seen, rewards, dones, infos = vec_env.step(actions)
        observation, reward, over, _, info = games.step(actions)
        assert rewards == pytest.approx(reward / 45)
        assert (dones == over).all()
        for game in range(16):
            assert ("terminal_observation" in infos[game]) == over[game]
            if over[game]:
                last = infos[game]["terminal_observation"]
                assert ((last["observation"] if mask_in_observation else last) == info["final_obs"][game]).all()
                assert not mask_in_observation or not last["action_mask"].any()
        ended += over.sum()
    assert ended > 50


def test_the_adaptor_wants_same_step():
    with pytest.raises(ValueError, match="needs autoreset mode SameStep, not NextStep"):
        TurnVecEnv(gym.make_vec(BOX, 4))


def test_unary_observations():
    space = gym.spaces.Box(0, np.array([3, 1, 2], np.uint8), dtype=np.uint8)
    unary = UnaryObservation(space)(torch.tensor([[0.0, 0, 0], [2, 1, 1], [3, 0, 2]]))
    assert unary.tolist() == [[0, 0, 0, 0, 0, 0], [1, 1, 0, 1, 1, 0], [1, 1, 1, 0, 1, 1]]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("env", "rules"), [(BOX, {"tiles": 6}), (THREES, {"dice": 3})])
def test_masks_work_both_ways(algorithm, env, rules):
    """Left only the optimal action, an untrained network is perfect; left all actions, it does what is illegal."""
    untrained = learner(algorithm, env, rules)
    game = Config(algorithm, env, SMALL[algorithm], rules).games().game
    tables, solution = compile_game(game), solve(game)
    only_optimal = np.zeros((tables.nodes, tables.actions), bool)
    only_optimal[tables.decisions, solution.policy[tables.decisions]] = True

    def with_masks(masks):
        return policy_from(game, lambda seen, _: untrained.probabilities(seen, masks[node_of(tables, seen)]))

    for policy in (with_masks(only_optimal), with_masks(only_optimal).argmax(axis=1)):
        assert evaluate(game, policy).regret == 0
    assert evaluate(game, with_masks(tables.legal()).argmax(axis=1)).regret > 0.1
    with pytest.raises(ValueError, match="illegal action"):
        evaluate(game, with_masks(np.ones_like(only_optimal)).argmax(axis=1))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_probabilities_are_legal_and_the_greedy_action_is_the_most_probable(algorithm):
    game = ShutTheBox(tiles=6)
    greedy, exploring = policies(game, learner(algorithm))
    tables = compile_game(game)
    assert not exploring[~tables.legal()].any()
    assert exploring[tables.decisions].sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert (exploring[tables.decisions] > 0).sum() == len(tables.edge_next)
    assert (greedy == exploring.argmax(axis=1)).all()


def test_random_legal_moves_are_legal_and_even():
    masks = np.array([[0, 1, 1, 0, 1]] * 30_000)
    chosen = np.bincount(random_legal(masks), minlength=5) / 30_000
    assert chosen == pytest.approx([0, 1 / 3, 1 / 3, 0, 1 / 3], abs=0.02)
    assert random_legal(np.zeros((3, 5))).tolist() == [0, 0, 0]


def test_dqn_replays_legal_moves_only_with_the_masks_of_both_ends():
    game, dqn = ShutTheBox(tiles=6), learner("dqn")
    dqn.learn(3000)
    tables, buffer = compile_game(game), dqn.replay_buffer
    steps = buffer.pos
    seen, then = (
        {key: array[:steps].reshape(-1, array.shape[-1]) for key, array in side.items()}
        for side in (buffer.observations, buffer.next_observations)
    )
    nodes, after = (node_of(tables, side["observation"]) for side in (seen, then))
    actions = buffer.actions[:steps].ravel()
    for side, at in ((seen, nodes), (then, after)):
        assert (side["action_mask"] == tables.legal(at)).all()
    assert tables.legal()[nodes, actions].all()
    over = buffer.dones[:steps].ravel() == 1
    assert (over == ~tables.legal(after).any(axis=1)).all()
    rewards = np.where(over, -tables.final_score[tables.node_state[after]] / 21, 0)
    assert buffer.rewards[:steps].ravel() == pytest.approx(rewards, abs=1e-6)


def test_dqn_targets_take_the_best_legal_action_of_the_network_valued_by_the_target_network(monkeypatch):
    dqn = learner("dqn")
    dqn.learn(1500)
    tables = compile_game(ShutTheBox(tiles=6))
    with torch.no_grad():  # illegal actions would win everywhere, were they not masked
        for network in (dqn.q_net, dqn.q_net_target):  # and each network prefers other actions
            network.q_net[-1].bias += 10 * torch.randperm(tables.actions)
    batch, checked = dqn.replay_buffer.sample(128), []
    monkeypatch.setattr(dqn.replay_buffer, "sample", lambda size: batch)

    def plain(network, observations):
        return type(network).__mro__[1].forward(network, observations).detach().numpy()

    online, target = (plain(network, batch.next_observations) for network in (dqn.q_net, dqn.q_net_target))
    expected = []
    for row in range(128):
        legal = np.flatnonzero(batch.next_observations["action_mask"][row])
        best = legal[online[row, legal].argmax()] if len(legal) else None
        expected.append(float(batch.rewards[row]) + (0 if best is None else target[row, best]))
    original = torch.nn.functional.mse_loss

    def check(value, aim):
        assert aim.ravel().tolist() == pytest.approx(expected, rel=1e-5)
        checked.append(value)
        return original(value, aim)

    monkeypatch.setattr(torch.nn.functional, "mse_loss", check)
    dqn.train(1, 128)
    assert len(checked) == 1


def test_dqn_explores_game_by_game():
    dqn = learner("dqn")
    seen = dqn.env.reset()
    many = {key: np.repeat(rows[:1], 4000, axis=0) for key, rows in seen.items()}
    dqn.exploration_rate = 0.5
    greedy = dqn.predict(many, deterministic=True)[0]
    assert len(set(greedy)) == 1
    legal = int(many["action_mask"][0].sum())
    agreeing = (dqn.predict(many)[0] == greedy).mean()
    assert agreeing == pytest.approx(0.5 + 0.5 / legal, abs=0.04)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_same_seed_same_weights(algorithm):
    def trained(seed):
        agent = learner(algorithm, seed=seed)
        agent.learn(2500)
        return torch.cat([weights.ravel() for weights in agent.policy.state_dict().values()])

    assert torch.equal(trained(1), trained(1))
    assert not torch.equal(trained(1), trained(2))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_learners_learn(algorithm):
    game = Threes(dice=2)
    agent = Config(algorithm, THREES, SMALL[algorithm], {"dice": 2}, steps=STEPS[algorithm]).learner()
    before = evaluate(game, policies(game, agent)[0]).regret
    agent.learn(STEPS[algorithm])
    greedy, exploring = (evaluate(game, policy) for policy in policies(game, agent))
    assert greedy.regret < min(0.03, before / 4)
    assert greedy.regret <= exploring.regret


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_configurations_go_through_json(algorithm):
    config = Config(algorithm, BOX, SMALL[algorithm], {"tiles": 12}, "shut", 1000, 7)
    assert Config.from_json(config.to_json()) == config


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithm": "a2c"}, "unknown algorithm 'a2c': allowed are ppo, dqn"),
        ({"env": "CartPole-v1"}, "unknown environment 'CartPole-v1': allowed are stb_gym/ShutTheBox-v0"),
        ({"rules": {"tile": 3}}, "unknown rule 'tile'"),
        ({"rules": {"objective": "shut"}}, "unknown rule 'objective': allowed are tiles, dice, faces, score"),
        ({"rules": 3}, "rules must be an object of entries"),
        ({"objective": "win"}, "unknown objective"),
        ({"steps": 0}, "steps must be an integer from 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"settings": {**asdict(SMALL["ppo"]), "width": 0}}, "width must be an integer from 1"),
        (
            {"settings": {**asdict(SMALL["ppo"]), "learning_rate": float("nan")}},
            "learning_rate must be a number, 0 or more",
        ),
        ({"settings": {"momentum": 1}}, "unknown setting 'momentum': allowed are games"),
        ({"colour": 1}, "unknown entry 'colour'"),
    ],
)
def test_configurations_that_are_none_are_refused(change, message):
    whole = Config("ppo", BOX, SMALL["ppo"]).to_json()
    with pytest.raises(ValueError, match=message):
        Config.from_json({**whole, **change})
    with pytest.raises(ValueError, match="the entry 'seed' is missing"):
        Config.from_json({name: value for name, value in whole.items() if name != "seed"})
    with pytest.raises(ValueError, match="the setting 'entropy' is missing"):
        Config.from_json({**whole, "settings": {k: v for k, v in whole["settings"].items() if k != "entropy"}})


def test_dqn_must_leave_something_greedy():
    with pytest.raises(ValueError, match="exploration must be below 1"):
        Config("dqn", BOX, DQNSettings(exploration=1.0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (PPOSettings(games=1, n_steps=1, batch_size=1), "batch_size must be from 2 to games x n_steps, 1, not 1"),
        (PPOSettings(batch_size=10_000), "batch_size must be from 2 to games x n_steps, 8192, not 10000"),
        (PPOSettings(gae_lambda=5.0), "gae_lambda must not be above 1"),
        (PPOSettings(clip_range=0.0), "clip_range must lie between 0 and 1"),
        (PPOSettings(width=10**8), "width must be an integer from 1 to 4096"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Config("ppo", BOX, settings)
