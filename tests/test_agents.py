"""Learners: the adaptor to stable-baselines3, masks both ways, replay and targets, determinism, and learning."""

from dataclasses import asdict, replace

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback

from agents import policy_array
from agents.config import ALGORITHMS, Config
from agents.dqn import DQNSettings, random_legal
from agents.networks import NodeNetwork, unary
from agents.policy_array import policies
from agents.ppo import PPOSettings
from agents.vec_env import TurnVecEnv
from stb_gym import ShutTheBox, Threes, compile_game, evaluate, solve

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
SMALL = {
    "ppo": PPOSettings(games=64, n_steps=16, batch_size=256, width=32, embedding=8),
    "dqn": DQNSettings(
        games=64,
        batch_size=256,
        width=32,
        embedding=8,
        buffer_size=100_000,
        learning_starts=1000,
        target_update_interval=1000,
        gradient_steps=4,
    ),
}
STEPS = {"ppo": 30_000, "dqn": 20_000}


def learner(algorithm, env=BOX, rules=None, seed=0, **options):
    return Config(algorithm, env, SMALL[algorithm], rules or {"tiles": 6}, seed=seed, **options).learner()


class Stop(BaseCallback):
    """Ends the learning after some more steps, at the pace of one that goes on."""

    def __init__(self, steps):
        super().__init__()
        self.left = steps

    def _on_step(self):
        self.left -= self.training_env.num_envs
        return self.left >= 0


def same_step(name, games, **options):
    return gym.make_vec(name, games, autoreset_mode="SameStep", **options)


def test_the_adaptor_tells_stable_baselines_what_the_games_do():
    vec_env = TurnVecEnv(same_step(BOX, 16))
    games, tables = same_step(BOX, 16), compile_game(ShutTheBox())
    vec_env.seed(3)
    seen, (observation, _) = vec_env.reset(), games.reset(seed=3)
    ended = 0
    for _ in range(30):
        assert vec_env.observation_space.contains(seen[0])
        assert (tables.observation[seen[:, 0]] == observation).all()
        masks = np.stack(vec_env.env_method("action_masks"))
        assert (masks == tables.legal(seen[:, 0])).all()
        actions = masks.argmax(axis=1)
        seen, rewards, dones, infos = vec_env.step(actions)
        observation, reward, over, _, _ = games.step(actions)
        assert rewards == pytest.approx(reward / 45)
        assert (dones == over).all()
        assert infos == [{}] * 16
        ended += over.sum()
    assert ended > 50


def test_the_adaptor_wants_same_step():
    with pytest.raises(ValueError, match="needs autoreset mode SameStep, not NextStep"):
        TurnVecEnv(gym.make_vec(BOX, 4))


def test_unary_observations():
    seen = unary(np.array([[0, 0, 0], [2, 1, 1], [3, 0, 2]], np.uint8), np.array([3, 1, 2]))
    assert seen.tolist() == [[0, 0, 0, 0, 0, 0], [1, 1, 0, 1, 1, 0], [1, 1, 1, 0, 1, 1]]


def test_networks_tell_all_nodes_apart_and_know_what_is_legal():
    tables = compile_game(ShutTheBox(tiles=6))
    network = NodeNetwork(tables, 3, 16, 4)
    output = network(torch.arange(tables.nodes))
    assert len(torch.unique(output, dim=0)) == tables.nodes
    assert (network.legal.numpy() == tables.legal()).all()
    assert set(network.state_dict()) >= {"states.weight", "nodes.weight"}  # and none of the game's own arrays:
    assert not any(name.startswith(("_", "legal")) for name in network.state_dict())


def test_networks_learn_a_vector_of_every_state_and_every_node():
    tables = compile_game(ShutTheBox(tiles=6))
    network = NodeNetwork(tables, 3, 16, 4)
    nodes = tables.decisions[[5, 90]]
    network(torch.as_tensor(nodes)).sum().backward()
    for vectors, places in ((network.nodes, nodes), (network.states, tables.node_state[nodes])):
        learns = vectors.weight.grad.abs().sum(dim=1).nonzero().ravel()
        assert learns.tolist() == sorted(places.tolist())


