"""Test checks of losses: right losses pass in every style, wrong ones fail and are named."""

import sys
from dataclasses import replace

import pytest
import torch
from torch.distributions import Categorical
from torch.nn.functional import mse_loss, smooth_l1_loss

from stb_gym import check
from tests import every
from tests.check import assert_named, assert_passes, assert_refused

PADDED = {"layout": "padded"}
BONUS = {"entropy_weight": 0.01}


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


# Parts of policy losses


def distribution(logits, batch):
    return Categorical(logits=(logits / batch.temperature).masked_fill(~batch.mask, -1e8))


def ratios(logits, batch):
    return torch.exp(distribution(logits, batch).log_prob(batch.action) - batch.old_log_prob)


def clipped(ratio, batch):
    return ratio.clamp(1 - batch.clip, 1 + batch.clip)


def objective(ratio, advantage, batch):
    return torch.min(ratio * advantage, clipped(ratio, batch) * advantage)


def dual(ratio, advantage, batch):
    bounded = torch.max(objective(ratio, advantage, batch), batch.dual_clip * advantage)
    return torch.where(advantage < 0, bounded, objective(ratio, advantage, batch))


def of_objective(function, reduce=torch.mean):
    """Return a loss whose objective is a function of ratio, advantage and batch."""
    return lambda logits, batch: -reduce(function(ratios(logits, batch), batch.advantage, batch))


def reduced(function):
    """Return a PPO loss whose steps are reduced by a function of objectives and batch."""
    return lambda logits, batch: -function(objective(ratios(logits, batch), batch.advantage, batch), batch)


def with_log_prob(function):
    """Return a PPO loss whose log-probabilities come from a function of logits and batch."""
    return lambda logits, batch: (
        -objective(torch.exp(function(logits, batch) - batch.old_log_prob), batch.advantage, batch).mean()
    )


def with_entropy(function):
    """Return a PPO loss with a bonus that is a function of logits and batch."""
    return lambda logits, batch: ppo(logits, batch) - 0.01 * function(logits, batch)


ppo = reduced(lambda objectives, batch: masked_mean(objectives, batch.step_mask))


# Right policy losses


def stable_baselines3(logits, batch):
    policy = Categorical(logits=torch.where(batch.mask, logits, torch.tensor(-1e8)))
    advantages = (batch.advantage - batch.advantage.mean()) / (batch.advantage.std() + 1e-8)
    ratio = torch.exp(policy.log_prob(batch.action) - batch.old_log_prob)
    policy_loss = -torch.min(advantages * ratio, advantages * torch.clamp(ratio, 0.8, 1.2)).mean()
    return policy_loss + batch.entropy_weight * -torch.mean(policy.entropy())


def verl(logits, batch):
    """Return a dual-clip loss with normalised advantages and an entropy bonus, all by masked means."""
    mean = masked_mean(batch.advantage, batch.step_mask)
    variance = masked_mean((batch.advantage - mean) ** 2, batch.step_mask)
    advantage = (batch.advantage - mean) * torch.rsqrt(variance + 1e-8) * batch.step_mask
    losses = -dual(ratios(logits, batch), advantage, batch)
    entropy = masked_mean(distribution(logits, batch).entropy(), batch.step_mask)
    return masked_mean(losses, batch.step_mask) - batch.entropy_weight * entropy


def actor_critic(logits, batch):
    """Return the policy's part of an A2C loss, with an entropy bonus, as a sum."""
    log_prob = (logits / batch.temperature).masked_fill(~batch.mask, -torch.inf).log_softmax(-1)
    entropy = -(log_prob.exp() * log_prob.masked_fill(~batch.mask, 0)).sum(-1)
    chosen = log_prob[torch.arange(len(logits)), batch.action]
    return (-chosen * (batch.returns - batch.value.detach()) - batch.entropy_weight * entropy).sum()


def per_turn(logits, batch):
    """Return the mean over turns of the sums over steps, with a mean entropy over steps."""
    sums = reduced(lambda objectives, batch: (objectives * batch.step_mask).sum() / len(objectives))
    entropy = masked_mean(distribution(logits, batch).entropy(), batch.step_mask)
    return sums(logits, batch) - batch.entropy_weight * entropy


