"""Test the losses of TRL's GRPO trainer, with logits of a small game in the place of those of tokens."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
import torch
from accelerate import Accelerator
from trl import GRPOTrainer

from stb_gym import check

DELTA = 3.0


def loss_of(loss_type, delta=None, entropy_weight=0.0):
    """Return the loss of a type as `check.policy_loss` takes it."""

    def loss(logits, batch):
        log_probs = logits.masked_fill(~batch.mask, -1e9).log_softmax(dim=-1)
        chosen = log_probs.gather(-1, batch.action[..., None])[..., 0]
        entropies = -(log_probs.exp() * log_probs).sum(dim=-1)
        trainer = GRPOTrainer.__new__(GRPOTrainer)
        vars(trainer).update(
            _get_per_token_logps_and_entropies=lambda *_, **__: (chosen, entropies, None),
            model=SimpleNamespace(training=True),
            accelerator=Accelerator(cpu=True),
            args=SimpleNamespace(delta=delta, steps_per_generation=1),
            loss_type=loss_type,
            epsilon_low=batch.clip,
            epsilon_high=batch.clip,
            importance_sampling_level="token",
            max_completion_length=logits.shape[1],
            current_gradient_accumulation_steps=1,
            beta=0.0,
            top_entropy_quantile=1.0,
            off_policy_mask_threshold=None,
            use_vllm=False,
            aux_loss_enabled=False,
            _entropy_bonus_enabled=entropy_weight > 0,
            use_adaptive_entropy=False,
            entropy_coef=entropy_weight,
            _metrics=MagicMock(),
        )
        none = torch.zeros(len(logits), 0, dtype=torch.long)
        inputs = {
            "prompt_ids": none,
            "prompt_mask": none,
            "completion_ids": batch.action,
            "completion_mask": batch.step_mask,
            "advantages": batch.advantage,
            "old_per_token_logps": batch.old_log_prob,
            "num_items_in_batch": batch.step_mask.sum(),
        }
        return trainer._compute_loss(None, inputs)

    return loss


@pytest.mark.parametrize("loss_type", ["bnpo", "dr_grpo", "dapo", "luspo"])
def test_losses_pass(loss_type):
    assert check.policy_loss(loss_of(loss_type), layout="padded")


def test_a_bound_on_the_ratio_is_dual_clip():
    assert check.policy_loss(loss_of("dapo", DELTA), kind="dual-clip", layout="padded")


def test_an_entropy_bonus_passes():
    assert check.policy_loss(loss_of("bnpo", entropy_weight=0.05), entropy_weight=0.05, layout="padded")


def test_the_first_loss_of_grpo_averages_over_the_steps_of_each_turn():
    found = check.policy_loss(loss_of("grpo"), layout="padded")
    assert found.likely == ("each turn is averaged over its own steps, and then the means are averaged",)