def test_policies_of_large_games_are_asked_for_in_parts(monkeypatch):
    agent, game = learner("ppo"), ShutTheBox(tiles=6)
    greedy, exploring = policies(game, agent)
    monkeypatch.setattr(policy_array, "AT_ONCE", 100)
    assert (policies(game, agent)[0] == greedy).all()
    assert policies(game, agent)[1] == pytest.approx(exploring, abs=1e-6)


def test_the_entropy_bonus_falls_to_nothing():
    ppo = learner("ppo")
    ppo.learn(4 * 64 * 16, Stop(2 * 64 * 16))
    assert ppo.ent_coef == pytest.approx(SMALL["ppo"].entropy / 2)
    ppo.learn(4 * 64 * 16)
    assert ppo.ent_coef == 0


def test_dqn_warms_up_with_random_moves():
    dqn = Config("dqn", BOX, replace(SMALL["dqn"], exploration=0.0), {"tiles": 6}).learner()
    dqn.learn(900)
    nodes, actions = (
        array[: dqn.replay_buffer.pos].ravel() for array in (dqn.replay_buffer.observations, dqn.replay_buffer.actions)
    )
    most = np.bincount(nodes).argmax()
    assert len(set(actions[nodes == most])) == dqn.q_net.network.legal[most].sum() > 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("env", "rules"), [(BOX, {"tiles": 6}), (THREES, {"dice": 3})])
def test_masks_work_both_ways(algorithm, env, rules):
    """Left only the optimal action, an untrained network is perfect; left all actions, it does what is illegal."""
    untrained = learner(algorithm, env, rules)
    game = Config(algorithm, env, SMALL[algorithm], rules).games().game
    tables, solution = compile_game(game), solve(game)
    only_optimal = np.zeros((tables.nodes, tables.actions), bool)
    only_optimal[tables.decisions, solution.policy[tables.decisions]] = True
    network = untrained.policy.actor if algorithm == "ppo" else untrained.policy.q_net.network

    def with_masks(masks):
        network.legal.copy_(torch.as_tensor(masks))
        return policies(game, untrained)

    for policy in with_masks(only_optimal):
        assert evaluate(game, policy).regret == 0
    assert evaluate(game, with_masks(tables.legal())[0]).regret > 0.1
    with pytest.raises(ValueError, match="illegal action"):
        evaluate(game, with_masks(np.ones_like(only_optimal))[0])


def test_ppo_looks_up_what_its_network_computes_before_and_after_an_update():
    ppo = learner("ppo", steps=10**6)
    ppo.learn(64 * 16)
    for _ in range(2):
        seen = torch.as_tensor(ppo._last_obs)
        ppo.policy.set_training_mode(False)
        actions, values, log_probability = ppo.policy(seen)
        assert torch.equal(ppo.policy.predict_values(seen), values)
        computed = ppo.policy.evaluate_actions(seen, actions)
        assert values[:, 0].tolist() == pytest.approx(computed[0].tolist(), abs=1e-6)
        assert log_probability.tolist() == pytest.approx(computed[1].tolist(), abs=1e-6)
        ppo.learn(10**6, Stop(64 * 16), reset_num_timesteps=False)
        assert abs(ppo.policy.evaluate_actions(seen, actions)[1] - computed[1]).max() > 1e-4


def test_ppo_samples_legal_actions_as_often_as_it_says_and_knows_their_entropy():
    ppo = learner("ppo")
    node = int(compile_game(ShutTheBox(tiles=6)).legal().sum(axis=1).argmax())
    seen = torch.full((20_000, 1), node)
    actions, _, _ = ppo.policy(seen)
    share = np.bincount(actions, minlength=ppo.action_space.n) / 20_000
    assert share == pytest.approx(ppo.probabilities(np.array([node]))[0], abs=0.02)
    legal = ppo.policy.actor.legal[node]
    entropy = ppo.policy.evaluate_actions(seen[:1], actions[:1])[2]
    assert entropy.exp().item() == pytest.approx(legal.sum().item(), rel=1e-2)  # untrained, all nearly equal
    greedy = ppo.predict(seen[:3].numpy(), deterministic=True)[0]
    assert (greedy == ppo.probabilities(np.array([node])).argmax()).all()


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
    masks = torch.tensor([[0, 1, 1, 0, 1]] * 30_000)
    chosen = np.bincount(random_legal(masks), minlength=5) / 30_000
    assert chosen == pytest.approx([0, 1 / 3, 1 / 3, 0, 1 / 3], abs=0.02)
    assert random_legal(torch.zeros(3, 5)).tolist() == [0, 0, 0]