RIGHT = {
    "stable-baselines3": (stable_baselines3, BONUS),
    "temperature": (ppo, {"temperature": 0.7}),
    "language models": (ppo, PADDED),
    "turns, entropy": (per_turn, PADDED | BONUS),
    "Dr. GRPO": (reduced(lambda objectives, batch: (objectives * batch.step_mask).mean()), PADDED),
    "verl": (verl, {"kind": "dual-clip", "layout": "padded", "entropy_weight": 0.001}),
    "probabilities": (
        with_log_prob(lambda logits, batch: Categorical(logits.softmax(-1) * batch.mask).log_prob(batch.action)),
        {},
    ),
    "no masks": (
        with_log_prob(lambda logits, batch: Categorical(logits=logits).log_prob(batch.action)),
        {"masked": False},
    ),
    "dual clip": (of_objective(dual), {"kind": "dual-clip"}),
    "A2C": (actor_critic, {"kind": "a2c", "entropy_weight": 0.1, "temperature": 1.5}),
}


@pytest.mark.parametrize("style", every(3, RIGHT))
def test_right_policy_losses_pass(style):
    function, options = RIGHT[style]
    assert_passes(check.policy_loss(function, **options))


# Wrong policy losses


def test_losses_may_live_on_a_device():
    """Tensors of a graphics card cannot be converted to arrays before they are copied."""

    class OnDevice(torch.Tensor):
        def __array__(self, dtype=None):
            raise TypeError("can't convert cuda:0 device type tensor to numpy")

        def cpu(self):
            return self.as_subclass(torch.Tensor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "as_tensor", lambda array: torch.from_numpy(array).as_subclass(OnDevice))
        assert check.policy_loss(ppo)


def with_penalty(logits, batch):
    """Return a PPO loss with an estimate of the divergence from the policy that played."""
    ratio = ratios(logits, batch)
    return ppo(logits, batch) + 0.04 * (1 / ratio - 1 + ratio.log()).mean()


WRONG = {
    "other kind": (actor_critic, {}, "the loss is that of kind a2c"),
    "kind of a2c": (ppo, {"kind": "a2c"}, "the loss is that of kind ppo"),
    "penalty": (with_penalty, {}, "nearly right: look for half precision and small terms"),
    "half precision": (lambda logits, batch: ppo(logits.half().float(), batch), {}, "nearly right"),
    "clip-both": (
        of_objective(lambda ratio, advantage, batch: clipped(ratio, batch) * advantage),
        {},
        "on both sides",
    ),
    "ratio-inverted": (
        of_objective(lambda ratio, advantage, batch: objective(1 / ratio, advantage, batch)),
        {},
        "upside down",
    ),
    "dual-clip-missing": (ppo, {"kind": "dual-clip"}, "the second clip of dual clip is missing"),
    "dual-clip-unasked": (of_objective(dual), {}, "the second clip of dual clip is on"),
    "action of the next step": (
        lambda logits, batch: ppo(logits, replace(batch, action=batch.action.roll(-1))),
        {},
        "the actions are those of the next step",
    ),
    "mean-of-means, turns": (
        reduced(lambda objectives, batch: ((objectives * batch.step_mask).sum(1) / batch.step_mask.sum(1)).mean()),
        PADDED,
        "each turn is averaged over its own steps",
    ),
    "ratio squared": (
        of_objective(lambda ratio, advantage, batch: objective(ratio**2, advantage, batch)),
        {},
        "the ratio is squared",
    ),
    "clipped term detached": (
        of_objective(
            lambda ratio, advantage, batch: torch.min(ratio * advantage, clipped(ratio, batch).detach() * advantage)
        ),
        {},
        "look at the ratio and at both terms of the minimum",
    ),
    "log_softmax missing": (
        with_log_prob(lambda logits, batch: logits.gather(-1, batch.action[..., None])[..., 0]),
        {},
        "log_softmax is missing",
    ),
    "axis of the softmax": (
        with_log_prob(lambda logits, batch: logits.log_softmax(0).gather(-1, batch.action[..., None])[..., 0]),
        {},
        "the axis of the softmax",
    ),
    "weight decay": (lambda logits, batch: ppo(logits, batch) + (logits**2).mean(), {}, "other terms of the loss"),
    "not finite": (
        lambda logits, batch: ppo(logits, batch) + 0 * distribution(logits, batch).probs.log().sum(),
        {},
        "not finite",
    ),
    "adv-with-graph": (
        lambda logits, batch: (
            -(distribution(logits, batch).log_prob(batch.action) * (batch.returns - batch.value)).mean()
        ),
        {"kind": "a2c"},
        "a gradient reaches the critic of a policy",
    ),
    "entropy of padding": (
        with_entropy(lambda logits, batch: distribution(logits, batch).entropy().mean()),
        BONUS | PADDED,
        "the entropy bonus: the step mask is missing",
    ),
    "entropy-summed": (
        with_entropy(lambda logits, batch: distribution(logits, batch).entropy().sum()),
        BONUS,
        "a sum stands beside a mean",
    ),
    "scaled advantages": (
        lambda logits, batch: ppo(logits, batch) / (batch.advantage.std() + 1e-8),
        {},
        "advantages are divided by their standard deviation, and their mean is not subtracted",
    ),
    "entropy not asked for": (
        with_entropy(lambda logits, batch: distribution(logits, batch).entropy().mean()),
        {},
        "the entropy bonus has weight 0.01: pass it",
    ),
}


