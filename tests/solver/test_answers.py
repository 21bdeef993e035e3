"""How any function becomes a policy: the forms of its answers, and what is refused."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, compile_game, evaluate, policy_from

GAME = ShutTheBox(tiles=6)
TABLES = compile_game(GAME)
FIRST = TABLES.edge_action[TABLES.edge_start[TABLES.decisions]]


class Tensor:
    """What is asked of a torch tensor."""

    def __init__(self, array, requires_grad=False):
        self.array, self.requires_grad = array, requires_grad

    def cpu(self):
        return self

    def is_floating_point(self):
        return self.array.dtype.kind == "f"

    def double(self):
        return Tensor(self.array.astype(float))

    def __array__(self, dtype=None, copy=None):
        return self.array


class Distribution:
    def __init__(self, probs):
        self.probs = probs


@pytest.mark.parametrize("batch", [1, 100, 10**6])
def test_any_function_becomes_a_policy(batch):
    def first_legal(observations, masks):
        assert observations.dtype == np.uint8
        assert masks.dtype == np.bool_
        assert masks.any(axis=1).all()
        return masks.argmax(axis=1)

    policy = policy_from(GAME, first_legal, batch=batch)
    assert (policy[TABLES.decisions] == FIRST).all()

    def uniform(observations, masks):
        return masks / masks.sum(axis=1, keepdims=True)

    assert evaluate(GAME, policy_from(GAME, uniform, batch=batch)).normalised_score == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, Tensor, lambda actions: actions.astype(np.uint8)])
def test_actions_may_be_of_any_integers(form):
    policy = policy_from(GAME, lambda observations, masks: form(masks.argmax(axis=1)))
    assert (policy[TABLES.decisions] == FIRST).all()


@pytest.mark.parametrize(
    "form",
    [
        np.ndarray.tolist,
        Tensor,
        Distribution,
        lambda chances: Distribution(Tensor(chances)),
        lambda chances: chances.astype(np.float32),
        lambda chances: chances.astype(bool),
        lambda chances: chances.astype(int),
    ],
)
def test_probabilities_may_be_of_any_numbers(form):
    def first_legal(observations, masks):
        return form(np.eye(TABLES.actions)[masks.argmax(axis=1)])

    policy = policy_from(GAME, first_legal)
    assert (policy[TABLES.decisions].argmax(axis=1) == FIRST).all()
    assert evaluate(GAME, policy).regret > 0


@pytest.mark.parametrize("answer", [3, np.int64(3), [1, 2], None, np.zeros((2, 2, 2)), np.zeros(TABLES.nodes, int)])
def test_an_agent_that_does_not_answer_each_node_is_refused(answer):
    with pytest.raises(ValueError, match=r"an agent asked about \d+ nodes must answer each, not with shape \("):
        policy_from(GAME, lambda observations, masks: answer)


@pytest.mark.parametrize("width", [1, TABLES.actions - 1, TABLES.actions + 1])
def test_probabilities_of_other_actions_are_refused(width):
    with pytest.raises(ValueError, match=rf"has {TABLES.actions} actions, but the agent answered with .*, {width}\)"):
        policy_from(GAME, lambda observations, masks: np.ones((len(masks), width)) / width)


@pytest.mark.parametrize("action", [-1, TABLES.actions, 255])
def test_actions_that_there_are_not_are_refused(action):
    def agent(observations, masks):
        actions = masks.argmax(axis=1)
        actions[5] = action
        return actions

    with pytest.raises(ValueError, match=rf"has actions from 0 to {TABLES.actions - 1}, but .* answered {action}$"):
        policy_from(GAME, agent)


@pytest.mark.parametrize("number", [0.0, True, np.float32(1)])
def test_actions_that_are_no_integers_are_refused(number):
    with pytest.raises(TypeError, match=r"actions \[B\] are integers, not of type (float|bool)"):
        policy_from(GAME, lambda observations, masks: [number] * len(masks))


@pytest.mark.parametrize("entry", ["pass", None, 1j])
def test_answers_that_are_no_numbers_are_refused(entry):
    with pytest.raises(TypeError, match="an agent answers with numbers, not with type"):
        policy_from(GAME, lambda observations, masks: [entry] * len(masks))


@pytest.mark.parametrize("states", [(None,), (), (1, 2)])
def test_a_forgotten_index_is_named(states):
    with pytest.raises(TypeError, match=rf"returned a tuple of {1 + len(states)}, not .*: did you forget \[0\]\?"):
        policy_from(GAME, lambda observations, masks: (masks.argmax(axis=1), *states))


@pytest.mark.parametrize("wrap", [lambda tensor: tensor, Distribution])
def test_an_answer_that_requires_gradients_is_refused(wrap):
    with pytest.raises(TypeError, match=r"requires gradients: return it under torch.no_grad\(\) or detached"):
        policy_from(GAME, lambda observations, masks: wrap(Tensor(masks / 1.0, requires_grad=True)))


@pytest.mark.parametrize(("factor", "message"), [(np.nan, "not a number"), (2.0, "sum to 2, not 1")])
def test_answers_that_are_no_distribution_are_refused_when_evaluated(factor, message):
    policy = policy_from(GAME, lambda observations, masks: factor * np.eye(TABLES.actions)[masks.argmax(axis=1)])
    with pytest.raises(ValueError, match=message):
        evaluate(GAME, policy)


def test_scores_and_models_are_told_what_is_asked_for():
    scores = np.random.default_rng(0).normal(size=(TABLES.nodes, TABLES.actions))
    with pytest.raises(ValueError, match=r"actions \[B\] or probabilities \[B, A\], not with scores such as -\d"):
        policy_from(GAME, lambda observations, masks: scores[: len(masks)])
    with pytest.raises(TypeError, match=r"is no function of \(observations, masks\): RegretMeter\(\.\.\.\)\.policy"):
        policy_from(GAME, np.zeros(TABLES.nodes, int))
