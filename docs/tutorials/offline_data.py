"""Write data sets of five behaviour policies, learn from each one offline, and print the exact values of the results.

Minari stores the data sets. The offline learner, CQL, and one of two off-policy estimators come from d3rlpy.

    PYTHONPATH=. python docs/tutorials/offline_data.py --steps 1000
"""

import argparse
import os
import warnings
from types import SimpleNamespace

import d3rlpy
import gymnasium as gym
import minari
import numpy as np
import structlog
import torch
from minari.data_collector import EpisodeBuffer

import stb_gym
from agents.presets import configure
from stb_gym.tracking import ProgressBar

ENV = "stb_gym/ShutTheBox-v0"
METER = stb_gym.RegretMeter(gym.make(ENV))
OPTIMUM, TABLES = METER.solution, METER.solution.tables  # S = 5,622 states, A = 62 actions
NETWORK = {"batch_size": 64, "learning_rate": 1e-3, "gamma": 1.0, "target_update_interval": 100}


def behaviours(seed):
    """Return the behaviour policies by name, as [S, A] probabilities."""
    config = configure("q-learning", ENV, {}, "quick", seed=seed)
    learner = config.make_learner(config.make_envs())
    learner.learn(30_000)
    half_trained = exploring(learner)
    learner.learn(1_000_000)
    return {
        "random": stb_gym.strategy(METER.game, "random"),
        "biggest-first": one_hot(stb_gym.strategy(METER.game, "biggest-first")),
        "half-trained": half_trained,
        "trained": exploring(learner),
        "perfect": one_hot(OPTIMUM.policy),
    }


def exploring(learner):
    """Return the [S, A] probabilities of a learner that takes 15% random actions."""
    return 0.85 * one_hot(METER.policy(learner.act)) + 0.15 * stb_gym.strategy(METER.game, "random")


def one_hot(actions):
    """Return the [S, A] probabilities of a policy of actions [S]."""
    return np.eye(TABLES.num_actions)[actions] * TABLES.legal


def play(policy, episodes, seed):
    """Play one turn in each of many games at once; return a buffer for each turn."""
    envs = gym.make_vec(ENV, num_envs=episodes)
    draws = np.random.default_rng([seed, 1])  # for actions; the environment throws the dice
    observation, info = envs.reset(seed=seed)
    observations, masks, steps = [observation], [info["action_mask"]], []
    lengths, over = np.zeros(episodes, int), np.zeros(episodes, bool)
    while not over.all():  # a new turn that starts after the first one is not recorded
        probabilities = policy[envs.states]
        upper = probabilities.cumsum(axis=1)
        action = (upper > draws.random((episodes, 1)) * upper[:, -1:]).argmax(axis=1)
        observation, reward, terminated, _, info = envs.step(action)
        observations.append(observation)
        masks.append(info["action_mask"])
        steps.append((action, reward, probabilities[np.arange(episodes), action]))
        lengths += ~over
        over |= terminated
    observations, masks = np.stack(observations, axis=1), np.stack(masks, axis=1)
    actions, rewards, chosen = (np.stack(column, axis=1) for column in zip(*steps, strict=True))
    return [
        EpisodeBuffer(
            observations=observations[game, : end + 1],
            actions=actions[game, :end],
            rewards=rewards[game, :end],
            terminations=np.arange(end) == end - 1,
            truncations=np.zeros(end, bool),
            infos={"action_mask": masks[game, : end + 1], "action_probability": chosen[game, :end]},
        )
        for game, end in enumerate(lengths)
    ]


def write(name, policy, episodes, seed):
    """Write a Minari data set with its environment and the exact value of its behaviour; return it."""
    exact = OPTIMUM.evaluate(policy)
    dataset = minari.create_dataset_from_buffers(
        f"stb_gym/nine-tiles-{name}-v0",
        play(policy, episodes, seed),
        env=ENV,
        algorithm_name=name,
        description=f"{episodes} turns of nine tiles. The behaviour leaves {exact.value:.6f} points on average.",
        ref_min_score=-exact.random_value,
        ref_max_score=-OPTIMUM.value,
    )
    dataset.storage.update_metadata({"behaviour_mean_points": exact.value, "behaviour_regret": exact.regret})
    return dataset


def read(dataset):
    """Return the steps of all episodes, joined, and the index where each episode starts."""
    episodes = list(dataset)
    observations = np.concatenate([episode.observations[:-1] for episode in episodes])
    return SimpleNamespace(
        observations=observations,
        states=TABLES.find_states(observations),
        actions=np.concatenate([episode.actions for episode in episodes]),
        rewards=np.concatenate([episode.rewards for episode in episodes]).astype(np.float32),
        terminations=np.concatenate([episode.terminations for episode in episodes]),
        probabilities=np.concatenate([episode.infos["action_probability"] for episode in episodes]),
        starts=np.cumsum([0, *map(len, episodes[:-1])]),
    )


