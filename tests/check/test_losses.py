"""Test checks of losses: right losses pass in every style, wrong ones fail and are named."""

from dataclasses import replace

import pytest
import torch
from torch.distributions import Categorical
from torch.nn.functional import mse_loss, pad, smooth_l1_loss

from stb_gym import check

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


def cleanrl(logits, batch):
    ratio = ratios(logits, batch)
    first = -batch.advantage * ratio
    return torch.max(first, -batch.advantage * torch.clamp(ratio, 1 - batch.clip, 1 + batch.clip)).mean()


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
    "CleanRL": (cleanrl, {"temperature": 0.7}),
    "language models": (ppo, PADDED),
    "turns": (per_turn, PADDED),
    "turns, entropy": (per_turn, PADDED | BONUS),
    "Dr. GRPO": (reduced(lambda objectives, batch: (objectives * batch.step_mask).mean()), PADDED),
    "verl": (verl, {"kind": "dual-clip", "layout": "padded", "entropy_weight": 0.001}),
    "probabilities": (
        with_log_prob(lambda logits, batch: Categorical(logits.softmax(-1) * batch.mask).log_prob(batch.action)),
        {},
    ),
    "dual clip": (of_objective(dual), {"kind": "dual-clip"}),
    "A2C": (actor_critic, {"kind": "a2c", "entropy_weight": 0.1, "temperature": 1.5}),
    "masked before": (
        with_log_prob(lambda logits, batch: Categorical(logits=logits).log_prob(batch.action)),
        {"masked": False},
    ),
}


@pytest.mark.parametrize("style", RIGHT)
def test_right_policy_losses_pass(style):
    function, options = RIGHT[style]
    result = check.policy_loss(function, **options)
    assert result, result


def test_the_kind_of_mean_is_reported():
    result = check.policy_loss(per_turn, layout="padded")
    assert "length of the gradient (mean over turns of sums)" in [case.name for case in result.cases]


# Wrong policy losses


def without_last_part(objectives, batch):
    return (objectives[:300] * batch.step_mask[:300]).sum() / batch.step_mask.sum()


def normalised_between(ratio, advantage, batch):
    scaled = (advantage - advantage.mean()) / advantage.std()
    return torch.min(ratio * advantage, clipped(ratio, batch) * scaled)


def double_softmax(logits, batch):
    probabilities = logits.masked_fill(~batch.mask, -torch.inf).softmax(-1)
    return Categorical(logits=probabilities).log_prob(batch.action)


def unmasked(logits, batch):
    return Categorical(logits=logits).log_prob(batch.action)


def of_chosen(logits, batch):
    log_prob = distribution(logits, batch).log_prob(batch.action)
    return -(log_prob.exp() * log_prob).sum()


