"""Test the ladder of tasks with textbook learners, right ones and ones with a planted fault."""

from collections import defaultdict
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from sb3_contrib import RecurrentPPO

from stb_gym import check
from stb_gym.check.ladder import RUNGS, TOLERANCE, RungEnv
from tests import every
from tests.check import assert_named, assert_refused, calibrate
from tests.check.tabular import QLearner, VectorQLearner, WithoutMasks

NAMES = [rung.name for rung in RUNGS]
STEPS = 1500


@pytest.mark.slow
def test_the_values_are_exact():
    """The regret of perfect play is 0, of the worst play 1, and of every wrong reachable choice above the tolerance."""
    for rung in RUNGS:
        values = rung.action_values()
        actions = np.eye(values.shape[1])
        best = actions[np.nanargmax(values, axis=1)]
        worst = actions[np.nanargmin(rung.action_values(best=False), axis=1)]
        assert rung.losses(best).sum() == pytest.approx(0, abs=1e-12)
        assert rung.losses(worst).sum() == pytest.approx(1)
        for state, action in np.argwhere(rung.masks):
            changed = best.copy()
            changed[state] = actions[action]
            error = rung.losses(changed).sum()
            assert error == pytest.approx(0, abs=1e-12) or error > 1.5 * TOLERANCE


def test_an_episode_may_end_at_the_limit():
    """Both flags are True then, as in Gymnasium."""
    rung = next(rung for rung in RUNGS if rung.name == "time limit")
    env = RungEnv(replace(rung, starts=("at the prize",)), 0, [])
    assert env.step(0)[2:4] == (True, True)


WITHOUT_LIMIT = pytest.mark.parametrize(
    "rung", every(4, [rung for rung in RUNGS if not rung.limit]), ids=lambda rung: rung.name
)


@WITHOUT_LIMIT
def test_the_values_are_the_means_of_play(rung):
    """The value of perfect play is its mean discounted return where no limit truncates."""
    values = rung.action_values()
    env = RungEnv(rung, 1, [])
    excess = 0.0
    for _ in range(500):
        observation, _ = env.reset()
        excess -= np.nanmax(values[observation.argmax()])
        factor = 1.0
        over = False
        while not over:
            observation, reward, over, _, _ = env.step(np.nanargmax(values[observation.argmax()]))
            excess += factor * reward
            factor *= rung.discount
    assert excess / 500 == pytest.approx(0, abs=0.1)


@WITHOUT_LIMIT
@pytest.mark.filterwarnings("ignore:.*spec:UserWarning")
def test_the_environments_follow_gymnasium(rung):
    check_env(RungEnv(rung, 0, []), skip_render_check=True)


@pytest.mark.parametrize("action", [-1, 7, 1.9, "one"])
def test_actions_that_are_not_in_the_space_are_refused(action):
    assert_refused("action must be ", RungEnv(RUNGS[0], 0, []).step, action)


def test_a_function_without_an_environment_is_refused():
    assert_refused("is called with one RungEnv", check.agent, lambda: None)


def test_q_learning_passes_all_rungs():
    result = check.agent(QLearner, steps=STEPS)
    assert result, result
    assert [case.name for case in result.cases] == NAMES
    assert not any(case.skipped for case in result.cases)


FAULTS = [
    ("negated reward", "one decision", "sign"),
    ("reward one step late", "one decision", "one step late"),
    ("lucky target", "chance", "luckiest"),
    ("median target", "chance", "median"),
    ("no bootstrap", "credit", "not bootstrap"),
    ("falsy action", "sign", "starts its maximum at 0"),
    ("absolute reward", "sign", "absolute"),
    ("others to zero", "credit", "pulled to 0"),
    ("no mask in greedy play", "masks in play", "greedy"),
    ("no mask in exploration", "masks in play", "random choice"),
    ("mask of the last episode", "masks in play", "last episode"),
    ("no mask in targets", "masks in targets", "maximum over illegal"),
    ("truncation ends", "time limit", "truncation is treated as termination"),
    ("observation of the next episode", "autoreset", "first observation of the next"),
    ("discount ignored", "discount", "ignored"),
    ("epsilon falls at once", "exploration", "epsilon falls"),
]


# These disturb some decisions of earlier rungs, too, or pass their own by luck.
UNCLEAR = ("falsy action", "others to zero", "epsilon falls at once")


