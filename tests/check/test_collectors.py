"""Test the check of collectors: right ones of several styles pass, and each planted fault is found and named."""

from collections import defaultdict
from functools import partial

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from stb_gym.check import rollout
from tests import every
from tests.check import assert_named, assert_passes, assert_refused

MODES = ["NextStep", "SameStep", "Disabled"]
WEIGHTS = np.random.default_rng(0).normal(size=(11, 11))


def policy(observation, action_mask):
    """Return the probabilities of a linear softmax policy."""
    logits = np.where(action_mask, np.asarray(observation) @ WEIGHTS / 3, -np.inf)
    chances = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return chances / chances.sum(axis=-1, keepdims=True)


def act(random, observation, mask):
    """Return actions drawn from the policy, and their log-probabilities."""
    chances = policy(observation, mask)
    action = (chances.cumsum(axis=-1) > random.random((*chances.shape[:-1], 1))).argmax(axis=-1)
    return action, np.log(np.take_along_axis(chances, action[..., None], -1)[..., 0])


def play(env, resets=True):
    """Collect rows in one environment."""
    random = np.random.default_rng(0)
    rows = defaultdict(list)
    observation, info = env.reset(seed=3)
    was_done = True
    for _ in range(150):
        mask = info["action_mask"] != 0
        action, log_prob = act(random, observation, mask)
        next_observation, reward, terminated, truncated, info = env.step(int(action))
        done = terminated or truncated
        row = {
            "observation": observation, "action": action, "reward": reward, "next_observation": next_observation,
            "terminated": terminated, "truncated": truncated, "done": done, "episode_start": was_done,
            "action_mask": mask, "next_action_mask": info["action_mask"], "log_prob": log_prob,
        }  # fmt: skip
        for name, value in row.items():
            rows[name].append(value)
        observation = next_observation
        was_done = done
        if done and resets:
            observation, info = env.reset()
    return rows


def play_many(env, mode, fault="", seed=5):
    """Collect rows [T, B] in a vector environment; faults are planted by name."""
    random = np.random.default_rng(0)
    rows = defaultdict(list)
    observation, info = env.reset(seed=seed)
    was_done = np.zeros(env.num_envs, bool)
    for _ in range(40):
        mask = info["action_mask"] != 0
        action, log_prob = act(random, observation, mask)
        next_observation, reward, terminated, truncated, info = env.step(action)
        done = terminated | truncated
        final = next_observation.copy()
        next_mask = info["action_mask"] != 0
        if mode == "SameStep":
            for index in np.flatnonzero(done):
                if fault != "final-obs-lost":
                    final[index] = info["final_obs"][np.flatnonzero(done)[0] if fault == "first-final-obs" else index]
                if fault != "final-mask-lost":
                    next_mask[index] = info["final_info"]["action_mask"][index]
        row = {
            "observation": observation, "action": action, "reward": reward.copy(), "next_observation": final,
            "terminated": terminated.copy(), "truncated": truncated.copy(), "done": done, "episode_start": was_done,
            "action_mask": mask, "next_action_mask": next_mask, "log_prob": log_prob,
        }  # fmt: skip
        if mode == "NextStep" and fault != "autoreset-rows":
            row["valid"] = ~was_done
        for name, value in row.items():
            rows[name].append(value)
        observation = next_observation
        was_done = done
        if mode == "Disabled" and done.any():
            observation, info = env.reset(options={"reset_mask": done.copy()})
            info["action_mask"] = np.where(done[:, None], info["action_mask"], next_mask)
    return rows


def sample(rows):
    """Return samples of a replay buffer that holds the last 64 rows."""
    drawn = np.random.default_rng(0).integers(64, size=100)
    return {name: array[-64:][drawn] for name, array in rows.items()}


def check(mode, change=dict, **options):
    """Check a loop, with a change of its rows.

    Modes are those of vector environments, "single" for one environment, or "samples" for samples of its rows.
    """

    def collect(env):
        rows = play_many(env, mode, **options) if mode in MODES else play(env, **options)
        rows = change({name: np.array(values) for name, values in rows.items()})
        return sample(rows) if mode == "samples" else rows

    how = {"num_envs": 3, "autoreset": mode} if mode in MODES else {"shuffled": mode == "samples"}
    return rollout(collect, policy=policy, **how)