WRONG = {
    "actor-sign": (lambda logits, batch: -ppo(logits, batch), {}, "the sign is wrong"),
    "sign-through-min": (
        of_objective(lambda ratio, advantage, batch: -objective(ratio, -advantage, batch)),
        {},
        "the sign is inside the minimum",
    ),
    "mask-argument-swapped": (
        reduced(lambda objectives, batch: masked_mean(objectives, batch.advantage)),
        PADDED,
        "advantages are passed as the mask",
    ),
    "loss-mask-inverted": (
        reduced(lambda objectives, batch: masked_mean(objectives, ~batch.step_mask)),
        PADDED,
        "the step mask is inverted",
    ),
    "step mask missing": (of_objective(objective), PADDED, "padding counts as steps"),
    "min-before-adv": (
        of_objective(lambda ratio, advantage, batch: torch.min(ratio, clipped(ratio, batch)) * advantage),
        {},
        "the minimum of the two ratios is taken before",
    ),
    "clip-both": (
        of_objective(lambda ratio, advantage, batch: clipped(ratio, batch) * advantage),
        {},
        "on both sides",
    ),
    "clip-missing": (of_objective(lambda ratio, advantage, batch: ratio * advantage), {}, "ratios are not clipped"),
    "ratio-inverted": (
        of_objective(lambda ratio, advantage, batch: objective(1 / ratio, advantage, batch)),
        {},
        "upside down",
    ),
    "dual-clip-everywhere": (
        of_objective(
            lambda ratio, advantage, batch: torch.max(objective(ratio, advantage, batch), batch.dual_clip * advantage)
        ),
        {"kind": "dual-clip"},
        "acts on positive advantages",
    ),
    "dual-clip-missing": (ppo, {"kind": "dual-clip"}, "ratios are clipped on one side, as in PPO, and no more"),
    "dual-clip-unasked": (of_objective(dual), {}, "the second clip of dual clip is on"),
    "normalise-between": (of_objective(normalised_between), {}, "normalised between"),
    "agilerl-487": (with_log_prob(unmasked), {}, "illegal actions are not masked"),
    "mask-play-only": (
        lambda logits, batch: -(unmasked(logits, batch) * batch.advantage).mean(),
        {"kind": "a2c"},
        "illegal actions are not masked",
    ),
    "double-softmax": (with_log_prob(double_softmax), {}, "softmax is applied twice"),
    "temperature-missing": (
        lambda logits, batch: ppo(logits, replace(batch, temperature=1)),
        {"temperature": 0.7},
        "the temperature is missing",
    ),
    "action of the next step": (
        lambda logits, batch: ppo(logits, replace(batch, action=batch.action.roll(-1))),
        {},
        "of the action of the next step",
    ),
    "probability": (
        of_objective(lambda ratio, advantage, batch: ratio * batch.old_log_prob.exp() * advantage),
        {"kind": "a2c"},
        "the probability, not its logarithm",
    ),
    "mean-of-means, turns": (
        reduced(lambda objectives, batch: ((objectives * batch.step_mask).sum(1) / batch.step_mask.sum(1)).mean()),
        PADDED,
        "each turn is averaged over its own steps",
    ),
    "mean-of-means, parts": (
        reduced(lambda objectives, batch: sum(map(masked_mean, objectives.chunk(8), batch.step_mask.chunk(8)))),
        PADDED,
        "parts of the batch are averaged on their own",
    ),
    "extra-division": (
        lambda logits, batch: ppo(logits, batch) / 4,
        {},
        "the gradient is 0.25 times that of a mean over steps",
    ),
    "partial-window": (reduced(without_last_part), {}, "a part of the batch is left out"),
    "detached": (lambda logits, batch: ppo(logits.detach(), batch), {}, "no gradient"),
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
        "a gradient reaches the critic",
    ),
    "entropy-sign": (
        with_entropy(lambda logits, batch: -distribution(logits, batch).entropy().mean()),
        BONUS,
        "the entropy bonus: the sign is wrong",
    ),
    "entropy-of-chosen": (with_entropy(of_chosen), BONUS, "only the action taken counts"),
    "entropy from log-probabilities": (
        with_entropy(lambda logits, batch: -distribution(logits, batch).log_prob(batch.action).mean()),
        BONUS,
        "only the log-probability of the action taken",
    ),
    "entropy-no-grad": (
        with_entropy(lambda logits, batch: distribution(logits, batch).entropy().detach().mean()),
        BONUS,
        "the entropy bonus: no gradient",
    ),
    "entropy-counts-dead-parts": (
        with_entropy(lambda logits, batch: Categorical(logits=logits).entropy().mean()),
        BONUS,
        "the entropy bonus: illegal actions are not masked",
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
    "entropy not asked for": (
        with_entropy(lambda logits, batch: distribution(logits, batch).entropy().mean()),
        {},
        "the entropy bonus has weight 0.01: pass it",
    ),
}


@pytest.mark.parametrize("fault", WRONG)
def test_wrong_policy_losses_fail_and_are_named(fault):
    function, options, name = WRONG[fault]
    result = check.policy_loss(function, **options)
    assert not result
    assert any(name in each for each in result.likely), result


# Losses of values


def square(values, batch):
    return mse_loss(values, batch.returns)


def near(values, batch):
    return batch.old_value + (values - batch.old_value).clamp(-batch.clip, batch.clip)


def value_clip(values, batch, now=None):
    now = values if now is None else now
    return torch.max((values - batch.returns) ** 2, (near(now, batch) - batch.returns) ** 2).mean() / 2


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
    "critic-sign": (lambda values, batch: -square(values, batch), {}, "the sign is wrong"),
    "critic-detached": (lambda values, batch: square(values.detach(), batch), {}, "no gradient"),
    "square-broadcast": (
        lambda values, batch: ((values[:, None] - batch.returns) ** 2).mean(),
        {},
        "shapes are broadcast",
    ),
    "vf-clip-dead": (
        lambda values, batch: value_clip(values, batch, values.detach()),
        {"kind": "clipped"},
        "even within the range",
    ),
    "clip missing": (square, {"kind": "clipped"}, "values are not clipped"),
    "clip unasked": (value_clip, {}, "with the greater of two errors"),
    "value-mask-offset": (
        with_mask(lambda mask: pad(mask[:, 1:], (0, 1))),
        PADDED,
        "the step mask is that of the next step",
    ),
    "mask inverted": (with_mask(lambda mask: ~mask), PADDED, "the step mask is inverted"),
    "padding": (square, PADDED, "padding counts as steps"),
    "mean of means": (with_mask(lambda mask: mask / mask.sum(1, keepdim=True)), PADDED, "each turn is averaged"),
    "absolute": (lambda values, batch: (values - batch.returns).abs().mean(), {}, "errors are not squared"),
}


@pytest.mark.parametrize("style", RIGHT_VALUES)
def test_right_value_losses_pass(style):
    function, options = RIGHT_VALUES[style]
    result = check.value_loss(function, **options)
    assert result, result