@pytest.mark.parametrize("fault", every(8, WRONG))
def test_wrong_policy_losses_fail_and_are_named(fault):
    function, options, name = WRONG[fault]
    assert_named(check.policy_loss(function, **options), name, lines=None)


def within(low, high):
    """Return a PPO loss with a clip range of its own; the bounds are functions of `batch.clip`."""
    return of_objective(
        lambda ratio, advantage, batch: torch.min(
            ratio * advantage, ratio.clamp(low(batch.clip), high(batch.clip)) * advantage
        )
    )


CLIPPED = {
    "wide": within(lambda clip: 0.9, lambda clip: 1.4),
    "narrow": within(lambda clip: 1 - clip * 0.3, lambda clip: 1 + clip * 0.3),
    "double": within(lambda clip: 1 - clip, lambda clip: 1 + clip * 2),
    "inverse": within(lambda clip: 1 / (1 + clip), lambda clip: 1 + clip),
    "only above": within(lambda clip: 0, lambda clip: 1 + clip),
}


@pytest.mark.parametrize("style", CLIPPED)
def test_other_clip_ranges_are_named(style):
    assert_named(check.policy_loss(CLIPPED[style]), "ratios are clipped, but not to 1 - batch.clip and 1 + batch.clip")


def test_another_bound_of_dual_clip_is_named():
    for factor in (0.9, 1.1):

        def bounded(ratio, advantage, batch, factor=factor):
            return dual(ratio, advantage, replace(batch, dual_clip=factor * batch.dual_clip))

        assert_named(check.policy_loss(of_objective(bounded), kind="dual-clip"), "the bound of dual clip is")


# Losses of values


def square(values, batch):
    return mse_loss(values, batch.returns)


def near(values, batch):
    return batch.old_value + (values - batch.old_value).clamp(-batch.clip, batch.clip)


def value_clip(values, batch):
    return torch.max((values - batch.returns) ** 2, (near(values, batch) - batch.returns) ** 2).mean() / 2


def with_mask(mask):
    """Return a loss whose mask is a function of the step mask."""
    return lambda values, batch: masked_mean((values - batch.returns) ** 2, mask(batch.step_mask))


RIGHT_VALUES = {
    "squares": (square, {}),
    "sum": (lambda values, batch: (batch.returns - values).pow(2).sum(), {}),
    "Huber": (lambda values, batch: smooth_l1_loss(values, batch.returns), {}),
    "clipped": (value_clip, {"kind": "clipped"}),
    "clamped": (lambda values, batch: mse_loss(batch.returns, near(values, batch)), {"kind": "clamped"}),
    "padded": (with_mask(lambda mask: mask), PADDED),
}
WRONG_VALUES = {
    "clip missing": (square, {"kind": "clipped"}, "the loss is that of kind plain"),
    "clip unasked": (value_clip, {}, "the loss is that of kind clipped"),
    "mask inverted": (with_mask(lambda mask: ~mask), PADDED, "the step mask is inverted"),
    "padding": (square, PADDED, "padding counts as steps"),
    "absolute": (lambda values, batch: (values - batch.returns).abs().mean(), {}, "errors are not squared"),
}


@pytest.mark.parametrize("style", RIGHT_VALUES)
def test_right_value_losses_pass(style):
    function, options = RIGHT_VALUES[style]
    assert_passes(check.value_loss(function, **options))


@pytest.mark.parametrize("fault", WRONG_VALUES)
def test_wrong_value_losses_fail_and_are_named(fault):
    function, options, name = WRONG_VALUES[fault]
    assert_named(check.value_loss(function, **options), name, lines=None)