@pytest.mark.parametrize("mode", ["single", "samples", *MODES])
def test_right_loops_pass(mode):
    result = check(mode)
    assert result, result
    assert {case.name for case in result.cases if case.skipped} <= {"episode_start"}


@pytest.mark.parametrize(
    ("mode", "options", "words"),
    [
        ("single", {"resets": False}, "no reset"),
        ("SameStep", {"fault": "final-obs-lost"}, "the last observation of an episode is lost"),
        ("SameStep", {"fault": "first-final-obs"}, "next observation is that of another step or environment"),
        ("SameStep", {"fault": "final-mask-lost"}, "the last mask of an episode is lost"),
        ("NextStep", {"fault": "autoreset-rows"}, "rows of the autoreset step"),
        ("Disabled", {"seed": [5] * 3}, "all environments have the same seed"),
    ],
)
def test_faults_of_a_loop_are_named(mode, options, words):
    assert_named(check(mode, **options), words)


def unmasked(rows):
    """Return the log-probabilities of the actions under the policy without the mask."""
    chances = policy(rows["observation"], np.ones_like(rows["action_mask"]))
    return np.log(np.take_along_axis(chances, rows["action"][..., None], -1)[..., 0])


HELD = {  # what a field holds in the place of its own entries
    "never": lambda rows: np.zeros_like(rows["done"]),
    "all legal": lambda rows: np.ones_like(rows["action_mask"]),
    "signs": lambda rows: np.sign(rows["reward"]),
    "integers": lambda rows: rows["observation"].astype(np.uint8),
    "the last": lambda rows: np.full_like(rows["observation"], rows["observation"][-1]),
    "unmasked": unmasked,
}


@pytest.mark.parametrize("mode", every(5, ["single", "samples", *MODES]))
@pytest.mark.parametrize(
    ("field", "held", "words"),
    [
        ("reward", "signs", "rewards were scaled, clipped or normalized"),
        ("terminated", "done", "truncation is stored as termination"),
        ("terminated", "truncated", "terminated and truncated are swapped"),
        ("terminated", "never", "termination is never stored"),
        ("truncated", "done", "termination is stored as truncation"),
        ("truncated", "never", "truncation is never stored"),
        ("episode_start", "done", "the end flag of the step itself is stored where that of the"),
        ("action_mask", "next_action_mask", "the mask is that of the next observation"),
        ("action_mask", "all legal", "all actions are stored as legal"),
        ("next_action_mask", "action_mask", "that of the observation before the step"),
        ("log_prob", "unmasked", "the policy without the mask"),
        ("observation", "integers", "observations were scaled, cast"),
        ("observation", "the last", "the same array"),
        ("observation", "next_observation", "each observation is the one after its step"),
        ("next_observation", "observation", "the next observation is the one before the step"),
    ],
)
def test_faults_of_a_field_are_named(field, held, words, mode):
    result = check(mode, lambda rows: rows | {field: HELD[held](rows) if held in HELD else rows[held]})
    assert_named(result, words)


@pytest.mark.parametrize("mode", every(5, ["single", "samples", *MODES]))
@pytest.mark.parametrize("field", ["reward", "done", "action_mask", "log_prob"])
def test_shifted_fields_are_named(field, mode):
    result = check(mode, lambda rows: rows | {field: np.roll(rows[field], 1, axis=0)})
    assert_named(result, "is shifted: each row holds that of the step before")


def viewed(array):
    """Lay out an array [T, B, ...] environment by environment, and read it as [T, B, ...] without a transpose."""
    return array.swapaxes(0, 1).reshape(array.shape)


def ended(rows):
    """Return the rows, marked as terminated where the collector stops."""
    rows["terminated"][-1] = True
    return rows