@pytest.mark.parametrize(("fault", "rung", "words"), every(8, FAULTS))
def test_a_planted_fault_fails_its_rung(fault, rung, words):
    result = check.agent(partial(QLearner, fault=fault), rungs=[rung], steps=STEPS)
    assert result.where
    assert words in "; ".join(result.likely)


@pytest.mark.nightly
@pytest.mark.parametrize(("fault", "rung"), [row[:2] for row in FAULTS if row[0] not in UNCLEAR])
def test_a_planted_fault_passes_the_rungs_below(fault, rung):
    for seed in range(5):
        result = check.agent(partial(QLearner, fault=fault), steps=STEPS, seed=10 * seed)
        assert next(case.name for case in result.cases if not case.passed) == rung, result


@pytest.mark.nightly
@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_vector_environments_are_climbed(mode):
    vectorize = partial(SyncVectorEnv, autoreset_mode=mode)
    rungs = ["masks in play", "masks in targets", "time limit", "autoreset"]
    result = check.agent(VectorQLearner, rungs=rungs, steps=STEPS, vectorize=vectorize)
    assert result, result
    fault = "rows of resets" if mode == AutoresetMode.NEXT_STEP else "observation of the next episode"
    result = check.agent(
        partial(VectorQLearner, fault=fault), rungs=["time limit", "autoreset"], steps=STEPS, vectorize=vectorize
    )
    assert [case.name for case in result.cases if not case.passed] == ["autoreset"], result


@pytest.mark.nightly
def test_what_does_not_apply_is_skipped():
    """Rungs with masks need an agent that takes them, and the discount an argument."""
    result = check.agent(lambda env: WithoutMasks(env), steps=STEPS)
    assert result, result
    assert {case.name for case in result.cases if case.skipped} == {"masks in play", "masks in targets", "discount"}
    assert "skipped: masks in play (the agent takes no masks)" in repr(result)


def test_a_function_of_observations_and_masks_is_an_agent():
    """Test that a function without `learn` is measured by its probabilities: random play has a known regret."""
    result = check.agent(lambda env: lambda observations, masks: masks / masks.sum(1, keepdims=True), rungs=["sign"])
    assert result.error == pytest.approx((2 / 5 + 8 / 15 + 11 / 30 + 1 / 3) / 2.9)
    result = check.agent(lambda env: lambda observations, masks: np.zeros(len(masks), int), rungs=["masks in play"])
    assert result.where == "illegal action 0 at the second, when measured; 1 in all"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rungs": ["chance", "credits"]}, "unknown rung 'credits'.*did you mean credit"),
        ({"steps": 0}, "steps must be an integer from 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"make_agent": lambda env: None}, "an agent must be a function"),
        ({"make_agent": 3}, "make_agent of agent must be Callable"),
        ({"make_agent": lambda env: lambda observations: observations}, "has 2 actions, but the agent answered"),
    ],
)
def test_wrong_calls_are_one_line(arguments, message):
    assert_refused(message, check.agent, **({"make_agent": QLearner, "rungs": ["credit"]} | arguments))


def test_answers_that_depend_on_other_states_fail():
    best = np.nanargmax(RUNGS[0].action_values(), axis=1)

    def play(observations):
        shown = observations - observations.mean(axis=0)  # zeros for a state alone
        return best[shown.argmax(axis=1)]

    result = check.agent(lambda env: play, rungs=["one decision", "sign"])
    assert_named(result, "evaluation changes the agent")
    assert result.cases[1].skipped == "one decision failed"


def test_an_agent_with_a_memory_is_refused():
    def make_agent(env):
        return RecurrentPPO("MlpLstmPolicy", env, n_steps=8, device="cpu")

    assert_refused("the agent has a memory", check.agent, make_agent, rungs=["sign"])


def test_stepping_after_the_end_is_an_error():
    env = RungEnv(RUNGS[0], 0, [])
    env.step(0)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(0)


def test_right_learners_pass_at_least_99_percent_of_the_time():
    """Test this with 95% confidence, by the ladders in docs/results of each learner with enough of them."""
    failed = defaultdict(list)
    for row in calibrate.read():
        failed[row["learner"]].append(bool(row["failed"]))
    shares = {learner: calibrate.share_that_passes(len(each), sum(each)) for learner, each in failed.items()}
    enough = {learner: share for learner, share in shares.items() if len(failed[learner]) >= 14}
    assert "tabular Q-learning" in enough
    assert min(enough.values()) >= 0.99
