"""Test checks of losses: right losses pass in every style, wrong ones fail and are named."""

import pytest
import torch
from torch.distributions import Categorical
from torch.nn import functional

from stb_gym import check

# Right policy losses


def log_probs(logits, batch):
    """Return the log-probabilities of the actions taken, with masks and temperature."""
    masked = (logits / batch.temperature).masked_fill(~batch.mask, -1e8)
    return masked.log_softmax(-1).gather(-1, batch.action.unsqueeze(-1)).squeeze(-1)


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


def ratios(logits, batch):
    return torch.exp(log_probs(logits, batch) - batch.old_log_prob)


def clipped(ratio, batch):
    return ratio.clamp(1 - batch.clip, 1 + batch.clip)


def with_distribution(logits, batch):
    """Return a PPO loss with an entropy bonus in the style of stable-baselines3."""
    masked = torch.where(batch.mask, logits, torch.tensor(-1e8))
    distribution = Categorical(logits=masked)
    advantages = (batch.advantage - batch.advantage.mean()) / (batch.advantage.std() + 1e-8)
    ratio = torch.exp(distribution.log_prob(batch.action) - batch.old_log_prob)
    policy_loss = -torch.min(advantages * ratio, advantages * torch.clamp(ratio, 0.8, 1.2)).mean()
    return policy_loss + batch.entropy_weight * -torch.mean(distribution.entropy())


def with_maximum(logits, batch):
    """Return a PPO loss in the style of CleanRL."""
    logratio = log_probs(logits, batch) - batch.old_log_prob
    ratio = logratio.exp()
    first = -batch.advantage * ratio
    second = -batch.advantage * torch.clamp(ratio, 1 - batch.clip, 1 + batch.clip)
    return torch.max(first, second).mean()


def per_token(logits, batch):
    """Return a PPO loss with a masked mean in the style of trainers of language models."""
    log_ratio = torch.clamp(log_probs(logits, batch) - batch.old_log_prob, -20, 20)
    ratio = torch.exp(log_ratio)
    losses = torch.max(-batch.advantage * ratio, -batch.advantage * clipped(ratio, batch))
    return masked_mean(losses, batch.step_mask)


def per_turn(logits, batch):
    """Return the mean over turns of the sums over steps."""
    ratio = ratios(logits, batch)
    losses = -torch.min(ratio * batch.advantage, clipped(ratio, batch) * batch.advantage)
    return (losses * batch.step_mask).sum() / len(losses)


def constant_length(logits, batch):
    """Return the sum divided by the number of cells, as in Dr. GRPO."""
    ratio = ratios(logits, batch)
    losses = -torch.min(ratio * batch.advantage, clipped(ratio, batch) * batch.advantage)
    return (losses * batch.step_mask).sum() / batch.step_mask.numel()


def whitened(logits, batch):
    """Return a dual-clip loss with normalised advantages and an entropy bonus, all by masked means, as in verl."""
    mean = masked_mean(batch.advantage, batch.step_mask)
    variance = masked_mean((batch.advantage - mean) ** 2, batch.step_mask)
    advantage = (batch.advantage - mean) * torch.rsqrt(variance + 1e-8) * batch.step_mask
    ratio = ratios(logits, batch)
    losses = torch.maximum(-advantage * ratio, -advantage * clipped(ratio, batch))
    losses = torch.where(advantage < 0, torch.min(-advantage * batch.dual_clip, losses), losses)
    entropy = masked_mean(distribution(logits, batch).entropy(), batch.step_mask)
    return masked_mean(losses, batch.step_mask) - batch.entropy_weight * entropy


def accumulated(logits, batch):
    """Return the sum of the losses of minibatches, each divided by the number of all steps."""
    losses = [
        ppo(*part, lambda losses, batch: losses.sum() / len(logits))
        for part in ((logits[rows], batch.map(lambda array, rows=rows: array[rows])) for rows in parts(len(logits)))
    ]
    return sum(losses)


def parts(length):
    return torch.arange(length).split(100)