@pytest.mark.parametrize("mode", every(3, MODES))
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows | {"reward": viewed(rows["reward"])}, "reward mixes environments"),
        (lambda rows: {name: viewed(array) for name, array in rows.items()}, "the batch mixes environments"),
        (lambda rows: {name: array[[*range(35, 40)] * 8] for name, array in rows.items()}, "steps are stored twice"),
        (lambda rows: {name: np.delete(array, range(20, 25), 0) for name, array in rows.items()}, "steps are left out"),
        (ended, "an unfinished episode is stored as terminated"),
    ],
)
def test_faults_of_the_order_of_rows_are_named(change, words, mode):
    assert_named(check(mode, change), words)


def only(keep):
    """Return a change that leaves out the rows for which `keep` is False."""
    return lambda rows: {name: array[keep(rows)] for name, array in rows.items() if name != "episode_start"}


def marked(keep):
    """Return a change that marks the rows for which `keep` is False as invalid."""
    return lambda rows: rows | {"valid": rows.get("valid", True) & keep(rows)}


LAST = "the last step of each episode is left out, or marked invalid"


@pytest.mark.parametrize("mode", every(3, ["single", *MODES]))
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (only(lambda rows: ~rows["terminated"]), LAST),
        (marked(lambda rows: ~rows["terminated"]), LAST),
        (marked(lambda rows: ~rows["done"]), LAST),
        (marked(lambda rows: rows["reward"] > 0), "steps are left out, or marked invalid"),
    ],
)
def test_steps_that_are_missing_are_found(change, words, mode):
    assert_named(check(mode, change), words)


def test_samples_without_last_steps_are_found():
    result = check("samples", lambda rows: rows | {"valid": ~rows["terminated"]})
    assert_named(result, "no row is the last one of an episode that terminated")
    assert_passes(check("samples", lambda rows: rows | {"valid": np.arange(len(rows["done"])) % 3 > 0}))


def seam(env, stored=False, many=False):
    """Reset in mid-episode every few steps; return the rows with `stored` as the flag of truncation there."""
    random = np.random.default_rng(0)
    rows = defaultdict(list)
    observation, info = env.reset(seed=0)
    for step in range(150):
        action, _ = act(random, observation, info["action_mask"] != 0)
        following, reward, terminated, truncated, info = env.step(action)
        is_cut = step % 20 == 19 if many else step % 5 == 4
        row = {"observation": observation, "reward": reward, "terminated": terminated}
        row["truncated"] = truncated | (is_cut & stored & ~np.bool_(terminated))
        for name, value in row.items():
            rows[name].append(np.copy(value))
        observation = following
        if is_cut or (not many and (terminated or truncated)):
            observation, info = env.reset()
    return rows


@pytest.mark.parametrize("options", [{}, {"num_envs": 3, "autoreset": "SameStep"}])
def test_resets_without_a_stored_end_are_found(options):
    many = bool(options)
    assert_named(rollout(lambda env: seam(env, many=many), **options), "an episode was cut by a reset, and no end")
    assert_passes(rollout(lambda env: seam(env, stored=True, many=many), **options))

    def one_step(env):
        """Return rows for one-step targets, as of a replay buffer: without the flag of truncation."""
        return {name: array for name, array in seam(env, many=many).items() if name != "truncated"}

    assert_passes(rollout(one_step, **options))


def flat(observation, action_mask):
    """Return the probabilities of a policy that prefers no legal action."""
    return action_mask / np.sum(action_mask, axis=-1, keepdims=True)


def play_by(choose, steps=1000):
    """Return a collector that chooses by a function of a random generator, an observation and the legal actions."""

    def collect(env):
        random, rows = np.random.default_rng(0), defaultdict(list)
        observation, info = env.reset(seed=0)
        for _ in range(steps):
            rows["observation"].append(observation)
            action = choose(random, observation, np.flatnonzero(info["action_mask"]))
            observation, _, terminated, truncated, info = env.step(action)
            rows["done"].append(terminated or truncated)
            if rows["done"][-1]:
                observation, info = env.reset()
        return rows

    return collect


def uniformly(random, observation, legal):
    return random.choice(legal)


ONE_SIDED = {
    "the first": lambda random, observation, legal: legal[0],
    "often the first": lambda random, observation, legal: legal[0] if random.random() < 0.3 else random.choice(legal),
    "the greatest": lambda random, observation, legal: legal[-1],
    "one for each state": lambda random, observation, legal: legal[int(observation[:-1] @ range(1, 11)) % len(legal)],
}


