"""Learners: the adaptor to stable-baselines3, masks both ways, replay and targets, determinism, and learning."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback

from agents import policy_array
from agents.checkpoints import load_snapshot, save_snapshot
from agents.config import ALGORITHMS, Config, Task
from agents.dqn import random_legal
from agents.networks import NodeNetwork, unary
from agents.policy_array import policies, value_error
from agents.presets import read_presets
from agents.qrdqn import MaskedQRDQN
from agents.replay import NodeReplayBuffer
from agents.stock import STOCK
from agents.vec_env import NodeVecEnv
from stb_gym import ShutTheBox, compile_game, evaluate, solve, strategy
from tests import SMALL_PRESETS

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
SMALL = read_presets(SMALL_PRESETS)
SIX = Task(BOX, {"tiles": 6})
SB3 = ["ppo", "dqn", "qrdqn"]
OWN = [algorithm for algorithm in ALGORITHMS if algorithm not in STOCK]  # the others have tests of their own


def config(algorithm, task=SIX, **options):
    return SMALL.config(algorithm, task, **options)


def learner(algorithm, task=SIX, **options):
    return config(algorithm, task, **options).learner()


def settings(algorithm, **changes):
    return replace(config(algorithm).settings, **changes)


class Stop(BaseCallback):
    """Ends the learning after some more steps, at the pace of one that goes on."""

    def __init__(self, steps):
        super().__init__()
        self.left = steps

    def _on_step(self):
        self.left -= self.training_env.num_envs
        return self.left >= 0


def same_step(name, num_envs, **options):
    return gym.make_vec(name, num_envs, autoreset_mode="SameStep", **options)


def test_the_adaptor_gives_stable_baselines_what_the_vector_environment_gives():
    vec_env = NodeVecEnv(same_step(BOX, 16))
    envs, tables = same_step(BOX, 16), compile_game(ShutTheBox())
    vec_env.seed(3)
    seen, (observation, _) = vec_env.reset(), envs.reset(seed=3)
    ended = 0
    for _ in range(30):
        assert vec_env.observation_space.contains(seen[0])
        assert (tables.observation[seen[:, 0]] == observation).all()
        masks = np.stack(vec_env.env_method("action_masks"))
        assert (masks == tables.legal(seen[:, 0])).all()
        actions = masks.argmax(axis=1)
        seen, rewards, dones, infos = vec_env.step(actions)
        observation, reward, over, _, _ = envs.step(actions)
        assert rewards == pytest.approx(reward / 45)
        assert (dones == over).all()
        assert infos == [{}] * 16
        ended += over.sum()
    assert ended > 50


def test_the_adaptor_wants_same_step():
    with pytest.raises(ValueError, match="needs autoreset mode SameStep, not NextStep"):
        NodeVecEnv(gym.make_vec(BOX, 4))


def test_unary_observations():
    seen = unary(np.array([[0, 0, 0], [2, 1, 1], [3, 0, 2]], np.uint8), np.array([3, 1, 2]))
    assert seen.tolist() == [[0, 0, 0, 0, 0, 0], [1, 1, 0, 1, 1, 0], [1, 1, 1, 0, 1, 1]]


def test_networks_tell_all_nodes_apart_and_know_what_is_legal():
    tables = compile_game(ShutTheBox(tiles=6))
    network = NodeNetwork(tables, 3, 16, 4, masks=True)
    output = network(torch.arange(tables.nodes))
    assert len(torch.unique(output, dim=0)) == tables.nodes
    assert (network.legal.numpy() == tables.legal()).all()
    assert set(network.state_dict()) >= {"states.weight", "nodes.weight"}  # and none of the game's own arrays:
    assert not any(name.startswith(("_", "legal")) for name in network.state_dict())


def test_networks_learn_an_embedding_of_every_state_and_every_node():
    tables = compile_game(ShutTheBox(tiles=6))
    network = NodeNetwork(tables, 3, 16, 4, masks=True)
    nodes = tables.decisions[[5, 90]]
    network(torch.as_tensor(nodes)).sum().backward()
    for embeddings, places in ((network.nodes, nodes), (network.states, tables.node_state[nodes])):
        learns = embeddings.weight.grad.abs().sum(dim=1).nonzero().ravel()
        assert learns.tolist() == sorted(places.tolist())


@pytest.mark.parametrize("algorithm", SB3)
def test_without_embeddings_networks_see_the_observation_alone(algorithm):
    game = ShutTheBox(tiles=6)
    tables = compile_game(game)
    network = NodeNetwork(tables, 3, 16, 0, masks=True)
    seen = torch.as_tensor(tables.observation, dtype=torch.float32)
    assert (network(torch.arange(tables.nodes)) == network.perceptron(seen)).all()
    agent = learner(algorithm, changes={"embedding": 0})
    before = evaluate(game, policies(game, agent)[0]).regret
    agent.learn_until(10_000, lambda: None)
    assert evaluate(game, policies(game, agent)[0]).regret < before / 2


def test_policies_of_large_games_are_asked_for_in_parts(monkeypatch):
    agent, game = learner("ppo"), ShutTheBox(tiles=6)
    greedy, exploring = policies(game, agent)
    monkeypatch.setattr(policy_array, "AT_ONCE", 100)
    assert (policies(game, agent)[0] == greedy).all()
    assert policies(game, agent)[1] == pytest.approx(exploring, abs=1e-6)


def test_the_entropy_bonus_falls_to_nothing():
    ppo = learner("ppo")
    ppo.learn(4 * 64 * 16, Stop(2 * 64 * 16))
    assert ppo.ent_coef == pytest.approx(config("ppo").settings.entropy / 2)
    ppo.learn(4 * 64 * 16)
    assert ppo.ent_coef == 0


def test_dqn_warms_up_with_random_moves():
    dqn = learner("dqn", changes={"exploration": 0.0})
    dqn.learn(900)
    nodes, actions = dqn.replay_buffer.rows["node"], dqn.replay_buffer.rows["action"]
    most = np.bincount(nodes).argmax()
    assert len(set(actions[nodes == most])) == dqn.q_net.network.legal[most].sum() > 1


@pytest.mark.parametrize("algorithm", SB3)
@pytest.mark.parametrize("task", [SIX, Task(THREES, {"dice": 3})])
def test_masks_work_both_ways(algorithm, task):
    """Left only the optimal action, an untrained network is perfect; left all actions, it does what is illegal."""
    untrained, game = learner(algorithm, task), task.game()
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


@pytest.mark.parametrize("drawn", [0.0, 1 - 2**-24])
def test_ppo_samples_legal_actions_whatever_is_drawn(drawn, monkeypatch):
    ppo = learner("ppo")
    ppo.learn(64 * 16)
    nodes = compile_game(ShutTheBox(tiles=6)).decisions
    monkeypatch.setattr(torch, "rand", lambda *shape: torch.full(shape, drawn))
    actions, _, _ = ppo.policy(torch.as_tensor(nodes)[:, None])
    legal = ppo.policy.actor.legal[nodes]
    extreme = legal.int().argmax(dim=1) if drawn == 0 else legal.shape[1] - 1 - legal.flip(1).int().argmax(dim=1)
    assert (actions == extreme).all()


def test_ppo_computes_a_node_once_between_updates(monkeypatch):
    ppo = learner("ppo")
    seen = torch.arange(5, 25)[:, None]
    first = ppo.policy(seen, deterministic=True)
    asked, forward = [], ppo.policy.critic.forward
    monkeypatch.setattr(ppo.policy.critic, "forward", lambda nodes: asked.append(len(nodes)) or forward(nodes))
    assert all(torch.equal(one, other) for one, other in zip(first, ppo.policy(seen, deterministic=True), strict=True))
    assert sum(asked) == 0


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


@pytest.mark.parametrize("algorithm", OWN)
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
    tables, rows = compile_game(game), dqn.replay_buffer.rows
    assert len(rows) == dqn.num_timesteps >= 3000
    assert tables.legal()[rows["node"], rows["action"]].all()
    led_to = np.full((tables.nodes, tables.actions), -1)
    led_to[tables.edge_node, tables.edge_action] = tables.edge_next
    state = led_to[rows["node"], rows["action"]]
    goes_on = rows["next"] < tables.nodes
    assert 0 < goes_on.mean() < 1
    assert (tables.node_state[rows["next"][goes_on]] == state[goes_on]).all()
    points = tables.final_score[state]
    assert rows["reward"] == pytest.approx(np.where(goes_on, 0, -points / 21), abs=1e-6)


def test_the_replay_buffer_forgets_the_oldest_and_samples_all_it_holds():
    nodes = gym.spaces.Box(0, 1000, (1,), np.int32)
    buffer = NodeReplayBuffer(25, nodes, gym.spaces.Discrete(5), n_envs=10, optimize_memory_usage=False)
    for step in range(4):
        seen = step * 10 + np.arange(10)
        buffer.add(seen[:, None], seen[:, None] + 1, seen % 5, seen / 2, seen % 10 == 9, None)
        assert len(buffer.rows) == min(10 * step + 10, 25)
    assert sorted(buffer.rows["node"]) == list(range(15, 40))
    batch = buffer.sample(2000)
    assert set(batch.node.tolist()) == set(range(15, 40))
    assert (batch.action == batch.node % 5).all()
    assert (batch.reward == batch.node / 2).all()
    assert (batch.next == torch.where(batch.node % 10 == 9, 1000, batch.node + 1)).all()


def test_a_replay_buffer_goes_on_from_the_rows_of_another():
    def add(buffer, first):
        seen = first + np.arange(10)
        buffer.add(seen[:, None], seen[:, None], seen % 5, seen, seen < 0, None)

    nodes = gym.spaces.Box(0, 1000, (1,), np.int32)
    for steps in (1, 3, 4):
        one, other = (
            NodeReplayBuffer(25, nodes, gym.spaces.Discrete(5), n_envs=10, optimize_memory_usage=False)
            for _ in range(2)
        )
        for step in range(steps):
            add(one, 10 * step)
        other.restore(one.rows.copy(), one.pos)
        for buffer in (one, other):
            add(buffer, 500)
        assert one.rows.tolist() == other.rows.tolist()


@pytest.mark.parametrize("algorithm", ["dqn", "qrdqn"])
def test_dqn_targets_take_the_best_legal_action_of_the_target_network(algorithm, monkeypatch):
    dqn = learner(algorithm)
    dqn.learn(1500)
    legal = dqn.q_net.network.legal.numpy()
    with torch.no_grad():  # illegal actions would win everywhere, were they not masked
        for network in (dqn.q_net, dqn.q_net_target):  # and each network prefers other actions
            bias = network.network.perceptron[-1].bias
            bias += 10 * torch.randperm(len(bias))
    dqn._future = None
    batch, checked = dqn.replay_buffer.sample(128), []
    monkeypatch.setattr(dqn.replay_buffer, "sample", lambda size: batch)
    over = batch.next.numpy() == len(legal)
    after = np.where(over, 0, batch.next.numpy())
    estimates = dqn.q_net_target.network(torch.as_tensor(after)).detach().numpy().reshape(128, legal.shape[1], -1)
    best = np.where(legal[after], estimates.mean(axis=2), -np.inf).argmax(axis=1)
    future = np.where(over[:, None], 0, estimates[np.arange(128), best])
    expected = batch.reward.numpy()[:, None] + future
    original = type(dqn).loss

    def check(value, aim):
        assert aim.numpy() == pytest.approx(expected, rel=1e-5)
        checked.append(value)
        return original(value, aim)

    monkeypatch.setattr(type(dqn), "loss", staticmethod(check))
    dqn.train(1, 128)
    assert len(checked) == 1


def test_quantiles_are_those_of_the_returns():
    target = torch.tensor([0.0] * 50 + [1.0] * 30 + [5.0] * 20)[:, None]
    value = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.Adam([value], lr=0.05)
    for step in range(2000):
        optimizer.param_groups[0]["lr"] = 0.05 * (1 - step / 2000)
        optimizer.zero_grad()
        MaskedQRDQN.loss(value.repeat(100, 1), target).backward()
        optimizer.step()
    assert value.tolist() == pytest.approx([0, 0, 1, 5], abs=0.05)  # of 1/8, 3/8, 5/8, 7/8


def test_dqn_looks_up_the_values_of_the_target_network_of_the_moment():
    dqn = learner("dqn")
    dqn.learn(2 * 1000 + 64)
    kept = dqn.future().clone()
    dqn.learn(500, reset_num_timesteps=False)
    assert torch.equal(dqn.future(), kept)
    dqn.learn(1000, reset_num_timesteps=False)
    assert not torch.equal(dqn.future(), kept)
    over = ~dqn.q_net.network.legal.any(dim=1)
    assert not dqn.future()[:-1][over].any()
    assert not dqn.future()[-1].any()
    dqn._future, looked_up = None, dqn.future()
    assert torch.equal(dqn.future(), looked_up)


def test_dqn_explores_in_each_environment_by_itself():
    dqn = learner("dqn")
    many = np.repeat(dqn.env.reset()[:1], 4000, axis=0)
    dqn.exploration_rate = 0.5
    greedy = dqn.predict(many, deterministic=True)[0]
    assert len(set(greedy)) == 1
    legal = int(dqn.q_net.network.legal[many[0, 0]].sum())
    agreeing = (dqn.predict(many)[0] == greedy).mean()
    assert agreeing == pytest.approx(0.5 + 0.5 / legal, abs=0.04)


@pytest.mark.parametrize("algorithm", OWN)
def test_same_seed_same_weights(algorithm):
    def trained(seed):
        agent = learner(algorithm, seed=seed)
        agent.learn_until(2500, lambda: None)
        return np.concatenate([weights.ravel() for weights in agent.weights().values()])

    assert (trained(1) == trained(1)).all()
    assert (trained(1) != trained(2)).any()


@pytest.mark.parametrize("algorithm", OWN)
@pytest.mark.parametrize(("name", "seed"), [("three-tiles", 0), ("two-dice", 1)])
def test_learners_learn(algorithm, name, seed):
    task = SMALL.tasks[name]
    training = config(algorithm, task, seed=seed)
    agent, game = training.learner(), task.game()
    random = evaluate(game, strategy(game, "random")).regret
    agent.learn_until(training.steps, lambda: None)
    greedy, exploring = (evaluate(game, policy) for policy in policies(game, agent))
    assert greedy.regret <= 0.05 < random / 4
    assert greedy.regret <= exploring.regret
    assert value_error(agent, greedy) < 0.5


def test_the_error_of_values_is_weighted_by_visits_and_in_points():
    game = ShutTheBox(tiles=6)
    evaluation = evaluate(game, solve(game).policy)

    class Knows:
        def values(self, nodes):
            return evaluation.optimum.node_utility[nodes] + np.where(nodes == often, 3.0, 0)

    often = int(evaluation.visits[evaluation.tables.decisions].argmax())
    often = int(evaluation.tables.decisions[often])
    visits = evaluation.visits[evaluation.tables.decisions].sum()
    assert value_error(Knows(), evaluation) == pytest.approx((9 * evaluation.visits[often] / visits) ** 0.5)


@pytest.mark.parametrize("algorithm", OWN)
def test_a_learner_that_went_on_goes_back_to_its_snapshot(algorithm, tmp_path):
    agent = learner(algorithm)
    agent.learn_until(3000, lambda: None)
    save_snapshot(tmp_path / "snapshot", agent.snapshot())
    ends = []
    for _ in range(2):
        agent.learn_until(6000, lambda: None)
        ends.append(np.concatenate([array.ravel() for array in agent.weights().values()]))
        agent.restore(load_snapshot(tmp_path / "snapshot"))
        assert 3000 <= agent.num_timesteps < 6000
    assert (ends[0] == ends[1]).all()


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_without_masks_illegal_actions_are_tried_and_what_they_cost_is_learned(algorithm):
    task = SMALL.tasks["five-tiles"]
    training, game = config(algorithm, task, variant="no-masks"), task.game()
    agent = training.learner()
    decisions = compile_game(game).decisions
    assert (agent.probabilities(decisions) > 0).all()
    before = evaluate(game, policies(game, agent)[1], illegal="end")
    agent.learn_until(training.steps, lambda: None)
    after = evaluate(game, policies(game, agent)[1], illegal="end")
    assert before.illegal_mass > 0.8
    assert 0 < after.illegal_mass < before.illegal_mass
    assert after.value < before.value


@pytest.mark.parametrize("algorithm", OWN)
def test_what_is_scheduled_ends_with_the_training(algorithm):
    agent, begun = learner(algorithm), []
    agent.learn_until(5000, lambda: begun.append(agent.num_timesteps))
    assert begun[0] == 0
    assert begun == sorted(set(begun))
    assert begun[-1] < 5000 <= agent.num_timesteps


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_configurations_go_through_json(algorithm):
    whole = config(algorithm, Task(BOX, {"tiles": 12}, "shut"), steps=10_000, seed=7)
    assert Config.from_json(whole.to_json()) == whole
    assert whole.digest() == Config.from_json(whole.to_json()).digest()
    assert whole.digest() != replace(whole, seed=8).digest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithm": "a2c"}, "unknown algorithm 'a2c': allowed are ppo, dqn"),
        ({"task": {"env": "CartPole-v1"}}, "unknown environment 'CartPole-v1': allowed are stb_gym/ShutTheBox-v0"),
        ({"task": {"rules": {"tile": 3}}}, "unknown rule 'tile'"),
        ({"task": {"rules": {"objective": "shut"}}}, "unknown rule 'objective': allowed are tiles, dice, faces, score"),
        ({"task": {"rules": 3}}, "rules must be an object of entries"),
        ({"task": {"objective": "win"}}, "unknown objective"),
        ({"task": {"mood": "good"}}, "unknown entry 'mood'"),
        ({"steps": 0}, "steps must be an integer from 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"settings": {"width": 0}}, "width must be an integer from 1"),
        ({"settings": {"masks": 1.5}}, "masks must be true or false, not 1.5"),
        ({"settings": {"learning_rate": float("nan")}}, "learning_rate must be a number, 0 or more"),
        ({"settings": {"momentum": 1}}, "unknown setting 'momentum': allowed are masks, num_envs"),
        ({"colour": 1}, "unknown entry 'colour'"),
    ],
)
def test_configurations_that_are_none_are_refused(change, message):
    whole = config("ppo").to_json()
    merged = {name: {**whole[name], **entry} if isinstance(entry, dict) else entry for name, entry in change.items()}
    with pytest.raises(ValueError, match=message):
        Config.from_json({**whole, **merged})


@pytest.mark.parametrize(("algorithm", "first"), [("ppo", 1024), ("dqn", 1024), ("qrdqn", 1024), ("q-learning", 0)])
def test_a_training_that_ends_before_it_begins_to_learn_is_refused(algorithm, first):
    agent = learner(algorithm, steps=first + 1)
    before = {name: array.copy() for name, array in agent.weights().items()}
    agent.learn_until(first + 1, lambda: None)
    assert any((array != before[name]).any() for name, array in agent.weights().items())
    with pytest.raises(ValueError, match=f"steps must be {f'above {first:,}, where {algorithm}' if first else ''}"):
        config(algorithm, steps=first)


def test_configurations_that_are_not_whole_are_refused():
    whole = config("ppo").to_json()
    with pytest.raises(ValueError, match="the entry 'steps' is missing"):
        Config.from_json({name: value for name, value in whole.items() if name != "steps"})
    with pytest.raises(ValueError, match="the setting 'entropy' is missing"):
        Config.from_json({**whole, "settings": {k: v for k, v in whole["settings"].items() if k != "entropy"}})
    with pytest.raises(ValueError, match="a Config is an object of entries, not 3"):
        Config.from_json(3)


@pytest.mark.parametrize(
    ("algorithm", "changes", "message"),
    [
        (
            "ppo",
            {"num_envs": 1, "n_steps": 1, "batch_size": 1},
            "batch_size must be from 2 to num_envs x n_steps, 1, not 1",
        ),
        ("ppo", {"batch_size": 100_000}, "batch_size must be from 2 to num_envs x n_steps, 1024, not 100000"),
        ("ppo", {"gae_lambda": 5.0}, "gae_lambda must not be above 1, as 5.0 is"),
        ("ppo", {"clip_range": 0.0}, "clip_range must lie between 0 and 1"),
        ("ppo", {"width": 10**8}, "width must be an integer from 1 to 4096"),
        ("ppo", {"num_envs": 5, "n_steps": 5, "batch_size": 8}, "batch_size 8 leaves one of 25 samples for a batch"),
        ("ppo", {"embedding": 10**8}, "embedding must be an integer from 0 to 4096"),
        ("dqn", {"batch_size": 0}, "batch_size must be an integer from 1 to"),
        ("dqn", {"exploration": 1.0}, "exploration must be below 1"),
        ("qrdqn", {"quantiles": 1000}, "quantiles must be an integer from 1 to 256"),
        ("q-learning", {"exploration": 1.0}, "exploration must be below 1"),
        ("afterstates", {"horizon": 0.5}, "horizon must be 1 or more"),
    ],
)
def test_settings_without_a_meaning_are_refused(algorithm, changes, message):
    with pytest.raises(ValueError, match=message):
        config(algorithm, changes=changes)


def test_a_place_of_the_table_moves_to_its_mean_target_by_a_step_that_shrinks_with_its_updates():
    """With one tile and one coin, half of the turns are lost at once: "no move" is worth -1, all the same always."""
    coin = Task(BOX, {"tiles": 1, "dice": 1, "faces": 2})
    agent = learner("q-learning", coin, changes={"horizon": 3.0, "num_envs": 8})
    value, updates = 0.0, 0
    for _ in range(5):
        nodes = agent._envs.nodes.copy()
        lost = compile_game(ShutTheBox(tiles=1, dice=1, faces=2)).decisions[-1]
        count = int((nodes == lost).sum())
        agent._step()
        if count:
            updates += count
            value += min(3 * count / (3 + updates), 1) * (-1 - value)
        assert agent.values(np.array([lost])) == pytest.approx([value])
    assert updates > 10
    assert agent._updates.sum() == 5 * 8


@pytest.mark.parametrize("algorithm", ["q-learning", "afterstates"])
def test_exploration_and_dice_have_random_numbers_of_their_own(algorithm):
    agent = learner(algorithm)
    stream = agent._random.bit_generator.state["state"]["inc"]
    assert agent._envs.np_random.bit_generator.state["state"]["inc"] != stream
    assert learner(algorithm)._random.bit_generator.state == agent._random.bit_generator.state
    assert learner(algorithm, seed=1)._random.bit_generator.state != agent._random.bit_generator.state


@pytest.mark.parametrize("algorithm", ["q-learning", "afterstates"])
def test_tabular_learners_explore_as_they_say(algorithm, monkeypatch):
    agent = learner(algorithm, changes={"exploration": 0.9, "num_envs": 4000})
    made, step = [], agent._envs.step
    monkeypatch.setattr(agent._envs, "step", lambda actions: made.append(actions) or step(actions))
    nodes, said = agent._envs.nodes.copy(), agent.probabilities
    node = int(np.bincount(nodes, compile_game(ShutTheBox(tiles=6)).legal().sum(axis=1)[nodes]).argmax())
    expected = said(np.array([node]))[0]
    agent._step()
    actions = made[0][nodes == node]
    assert len(actions) > 400
    assert np.bincount(actions, minlength=len(expected)) / len(actions) == pytest.approx(expected, abs=0.08)
    assert (expected > 0).sum() >= 3