def with_probabilities(logits, batch):
    """Return a PPO loss of probabilities that are masked and divided by their sum."""
    probabilities = logits.softmax(-1) * batch.mask
    log_prob = Categorical(probs=probabilities).log_prob(batch.action)
    ratio = torch.exp(log_prob - batch.old_log_prob)
    return -torch.min(ratio * batch.advantage, clipped(ratio, batch) * batch.advantage).mean()


def dual(logits, batch):
    """Return a dual-clip loss."""
    ratio = ratios(logits, batch)
    first = torch.min(ratio * batch.advantage, clipped(ratio, batch) * batch.advantage)
    second = torch.max(first, batch.dual_clip * batch.advantage)
    return -torch.where(batch.advantage < 0, second, first).mean()


def actor_critic(logits, batch):
    """Return the policy's part of an A2C loss, with an entropy bonus, as a sum."""
    log_prob = (logits / batch.temperature).masked_fill(~batch.mask, -torch.inf).log_softmax(-1)
    entropy = -(log_prob.exp() * log_prob.masked_fill(~batch.mask, 0)).sum(-1)
    advantage = batch.returns - batch.value.detach()
    chosen = log_prob[torch.arange(len(logits)), batch.action]
    return (-chosen * advantage - batch.entropy_weight * entropy).sum()