@pytest.mark.parametrize("choose", ONE_SIDED)
def test_actions_that_a_uniform_policy_does_not_draw_are_found(choose):
    result = rollout(play_by(ONE_SIDED[choose]), policy=flat)
    assert_named(result, "some actions are played more often than the policy says")


def test_actions_of_a_uniform_policy_pass():
    assert_passes(rollout(play_by(uniformly), policy=flat))


@pytest.mark.parametrize("action", [1.0, -1, 11, "one"])
def test_actions_that_are_not_in_the_space_are_refused(action):
    assert_refused("action must be ", rollout, play_by(lambda *_: action))


def test_references_to_a_reused_buffer_are_found():
    for collect, options in ((play, {}), (lambda env: play_many(env, "SameStep"), {"num_envs": 3})):
        result = rollout(collect, autoreset="SameStep", reuse_buffer=True, **options)
        assert_named(result, "all rows hold the same array")


@pytest.mark.parametrize("mode", MODES)
def test_rows_without_a_time_axis_pass(mode):
    def flatten(rows):
        valid = rows.pop("valid", np.ones_like(rows["done"]))
        del rows["episode_start"]
        return {name: array[valid].astype(float) for name, array in rows.items()}

    assert_passes(check(mode, flatten))


def test_harmless_differences_pass():
    def change(rows):
        rows["next_observation"][rows["terminated"]] = 0
        rows["next_action_mask"][rows["terminated"]] = 0
        rows["truncated"] &= ~rows["terminated"]
        rows["truncated"][-1] = ~rows["terminated"][-1]  # where the collector stops
        rows["done"] = rows["terminated"] | rows["truncated"]
        rows["action"] = rows["action"][..., None]
        return rows

    assert_passes(check("SameStep", change))


def test_the_mode_may_be_that_of_gymnasium():
    assert_passes(rollout(partial(play_many, mode="SameStep"), num_envs=2, autoreset=AutoresetMode.SAME_STEP))


def test_what_was_not_seen_is_reported_as_skipped():
    fields = ("observation", "done", "log_prob")
    result = rollout(lambda env: {name: play(env)[name] for name in fields}, limit=50)
    assert result, result
    skipped = {case.name: case.skipped for case in result.cases if case.skipped}
    assert skipped["reward"] == skipped["terminated"] == "not given"
    assert skipped["log_prob"] == "needs policy="
    assert skipped["truncation"] == "no stored episode reached the limit"


def test_the_report_says_where_and_what():
    text = repr(check("single", lambda rows: rows | {"terminated": rows["done"]}))
    assert "rollout FAILED in 1 of" in text
    assert "holds True, but False happened" in " ".join(text.split())
    assert "likely: truncation is stored as termination" in text