def clone(data):
    """Return the policy [S, A] of the most frequent actions; uniform over legal actions at states without data."""
    counts = np.zeros((TABLES.num_states, TABLES.num_actions))
    np.add.at(counts, (data.states, data.actions), 1)
    chosen = TABLES.legal & (counts == counts.max(axis=1, keepdims=True))
    return chosen / chosen.sum(axis=1, keepdims=True).clip(min=1)


def fit(learner, data, steps):
    """Train a learner of d3rlpy and return it."""
    arrays = data.observations, data.actions, data.rewards, data.terminations
    buffer = d3rlpy.dataset.MDPDataset(*arrays, action_size=TABLES.num_actions)
    silent = d3rlpy.logging.NoopAdapterFactory()
    learner.fit(buffer, steps, n_steps_per_epoch=steps, logger_adapter=silent, show_progress=False)
    return learner


def cql_regrets(data, steps):
    """Train CQL without masks; return its exact regret when it plays without masks, and with them."""
    network = fit(d3rlpy.algos.DiscreteCQLConfig(**NETWORK).create(device="cpu:0"), data, steps).impl.q_function[0]

    def values(observations):
        with torch.no_grad():
            return network(torch.as_tensor(observations)).q_value.numpy()

    without_masks = METER(lambda observations: values(observations).argmax(axis=1))
    masked = METER(lambda observations, masks: np.where(masks, values(observations), -np.inf).argmax(axis=1))
    return without_masks.regret, masked.regret


def importance_sampling(data, target):
    """Estimate the mean points of a policy [S, A] by weighted importance sampling."""
    weights = np.multiply.reduceat(target[data.states, data.actions] / data.probabilities, data.starts)
    points = -np.add.reduceat(data.rewards, data.starts)
    return weights @ points / weights.sum()


def fitted_q_evaluation(data, target, steps):
    """Estimate the mean points of a deterministic policy [S, A] by d3rlpy's fitted Q evaluation."""
    scale = 0.1  # d3rlpy's loss is quadratic for errors below 1 only
    actions = torch.as_tensor(target.argmax(axis=1))
    policy = SimpleNamespace(predict_best_action=lambda observations: actions[TABLES.find_states(observations.numpy())])
    config = d3rlpy.ope.FQEConfig(reward_scaler=d3rlpy.preprocessing.MultiplyRewardScaler(scale), **NETWORK)
    evaluator = fit(d3rlpy.ope.DiscreteFQE(SimpleNamespace(impl=policy), config, device="cpu:0"), data, steps)
    first = data.observations[data.starts]
    return -evaluator.predict_value(first, actions[data.states[data.starts]].numpy()).mean() / scale


def main(steps, episodes=2_000, seed=0, folder="offline-data"):
    """Write the data sets to a folder, and print a Markdown table of what CQL and the estimators make of each."""
    torch.set_num_threads(1)
    d3rlpy.seed(seed)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))  # warnings and errors only
    warnings.filterwarnings("ignore", "`.*` is set to None", module="minari")  # metadata without a value
    os.environ["MINARI_DATASETS_PATH"] = folder
    policies = behaviours(seed)
    target = one_hot(policies["trained"].argmax(axis=1))
    exact = OPTIMUM.evaluate(target).value
    print("| data set | mean points | regret | regret of clone | of CQL, no masks | of CQL, masked ", end="")
    print(f"| importance sampling, exact {exact:.1f} | fitted Q evaluation, exact {exact:.1f} |")
    print("| --- |" + " ---: |" * 7)
    with ProgressBar("data sets learned from", len(policies), "data sets") as bar:
        for done, (name, policy) in enumerate(policies.items()):
            bar.tell(done, note=name)
            data = read(write(name, policy, episodes, seed))
            behaviour, cloned = OPTIMUM.evaluate(policy), OPTIMUM.evaluate(clone(data))
            measured = (behaviour.value, behaviour.regret, cloned.regret, *cql_regrets(data, steps))
            estimates = importance_sampling(data, target), fitted_q_evaluation(data, target, steps)
            cells = [f"{number:#.3g}" for number in measured]
            cells += [f"{estimate:.1f} ({estimate - exact:+.2f})" for estimate in estimates]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000, help="gradient steps of each network")
    parser.add_argument("--episodes", type=int, default=2_000, help="turns in each data set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", default="offline-data", help="a folder without data sets of these names")
    main(**vars(parser.parse_args()))