RIGHT = {
    "stable-baselines3": (with_distribution, {"entropy_weight": 0.01}),
    "CleanRL": (with_maximum, {}),
    "CleanRL, temperature": (with_maximum, {"temperature": 0.7}),
    "language models": (per_token, {"layout": "padded"}),
    "language models, flat": (per_token, {}),
    "turns": (per_turn, {"layout": "padded"}),
    "Dr. GRPO": (constant_length, {"layout": "padded"}),
    "verl": (whitened, {"kind": "dual-clip", "layout": "padded", "entropy_weight": 0.001}),
    "minibatches": (accumulated, {}),
    "probabilities": (with_probabilities, {}),
    "dual clip": (dual, {"kind": "dual-clip"}),
    "A2C": (actor_critic, {"kind": "a2c", "entropy_weight": 0.1, "temperature": 1.5}),
    "A2C without entropy": (actor_critic, {"kind": "a2c"}),
    "importance": (lambda logits, batch: -(ratios(logits, batch) * batch.advantage).mean(), {"kind": "importance"}),
    "masked before": (
        lambda logits, batch: (
            -torch.min(
                (r := (Categorical(logits=logits).log_prob(batch.action) - batch.old_log_prob).exp()) * batch.advantage,
                clipped(r, batch) * batch.advantage,
            ).mean()
        ),
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


def ppo(logits, batch, reduce=None):
    """Return a right loss; `reduce` takes the losses of the steps."""
    ratio = ratios(logits, batch)
    losses = -torch.min(ratio * batch.advantage, clipped(ratio, batch) * batch.advantage)
    return masked_mean(losses, batch.step_mask) if reduce is None else reduce(losses, batch)


def with_log_prob(function):
    """Return a PPO loss whose log-probabilities come from a function of logits and batch."""

    def loss(logits, batch):
        ratio = torch.exp(function(logits, batch) - batch.old_log_prob)
        return -torch.min(ratio * batch.advantage, clipped(ratio, batch) * batch.advantage).mean()

    return loss


def with_entropy(function):
    """Return a PPO loss with a bonus that is a function of logits and batch."""
    return lambda logits, batch: ppo(logits, batch) - batch.entropy_weight * function(logits, batch)


def of_objective(function):
    """Return a loss whose objective is a function of ratio, advantage and batch."""
    return lambda logits, batch: -function(ratios(logits, batch), batch.advantage, batch).mean()


def double_softmax(logits, batch):
    probabilities = logits.masked_fill(~batch.mask, -torch.inf).softmax(-1)
    return Categorical(logits=probabilities).log_prob(batch.action)


def normalise_between(ratio, advantage, batch):
    first = ratio * advantage
    advantage = (advantage - advantage.mean()) / advantage.std()
    return torch.min(first, clipped(ratio, batch) * advantage)


def dual_everywhere(ratio, advantage, batch):
    first = torch.min(ratio * advantage, clipped(ratio, batch) * advantage)
    return torch.max(first, batch.dual_clip * advantage)


def means_of_parts(losses, batch):
    """Return the mean of the means of eight parts of the turns."""
    pairs = zip(losses.chunk(8), batch.step_mask.chunk(8), strict=True)
    return sum(masked_mean(*pair) for pair in pairs) / 8


def without_last_part(losses, batch):
    size = 150
    parts = range(0, len(losses) - size + 1, size)
    return sum((losses[start : start + size] * batch.step_mask[start : start + size]).sum() for start in parts) / (
        batch.step_mask.sum()
    )


def distribution(logits, batch):
    return Categorical(logits=logits.masked_fill(~batch.mask, -1e8))


def of_chosen(logits, batch):
    log_prob = log_probs(logits, batch)
    return -(log_prob.exp() * log_prob)


WRONG = {
    "actor-sign": (lambda logits, batch: -ppo(logits, batch), {}, "the sign is wrong"),
    "sign-through-min": (
        lambda logits, batch: torch.min(
            -ratios(logits, batch) * batch.advantage, -clipped(ratios(logits, batch), batch) * batch.advantage
        ).mean(),
        {},
        "the sign is inside the minimum",
    ),
    "mask-argument-swapped": (
        lambda logits, batch: ppo(logits, batch, lambda losses, batch: masked_mean(losses, batch.advantage)),
        {"layout": "padded"},
        "advantages are passed as the mask",
    ),
    "mask-argument-swapped, flat": (
        lambda logits, batch: ppo(logits, batch, lambda losses, batch: masked_mean(losses, batch.advantage)),
        {},
        "advantages are passed as the mask",
    ),
    "loss-mask-inverted": (
        lambda logits, batch: ppo(logits, batch, lambda losses, batch: masked_mean(losses, ~batch.step_mask)),
        {"layout": "padded"},
        "the step mask is inverted",
    ),
    "step mask missing": (
        lambda logits, batch: ppo(logits, batch, lambda losses, batch: losses.mean()),
        {"layout": "padded"},
        "padding counts as steps",
    ),
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
        of_objective(
            lambda ratio, advantage, batch: torch.min(1 / ratio * advantage, clipped(1 / ratio, batch) * advantage)
        ),
        {},
        "upside down",
    ),
    "dual-clip-everywhere": (of_objective(dual_everywhere), {"kind": "dual-clip"}, "acts on positive advantages"),
    "dual-clip-missing": (ppo, {"kind": "dual-clip"}, "ratios are clipped on one side, as in PPO, and no more"),
    "dual-clip-unasked": (dual, {}, "the second clip of dual clip is on"),
    "normalise-between": (of_objective(normalise_between), {}, "normalised between"),
    "rollout-eval-mismatch": (
        with_log_prob(lambda logits, batch: Categorical(logits=logits).log_prob(batch.action)),
        {"temperature": 0.7},
        "the temperature and the masks are missing",
    ),
    "agilerl-487": (
        with_log_prob(lambda logits, batch: Categorical(logits=logits).log_prob(batch.action)),
        {},
        "illegal actions are not masked",
    ),
    "mask-play-only": (
        lambda logits, batch: -(Categorical(logits=logits).log_prob(batch.action) * batch.advantage).mean(),
        {"kind": "a2c"},
        "illegal actions are not masked",
    ),
    "masks of the next step": (
        with_log_prob(
            lambda logits, batch: Categorical(logits=logits.masked_fill(~batch.mask.roll(-1, 0), -1e8)).log_prob(
                batch.action
            )
        ),
        {},
        "masks are those of the next step",
    ),
    "double-softmax": (with_log_prob(double_softmax), {}, "softmax is applied twice"),
    "temperature-missing": (
        with_log_prob(lambda logits, batch: distribution(logits, batch).log_prob(batch.action)),
        {"temperature": 0.7},
        "the temperature is missing",
    ),
    "action of the next step": (
        with_log_prob(lambda logits, batch: distribution(logits, batch).log_prob(batch.action.roll(-1))),
        {},
        "of the action of the next step",
    ),
    "likeliest action": (
        with_log_prob(lambda logits, batch: distribution(logits, batch).probs.max(-1).values.log()),
        {},
        "the likeliest action",
    ),
    "probability": (
        lambda logits, batch: -(log_probs(logits, batch).exp() * batch.advantage).mean(),
        {"kind": "a2c"},
        "the probability, not its logarithm",
    ),
    "mean-of-means, turns": (
        lambda logits, batch: ppo(
            logits,
            batch,
            lambda losses, batch: ((losses * batch.step_mask).sum(1) / batch.step_mask.sum(1)).mean(),
        ),
        {"layout": "padded"},
        "each turn is averaged over its own steps",
    ),
    "mean-of-means, parts": (
        lambda logits, batch: ppo(logits, batch, means_of_parts),
        {"layout": "padded"},
        "parts of the batch are averaged on their own",
    ),
    "extra-division": (
        lambda logits, batch: ppo(logits, batch) / 4,
        {},
        "the gradient is 0.25 times that of a mean over steps",
    ),
    "partial-window": (
        lambda logits, batch: ppo(logits, batch, without_last_part),
        {},
        "a part of the batch is left out",
    ),
    "detached": (lambda logits, batch: ppo(logits.detach(), batch), {}, "the loss has no gradient"),
    "adv-with-graph": (
        lambda logits, batch: -(log_probs(logits, batch) * (batch.returns - batch.value)).mean(),
        {"kind": "a2c"},
        "the advantage carries a gradient to the critic",
    ),
    "entropy-sign": (
        with_entropy(lambda logits, batch: -distribution(logits, batch).entropy().mean()),
        {"entropy_weight": 0.01},
        "the sign of the entropy bonus is wrong",
    ),
    "entropy-of-chosen": (
        with_entropy(lambda logits, batch: of_chosen(logits, batch).sum()),
        {"entropy_weight": 0.01},
        "counts only the action taken",
    ),
    "entropy from log-probabilities": (
        with_entropy(lambda logits, batch: -log_probs(logits, batch).mean()),
        {"entropy_weight": 0.01},
        "only the log-probability of the action taken",
    ),
    "entropy-no-grad": (
        with_entropy(lambda logits, batch: distribution(logits, batch).entropy().detach().mean()),
        {"entropy_weight": 0.01},
        "missing or detached",
    ),
    "entropy-counts-dead-parts": (
        with_entropy(lambda logits, batch: Categorical(logits=logits).entropy().mean()),
        {"entropy_weight": 0.01},
        "counts illegal actions",
    ),
    "entropy without temperature": (
        with_entropy(lambda logits, batch: distribution(logits, batch).entropy().mean()),
        {"entropy_weight": 0.01, "temperature": 0.7},
        "the temperature is missing in the entropy bonus",
    ),
    "entropy of padding": (
        with_entropy(lambda logits, batch: distribution(logits, batch).entropy().mean()),
        {"entropy_weight": 0.01, "layout": "padded"},
        "padding counts as steps",
    ),
    "entropy-summed": (
        with_entropy(lambda logits, batch: distribution(logits, batch).entropy().sum()),
        {"entropy_weight": 0.01},
        "it is summed over steps",
    ),
    "entropy not asked for": (
        lambda logits, batch: ppo(logits, batch) - 0.01 * distribution(logits, batch).entropy().mean(),
        {},
        "an entropy bonus of weight 0.01",
    ),
}


@pytest.mark.parametrize("fault", WRONG)
def test_wrong_policy_losses_fail_and_are_named(fault):
    function, options, name = WRONG[fault]
    result = check.policy_loss(function, **options)
    assert not result
    assert any(name in each for each in result.likely), result


# Losses of values


def value_clip(values, batch, old_is_live=True):
    old = batch.old_value
    near = old + ((values if old_is_live else values.detach()) - old).clamp(-batch.clip, batch.clip)
    return 0.5 * torch.max((values - batch.returns) ** 2, (near - batch.returns) ** 2).mean()


def clamped(values, batch):
    near = batch.old_value + (values - batch.old_value).clamp(-batch.clip, batch.clip)
    return functional.mse_loss(batch.returns, near)


def masked_square(values, batch, mask=lambda mask: mask):
    return masked_mean((values - batch.returns) ** 2, mask(batch.step_mask))


RIGHT_VALUES = {
    "squares": (lambda values, batch: 0.5 * functional.mse_loss(values, batch.returns), {}),
    "sum": (lambda values, batch: (batch.returns - values).pow(2).sum(), {}),
    "Huber": (lambda values, batch: functional.huber_loss(values, batch.returns), {}),
    "clipped": (value_clip, {"kind": "clipped"}),
    "clamped": (clamped, {"kind": "clamped"}),
    "padded": (masked_square, {"layout": "padded"}),
}


@pytest.mark.parametrize("style", RIGHT_VALUES)
def test_right_value_losses_pass(style):
    function, options = RIGHT_VALUES[style]
    result = check.value_loss(function, **options)
    assert result, result


WRONG_VALUES = {
    "critic-sign": (lambda values, batch: -functional.mse_loss(values, batch.returns), {}, "the sign is wrong"),
    "critic-detached": (
        lambda values, batch: functional.mse_loss(values.detach(), batch.returns),
        {},
        "the loss has no gradient",
    ),
    "square-broadcast": (
        lambda values, batch: ((values[:, None] - batch.returns) ** 2).mean(),
        {},
        "shapes are broadcast",
    ),
    "vf-clip-dead": (
        lambda values, batch: value_clip(values, batch, False),
        {"kind": "clipped"},
        "even within the range",
    ),
    "clip missing": (
        lambda values, batch: functional.mse_loss(values, batch.returns),
        {"kind": "clipped"},
        "values are not clipped",
    ),
    "clip unasked": (value_clip, {}, "with the greater of two errors"),
    "value-mask-offset": (
        lambda values, batch: masked_square(values, batch, lambda mask: functional.pad(mask[:, 1:], (0, 1))),
        {"layout": "padded"},
        "the step mask is that of the next step",
    ),
    "mask inverted": (
        lambda values, batch: masked_square(values, batch, lambda mask: ~mask),
        {"layout": "padded"},
        "the step mask is inverted",
    ),
    "padding": (
        lambda values, batch: functional.mse_loss(values, batch.returns),
        {"layout": "padded"},
        "padding counts as steps",
    ),
    "mean of means": (
        lambda values, batch: (
            ((values - batch.returns) ** 2 * batch.step_mask).sum(1) / batch.step_mask.sum(1)
        ).mean(),
        {"layout": "padded"},
        "each turn is averaged",
    ),
    "absolute": (lambda values, batch: (values - batch.returns).abs().mean(), {}, "wrong derivatives"),
}


@pytest.mark.parametrize("fault", WRONG_VALUES)
def test_wrong_value_losses_fail_and_are_named(fault):
    function, options, name = WRONG_VALUES[fault]
    result = check.value_loss(function, **options)
    assert not result
    assert any(name in each for each in result.likely), result


# Losses of action values


def taken(q, batch):
    return q.gather(1, batch.action[:, None]).squeeze(1)


def greedy(next_q, batch, legal=None):
    best = next_q.masked_fill(~(batch.next_mask if legal is None else legal), -torch.inf).max(dim=1).values
    return batch.reward + batch.discount * torch.where(batch.terminated, 0.0, best)


def double(next_q, batch):
    best = batch.next_q_online.masked_fill(~batch.next_mask, -torch.inf).argmax(1, keepdim=True)
    return batch.reward + batch.discount * ~batch.terminated * next_q.gather(1, best).squeeze(1).detach()


RIGHT_TD = {
    "Huber": (lambda q, n, batch: functional.smooth_l1_loss(taken(q, batch), greedy(n, batch).detach()), {}),
    "squares": (
        lambda q, n, batch: (q[torch.arange(len(q)), batch.action] - greedy(n.detach(), batch)).pow(2).sum() / 2,
        {},
    ),
    "double": (lambda q, n, batch: functional.mse_loss(taken(q, batch), double(n, batch)), {"kind": "double"}),
    "no masks": (
        lambda q, n, batch: functional.mse_loss(
            taken(q, batch), batch.reward + batch.discount * ~batch.terminated * n.detach().max(1).values
        ),
        {"masked": False},
    ),
    "columns": (
        lambda q, n, batch: functional.smooth_l1_loss(
            q.gather(1, batch.action.reshape(-1, 1)), greedy(n.detach(), batch).reshape(-1, 1)
        ),
        {},
    ),
    "row of targets": (
        lambda q, n, batch: functional.mse_loss(
            q, q.detach().scatter(1, batch.action[:, None], greedy(n.detach(), batch)[:, None])
        ),
        {},
    ),
}


@pytest.mark.parametrize("style", RIGHT_TD)
def test_right_td_losses_pass(style):
    function, options = RIGHT_TD[style]
    result = check.td_loss(function, **options)
    assert result, result


def dqn(q, next_q, batch, target=greedy):
    return functional.mse_loss(taken(q, batch), target(next_q, batch).detach())


WRONG_TD = {
    "q-target-with-graph": (
        lambda q, n, batch: functional.mse_loss(taken(q, batch), greedy(n, batch)),
        {},
        "the target carries a gradient",
    ),
    "sign": (lambda q, n, batch: -dqn(q, n, batch), {}, "the sign is wrong"),
    "detached": (lambda q, n, batch: dqn(q.detach(), n, batch), {}, "the loss has no gradient"),
    "untaken-to-zero": (
        lambda q, n, batch: functional.mse_loss(
            q, torch.zeros_like(q).scatter(1, batch.action[:, None], greedy(n.detach(), batch)[:, None])
        ),
        {},
        "not taken are pulled to 0",
    ),
    "fancy-index": (
        lambda q, n, batch: functional.mse_loss(
            q[:, batch.action], greedy(n.detach(), batch)[None].expand(len(q), len(q))
        ),
        {},
        "wrong indices",
    ),
    "square-broadcast": (
        lambda q, n, batch: (taken(q, batch)[:, None] - greedy(n.detach(), batch)).pow(2).mean(),
        {},
        "shapes are broadcast",
    ),
    "target-unmasked": (
        lambda q, n, batch: dqn(q, n, batch, lambda n, batch: greedy(n, batch, torch.ones_like(n, dtype=bool))),
        {},
        "over illegal actions, too",
    ),
    "illegal-as-zero": (
        lambda q, n, batch: dqn(q, n, batch, lambda n, batch: greedy(n * batch.next_mask, batch, batch.next_mask < 2)),
        {},
        "values of illegal next actions are taken as 0",
    ),
    "q-end-ignored": (
        lambda q, n, batch: dqn(
            q,
            n,
            batch,
            lambda n, batch: batch.reward + batch.discount * n.masked_fill(~batch.next_mask, -torch.inf).amax(1),
        ),
        {},
        "a turn that ended bootstraps",
    ),
    "double-is-plain": (dqn, {"kind": "double"}, "the next value is the greatest one"),
    "double-off-by-one": (
        lambda q, n, batch: functional.mse_loss(
            taken(q, batch),
            batch.reward
            + batch.discount * ~batch.terminated * n.detach().gather(1, q.argmax(1, keepdim=True)).squeeze(1),
        ),
        {"kind": "double"},
        "the next action is the greatest one of the current state",
    ),
    "greatest moves": (
        lambda q, n, batch: functional.mse_loss(q.amax(1), greedy(n, batch).detach()),
        {},
        "the greatest value moves",
    ),
    "discount": (
        lambda q, n, batch: dqn(q, n, batch, lambda n, batch: (greedy(n, batch) - batch.reward) / 0.9 + batch.reward),
        {},
        "discount",
    ),
}


@pytest.mark.parametrize("fault", WRONG_TD)
def test_wrong_td_losses_fail_and_are_named(fault):
    function, options, name = WRONG_TD[fault]
    result = check.td_loss(function, **options)
    assert not result
    assert any(name in each for each in result.likely), result


# Wrong calls


def changes_its_batch(logits, batch):
    batch.advantage.mul_(2)
    return ppo(logits, batch)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (changes_its_batch, {}, "changed batch.advantage in place"),
        (lambda logits, batch: (ppo(logits, batch), 1), {}, "must return one number as a torch tensor, not tuple"),
        (lambda logits, batch: None, {}, "not NoneType"),
        (lambda logits, batch: ppo(logits, batch).item(), {}, "not float"),
        (ppo, {"temperature": 0}, "a temperature is more than 0"),
        (lambda logits, batch: ratios(logits, batch), {}, r"not shape \(\d+,\): take its mean or sum"),
        (lambda logits: 1, {}, "raised TypeError"),
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