@pytest.mark.parametrize(
    ("collect", "message"),
    [
        (lambda *, env: play(env), "is called with one RecordedEnv: write an adapter"),
        (lambda env: {}, "collect must play in the environment that it is given"),
        (lambda env: play(env)["observation"], "collect must return a dictionary with the entry observation"),
        (lambda env: {**play(env), "rewards": [0]}, "unknown entry of the rows 'rewards'.*did you mean reward"),
        (lambda env: {**play(env), "reward": [0.0]}, r"reward must have the shape \(150,\), not \(1,\)"),
        (lambda env: {**play(env), "reward": None}, "reward must be an array of numbers"),
        (lambda env: {**play(env), "reward": ["a"] * 150}, "reward must be an array of numbers"),
        (lambda env: {**play(env), "action_mask": [1] * 150}, r"action_mask must have the shape \(150, 11\)"),
        (lambda env: {"observation": [[[[0.0]]]]} | {"done": play(env)["done"]}, "observation must have the shape"),
        (
            lambda env: {**play(env), "reward": play(env)["reward"][:-1]},
            "leave out the last observation, with which no",
        ),
        (lambda env: {name: rows[:0] for name, rows in play(env).items()}, r"must have some hundred rows, not shape"),
        (lambda env: {name: rows[:1] for name, rows in play(env).items()}, "no episode ended in those"),
    ],
)
def test_wrong_answers_are_refused(collect, message):
    assert_refused(message, rollout, collect)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"autoreset": "Never"}, "unknown autoreset 'Never'"),
        ({"num_envs": 0}, "num_envs must be an integer from 1"),
        ({"limit": 1}, "limit must be an integer from 2"),
        ({"policy": lambda observation, mask: observation}, "must return probabilities"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    assert_refused(message, rollout, play, **arguments)


@pytest.mark.slow
def test_the_episodes_of_the_agents_pass():
    common = pytest.importorskip("agents.common")

    def collect(envs):
        episodes, random, rows = common.Episodes(envs, 0), np.random.default_rng(0), defaultdict(list)
        for _ in range(50):
            rows["observation"].append(episodes.observation)
            rows["action_mask"].append(episodes.mask)
            rows["action"].append((random.random(episodes.mask.shape) * episodes.mask).argmax(axis=1))
            step = episodes.step(rows["action"][-1])
            for name in ("reward", "terminated", "truncated", "next_observation"):
                rows[name].append(getattr(step, name))
            rows["next_action_mask"].append(step.next_mask)
        return rows

    assert_passes(rollout(collect, num_envs=4, autoreset="SameStep"))


def on_policy(algorithm, **options):
    """Return a collector that runs `collect_rollouts` of stable-baselines3 or sb3-contrib, and its policy."""
    torch = pytest.importorskip("torch")
    from stable_baselines3.common.vec_env import DummyVecEnv

    models = []

    def collect(envs):
        vec_env = DummyVecEnv([lambda env=env: env for env in envs])
        model = algorithm("MlpPolicy", vec_env, n_steps=64, gamma=0.0, seed=0)  # without bootstrapping in rewards
        models.append(model)
        _, callback = model._setup_learn(1)
        for _ in range(2):
            model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps, **options)
        buffer = model.rollout_buffer
        rows = {
            "observation": buffer.observations, "action": buffer.actions, "reward": buffer.rewards,
            "episode_start": buffer.episode_starts, "log_prob": buffer.log_probs,
        }  # fmt: skip
        if options:
            rows["action_mask"] = buffer.action_masks.reshape(64, len(envs), -1)
        return rows

    def probabilities(observation, mask):
        masks = {"action_masks": mask} if options else {}
        with torch.no_grad():
            return models[-1].policy.get_distribution(torch.as_tensor(observation), **masks).distribution.probs

    return collect, probabilities


@pytest.mark.slow
@pytest.mark.parametrize("name", every(2, ["MaskablePPO", "PPO"]))
def test_collectors_of_stable_baselines3_pass(name):
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    sb3_contrib = pytest.importorskip("sb3_contrib")
    algorithm = getattr(stable_baselines3, name, None) or getattr(sb3_contrib, name)
    collect, probabilities = on_policy(algorithm, **({"use_masking": True} if name == "MaskablePPO" else {}))
    assert_passes(rollout(collect, num_envs=4, autoreset=None, policy=probabilities))


@pytest.mark.slow
@pytest.mark.parametrize("handles_limits", [True, False])
def test_samples_of_the_replay_buffer_of_stable_baselines3(handles_limits):
    """Test that samples pass, unless the buffer's handling of limits is switched off."""
    stable_baselines3 = pytest.importorskip("stable_baselines3")

    def collect(envs):
        vec_env = stable_baselines3.common.vec_env.DummyVecEnv([lambda env=env: env for env in envs])
        options = {"handle_timeout_termination": handles_limits}
        model = stable_baselines3.DQN(
            "MlpPolicy", vec_env, learning_starts=1000, buffer_size=2000, seed=0, replay_buffer_kwargs=options
        )
        model.learn(400)
        rows = model.replay_buffer.sample(256)
        return {
            "observation": rows.observations, "action": rows.actions, "next_observation": rows.next_observations,
            "reward": rows.rewards, "terminated": rows.dones,
        }  # fmt: skip

    result = rollout(collect, num_envs=4, autoreset=None, shuffled=True)
    assert result.likely == (() if handles_limits else ("truncation is stored as termination",)), result
