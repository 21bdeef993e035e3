"""Test checks of losses with functions of JAX."""

import jax
import jax.numpy as jnp

from stb_gym import check


def ppo(logits, batch):
    log_probs = jax.nn.log_softmax(jnp.where(batch.mask, logits, -1e9))
    chosen = jnp.take_along_axis(log_probs, batch.action[..., None], axis=-1)[..., 0]
    ratio = jnp.exp(chosen - batch.old_log_prob)
    clipped = jnp.clip(ratio, 1 - batch.clip, 1 + batch.clip)
    losses = -jnp.minimum(ratio * batch.advantage, clipped * batch.advantage)
    return (losses * batch.step_mask).sum() / batch.step_mask.sum()


def dqn(q, next_q, batch):
    best = jnp.where(batch.next_mask, next_q, -jnp.inf).max(axis=1)
    target = batch.reward + batch.discount * jnp.where(batch.terminated, 0, best)
    return ((q[jnp.arange(len(q)), batch.action] - jax.lax.stop_gradient(target)) ** 2).mean()


def test_right_losses_pass():
    assert check.policy_loss(ppo, framework="jax")
    assert check.policy_loss(ppo, framework="jax", layout="padded")
    assert check.value_loss(lambda values, batch: ((values - batch.returns) ** 2).mean(), framework="jax")
    assert check.td_loss(dqn, framework="jax")


def test_wrong_losses_are_named():
    (likely,) = check.policy_loss(lambda logits, batch: -ppo(logits, batch), framework="jax").likely
    assert "the sign is wrong" in likely