def test_dqn_replays_what_happened():
    game, dqn = ShutTheBox(tiles=6), learner("dqn")
    dqn.learn(3000)
    tables, buffer = compile_game(game), dqn.replay_buffer
    nodes, actions, after, over, rewards = (
        array[: buffer.pos].ravel()
        for array in (buffer.observations, buffer.actions, buffer.next_observations, buffer.dones, buffer.rewards)
    )
    assert tables.legal()[nodes, actions].all()
    led_to = np.full((tables.nodes, tables.actions), -1)
    led_to[tables.edge_node, tables.edge_action] = tables.edge_next
    state = led_to[nodes, actions]
    goes_on = over == 0
    assert 0 < goes_on.mean() < 1
    assert (tables.node_state[after[goes_on]] == state[goes_on]).all()
    points = tables.final_score[state]
    assert rewards == pytest.approx(np.where(goes_on, 0, -points / 21), abs=1e-6)


def test_dqn_targets_take_the_best_legal_action_of_the_target_network(monkeypatch):
    dqn = learner("dqn")
    dqn.learn(1500)
    legal = dqn.q_net.network.legal.numpy()
    with torch.no_grad():  # illegal actions would win everywhere, were they not masked
        for network in (dqn.q_net, dqn.q_net_target):  # and each network prefers other actions
            network.network.perceptron[-1].bias += 10 * torch.randperm(legal.shape[1])
    dqn._future = None
    batch, checked = dqn.replay_buffer.sample(128), []
    monkeypatch.setattr(dqn.replay_buffer, "sample", lambda size: batch)
    after = batch.next_observations[:, 0].long()
    values = np.where(legal[after], dqn.q_net_target.network(after).detach().numpy(), -np.inf).max(axis=1)
    rewards, over = batch.rewards[:, 0].numpy(), batch.dones[:, 0].numpy() == 1
    expected = np.where(over, rewards, rewards + values)
    original = torch.nn.functional.mse_loss

    def check(value, aim):
        assert aim.tolist() == pytest.approx(expected.tolist(), rel=1e-5)
        checked.append(value)
        return original(value, aim)

    monkeypatch.setattr(torch.nn.functional, "mse_loss", check)
    dqn.train(1, 128)
    assert len(checked) == 1


def test_dqn_looks_up_the_values_of_the_target_network_of_the_moment():
    dqn = learner("dqn")
    dqn.learn(2 * 1000 + 64)
    kept = dqn.future().clone()
    dqn.learn(500, reset_num_timesteps=False)
    assert torch.equal(dqn.future(), kept)
    dqn.learn(1000, reset_num_timesteps=False)
    assert not torch.equal(dqn.future(), kept)
    over = ~dqn.q_net.network.legal.any(dim=1)
    assert not dqn.future()[over].any()
    dqn._future, looked_up = None, dqn.future()
    assert torch.equal(dqn.future(), looked_up)


def test_dqn_explores_game_by_game():
    dqn = learner("dqn")
    many = np.repeat(dqn.env.reset()[:1], 4000, axis=0)
    dqn.exploration_rate = 0.5
    greedy = dqn.predict(many, deterministic=True)[0]
    assert len(set(greedy)) == 1
    legal = int(dqn.q_net.network.legal[many[0, 0]].sum())
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
        (PPOSettings(batch_size=100_000), "batch_size must be from 2 to games x n_steps, 16384, not 100000"),
        (PPOSettings(gae_lambda=5.0), "gae_lambda must not be above 1"),
        (PPOSettings(clip_range=0.0), "clip_range must lie between 0 and 1"),
        (PPOSettings(width=10**8), "width must be an integer from 1 to 4096"),
        (PPOSettings(embedding=10**8), "embedding must be an integer from 1 to 4096"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Config("ppo", BOX, settings)