@pytest.mark.parametrize("fault", WRONG_VALUES)
def test_wrong_value_losses_fail_and_are_named(fault):
    function, options, name = WRONG_VALUES[fault]
    result = check.value_loss(function, **options)
    assert not result
    assert any(name in each for each in result.likely), result


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


def with_prediction(function):
    """Return a loss whose squared errors are those between the targets [T] and a function of action values."""
    return lambda q, next_q, batch: (function(q, batch) - target(greedy(next_q, batch), batch)).pow(2).sum()


def with_row(function):
    """Return a loss whose targets are a row per step, filled by a function of action values."""

    def loss(q, next_q, batch):
        targets = target(greedy(next_q, batch), batch)[:, None]
        return mse_loss(q, function(q).scatter(1, batch.action[:, None], targets))

    return loss


dqn = with_value(greedy)
RIGHT_TD = {
    "Huber": (dqn, {}),
    "squares": (with_prediction(lambda q, batch: q[torch.arange(len(q)), batch.action]), {}),
    "double": (with_value(double), {"kind": "double"}),
    "no masks": (with_value(lambda next_q, batch: next_q.amax(1)), {"masked": False}),
    "row of targets": (with_row(lambda q: q.detach()), {}),
}
WRONG_TD = {
    "q-target-with-graph": (
        lambda q, next_q, batch: mse_loss(
            taken(q, batch), batch.reward + batch.discount * ~batch.terminated * greedy(next_q, batch)
        ),
        {},
        "a gradient reaches the target",
    ),
    "sign": (lambda q, next_q, batch: -dqn(q, next_q, batch), {}, "the sign is wrong"),
    "detached": (lambda q, next_q, batch: dqn(q.detach(), next_q, batch), {}, "no gradient"),
    "untaken-to-zero": (with_row(torch.zeros_like), {}, "not taken are pulled to 0"),
    "fancy-index": (with_prediction(lambda q, batch: q[:, batch.action]), {}, "wrong indices"),
    "square-broadcast": (with_prediction(lambda q, batch: taken(q, batch)[:, None]), {}, "shapes are broadcast"),
    "target-unmasked": (with_value(lambda next_q, batch: next_q.amax(1)), {}, "over illegal actions, too"),
    "illegal-as-zero": (
        with_value(lambda next_q, batch: (next_q * batch.next_mask).amax(1)),
        {},
        "values of illegal next actions are taken as 0",
    ),
    "q-end-ignored": (
        lambda q, next_q, batch: dqn(q, next_q, replace(batch, terminated=torch.zeros_like(batch.terminated))),
        {},
        "a turn that ended bootstraps",
    ),
    "double-is-plain": (dqn, {"kind": "double"}, "the next value is the greatest one"),
    "double-off-by-one": (
        lambda q, next_q, batch: with_value(
            lambda next_q, batch: next_q.gather(1, q.argmax(1, keepdim=True)).squeeze(1)
        )(q, next_q, batch),
        {"kind": "double"},
        "the next action is the greatest one of the current state",
    ),
    "discount": (lambda q, next_q, batch: dqn(q, next_q, replace(batch, discount=1)), {}, "the discount is taken as 1"),
}


@pytest.mark.parametrize("style", RIGHT_TD)
def test_right_td_losses_pass(style):
    function, options = RIGHT_TD[style]
    result = check.td_loss(function, **options)
    assert result, result


@pytest.mark.parametrize("fault", WRONG_TD)
def test_wrong_td_losses_fail_and_are_named(fault):
    function, options, name = WRONG_TD[fault]
    result = check.td_loss(function, **options)
    assert not result
    assert any(name in each for each in result.likely), result


# Calls and reports


def changes_its_batch(logits, batch):
    batch.advantage.mul_(2)
    return ppo(logits, batch)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (changes_its_batch, {}, "changed batch.advantage in place"),
        (lambda logits, batch: None, {}, "must return one number as a torch tensor, not NoneType"),
        (lambda logits, batch: ppo(logits, batch).item(), {}, "not float"),
        (ratios, {}, r"not shape \(\d+,\): take its mean or sum"),
        (lambda logits: 1, {}, "raised TypeError"),
        (ppo, {"temperature": 0}, "temperature must be a number from 1e-06"),
        (ppo, {"kind": "PPO"}, "unknown kind"),
        (ppo, {"layout": "TB"}, "unknown layout"),
        (ppo, {"framework": "numpy"}, "unknown framework"),
    ],
)
def test_wrong_calls_have_one_line(function, options, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        check.policy_loss(function, **options)
    assert "\n" not in str(error.value)


def test_logits_may_be_masked_in_place():
    def loss(logits, batch):
        logits[~batch.mask] = -1e8
        return ppo(logits, batch)

    assert check.policy_loss(loss)


def test_a_report_names_the_step():
    result = check.policy_loss(lambda logits, batch: -ppo(logits, batch))
    assert result.error == pytest.approx(2, abs=1e-3)
    assert "roll" in result.where