@pytest.mark.parametrize("kind", ["clipped", "clamped"])
def test_other_clip_ranges_of_values_are_found(kind):
    for factor in (0.9, 1.1):

        def wrong(values, batch, factor=factor):
            return RIGHT_VALUES[kind][0](values, replace(batch, clip=factor * batch.clip))

        result = check.value_loss(wrong, kind=kind)
        assert_named(result, "the clip range is" if kind == "clamped" else "")


# Losses of action values


def taken(q, batch):
    return q.gather(1, batch.action[:, None]).squeeze(1)


def greedy(next_q, batch):
    return next_q.masked_fill(~batch.next_mask, -torch.inf).max(dim=1).values


def double(next_q, batch):
    best = batch.next_q_online.masked_fill(~batch.next_mask, -torch.inf).argmax(1, keepdim=True)
    return next_q.gather(1, best).squeeze(1)


def target(next_value, batch):
    return (batch.reward + batch.discount * torch.where(batch.terminated, 0.0, next_value)).detach()


def with_value(function):
    """Return a loss whose values of next states are a function of action values and batch."""
    return lambda q, next_q, batch: smooth_l1_loss(taken(q, batch), target(function(next_q, batch), batch))


def squares(q, next_q, batch):
    return (taken(q, batch) - target(greedy(next_q, batch), batch)).pow(2).sum()


def row_of_targets(q, next_q, batch):
    targets = target(greedy(next_q, batch), batch)[:, None]
    return mse_loss(q, q.detach().scatter(1, batch.action[:, None], targets))


dqn = with_value(greedy)
RIGHT_TD = {
    "Huber": (dqn, {}),
    "squares": (squares, {}),
    "double": (with_value(double), {"kind": "double"}),
    "no masks": (with_value(lambda next_q, batch: next_q.amax(1)), {"masked": False}),
    "row of targets": (row_of_targets, {}),
}


@pytest.mark.parametrize("style", RIGHT_TD)
def test_right_td_losses_pass(style):
    function, options = RIGHT_TD[style]
    assert_passes(check.td_loss(function, **options))


def second(next_q, batch):
    best = next_q.masked_fill(~batch.next_mask, -torch.inf).topk(2).values
    return torch.where(best[:, 1].isfinite(), best[:, 1], best[:, 0])


def zeroed(next_q, batch):
    return (next_q * batch.next_mask).amax(1)


WRONG_TD = {
    "the discount is taken as 1": lambda q, next_q, batch: dqn(q, next_q, replace(batch, discount=1)),
    "the next value is the second greatest one": with_value(second),
    "values of illegal actions are multiplied by 0": with_value(zeroed),
    "a gradient reaches the target": lambda q, next_q, batch: mse_loss(
        taken(q, batch), batch.reward + batch.discount * ~batch.terminated * greedy(next_q, batch)
    ),
}


@pytest.mark.parametrize("words", WRONG_TD)
def test_wrong_td_losses_are_named(words):
    assert_named(check.td_loss(WRONG_TD[words]), words)


# Calls and reports


def changes_its_batch(logits, batch):
    batch.advantage.mul_(2)
    return ppo(logits, batch)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (changes_its_batch, {}, "changed batch.advantage in place"),
        (lambda logits, batch: None, {}, "must return one number as a torch tensor, not NoneType"),
        (lambda logits, batch: ppo(logits, batch).item(), {}, "not float: return the loss itself"),
        (lambda logits, batch: (ppo(logits, batch), {}), {}, "not tuple: return the loss itself"),
        (ratios, {}, r"not torch.Size\(\[\d+\]\): take a mean"),
        (lambda logits: 1, {}, "is called with one Tensor and one LossBatch"),
        (ppo, {"temperature": 0}, "temperature must be a number from 1e-06"),
        (ppo, {"kind": "PPO"}, "unknown kind"),
        (ppo, {"layout": "TB"}, "unknown layout"),
        (ppo, {"framework": "numpy"}, "unknown framework"),
    ],
)
def test_wrong_calls_have_one_line(function, options, message):
    assert_refused(message, check.policy_loss, function, **options)


def test_a_missing_framework_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match="jax is not installed: install it, or pass another framework"):
        check.policy_loss(ppo, framework="jax")


def test_logits_may_be_masked_in_place():
    def loss(logits, batch):
        logits[~batch.mask] = -1e8
        return ppo(logits, batch)

    assert check.policy_loss(loss)
