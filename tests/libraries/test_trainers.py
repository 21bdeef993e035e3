"""Trainers of language models: a strategy plays a hundred turns by each framework's own runner.

The rewards of each turn add up to minus its exact regret. `make libraries` installs TRL, SkyRL-gym and reasoning-gym.
The others need other versions of its packages or are large, and are skipped unless you install them.
"""

import asyncio
import json
import runpy

import pytest

from stb_gym import ShutTheBox, strategy
from stb_gym.text import TextGame
from tests.libraries import BOX, losses_of
from tests.text.test_game import player
from tests.tutorials import FOLDER

SEEDS = range(100)
POLICY = strategy(ShutTheBox(), "most-ways")
MODEL = player(TextGame(ShutTheBox()), POLICY)
TRAINERS = runpy.run_path(str(FOLDER / "trainers.py"))


@pytest.fixture(scope="module")
def lost():
    """Return the regret of the strategy in each turn."""
    regrets = [sum(losses_of(BOX, POLICY, seed)) for seed in SEEDS]
    assert max(regrets) > 0.1
    return pytest.approx([0.0 - regret for regret in regrets], abs=1e-9)


def last_question(text):
    """Return the last question in a conversation, as `MODEL` reads it."""
    return "\n".join(text[text.rindex("Open tiles: ") :].splitlines()[:3])


class Letters:
    """A tokenizer whose tokens are the bytes of a text."""

    bos_token = eos_token = None
    bos_token_id = eos_token_id = pad_token_id = 0

    def encode(self, text, add_special_tokens=False, **_):
        return list(text.encode())

    def decode(self, tokens, **_):
        return bytes(map(int, tokens)).decode()


def test_skyrl_gym(lost):
    skyrl_gym = pytest.importorskip("skyrl_gym")
    skyrl_gym.register(id="turns", entry_point=TRAINERS["for_skyrl_gym"]())
    totals = []
    for seed in SEEDS:
        env = skyrl_gym.make("turns", extras={"seed": seed})
        chat, _ = env.init([])
        total, done = 0.0, False
        while not done:
            step = env.step(MODEL(chat[-1]["content"]))
            chat, done = chat + step["observations"], step["done"]
            total += step["reward"]
        totals.append(total)
    assert totals == lost


def test_tinker_cookbook(lost):
    pytest.importorskip("tinker_cookbook")
    from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
    from tinker_cookbook.renderers.role_colon import RoleColonRenderer
    from tinker_cookbook.rl.message_env import EnvFromMessageEnv
    from tinker_cookbook.rl.rollouts import do_single_rollout

    class Strategy(TokenCompleter):
        async def __call__(self, model_input, stop, *, max_tokens=None):
            text = Letters().decode(model_input.to_ints()).removesuffix("Assistant:").strip()
            answer = f" {MODEL(last_question(text))}{stop[0]}"
            return TokensWithLogprobs(tokens=Letters().encode(answer), maybe_logprobs=None)

    turn = TRAINERS["for_tinker_cookbook"]()
    totals = []
    for seed in SEEDS:
        env = EnvFromMessageEnv(RoleColonRenderer(Letters()), turn(seed))
        played = asyncio.run(do_single_rollout(Strategy(), env))
        totals.append(sum(transition.reward for transition in played.transitions))
    assert totals == lost


def test_gem(lost):
    gem = pytest.importorskip("gem")
    from gem.wrappers.episode_tracking_wrapper import EpisodeTrackingWrapper

    gem.register("turns", entry_point=TRAINERS["for_gem"]())
    env = EpisodeTrackingWrapper(gem.make("turns", seed=0))
    totals = []
    for seed in SEEDS:
        (question, _), done = env.reset(seed=seed), False
        while not done:
            question, _, done, _, info = env.step(MODEL(question))
        totals.append(info["cumulative_rewards"])
    assert totals == lost


def test_reasoning_gym():
    reasoning_gym = pytest.importorskip("reasoning_gym")
    data = TRAINERS["for_reasoning_gym"]()
    assert isinstance(data, reasoning_gym.dataset.ProceduralDataset)
    text = TextGame(ShutTheBox())
    scored = list(zip(range(100), data, strict=False))
    assert len(data) == 1766
    for _, entry in scored:
        identity = entry["metadata"]["id"]
        answer = MODEL(entry["question"])
        loss, worst = text.loss(identity, answer), text.loss(identity, "")
        assert data.score_answer(answer, entry) == pytest.approx(1 - loss / worst)
        assert data.score_answer(None, entry) == data.score_answer("shut nothing", entry) == 0
    scores = {data.score_answer(MODEL(entry["question"]), entry) for _, entry in scored}
    assert max(scores) == 1 > min(scores) > 0


def test_inspect(tmp_path):
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    task = TRAINERS["for_inspect"]()
    task.dataset = task.dataset[:100]
    answers = [ModelOutput.from_content("mockllm/model", MODEL(sample.input)) for sample in task.dataset]
    for answer in answers:
        answer.usage = ModelUsage()  # else a tokenizer is downloaded, to count
    model = get_model("mockllm/model", custom_outputs=answers)
    [log] = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", max_connections=1, max_samples=1)
    text = TextGame(ShutTheBox())
    losses = [text.loss(sample.id, MODEL(sample.input)) for sample in task.dataset]
    assert log.status == "success", log.error
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(-sum(losses) / 100)
    assert sum(losses) > 0


@pytest.fixture
def tokenizer():
    """Return a small tokenizer of prompts with a chat template."""
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pairs.decoder = decoders.ByteLevel()
    special = ["<|im_start|>", "<|im_end|>", "<|pad|>"]
    letters = pre_tokenizers.ByteLevel.alphabet()
    learned = trainers.BpeTrainer(vocab_size=700, special_tokens=special, initial_alphabet=letters)
    pairs.train_from_iterator([TRAINERS["turns"]().reset(seed=seed)[0] for seed in SEEDS], learned)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=pairs, eos_token="<|im_end|>", pad_token="<|pad|>")
    fast.chat_template = (
        "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    return fast


def test_agilerl(lost, tokenizer):
    pytest.importorskip("agilerl")
    import torch
    from agilerl.llm_envs import RolloutHarness

    harness = RolloutHarness.local(TRAINERS["turns"](), tokenizer, max_turns=9)
    totals = []
    for seed in SEEDS:
        harness.reset(seed=seed)
        done = False
        while not done:
            text = tokenizer.decode(harness.full_ids[0].tolist())
            answer = MODEL(last_question(text)) + "<|im_end|>"
            tokens = torch.tensor([tokenizer.encode(answer, add_special_tokens=False)])
            _, _, terminated, truncated, _ = harness.step(torch.cat([harness.full_ids, tokens], dim=1))
            done = terminated or truncated
        assert not truncated
        totals.append(sum(harness.turn_rewards))
    assert totals == lost


def test_agilerl_trains(tokenizer):
    grpo = pytest.importorskip("agilerl.algorithms.grpo")
    peft = pytest.importorskip("peft")
    import torch
    import transformers
    from agilerl.llm_envs import RolloutHarness
    from agilerl.training.llm.rollout import train_llm_rollout

    torch.manual_seed(0)
    shape = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 4096}
    tokens = {f"{name}_token_id": tokenizer.eos_token_id for name in ("bos", "eos")}
    agent = grpo.GRPO(
        tokenizer.pad_token_id,
        tokenizer.pad_token,
        actor_network=transformers.GPT2LMHeadModel(
            transformers.GPT2Config(vocab_size=len(tokenizer), **shape, **tokens)
        ),
        lora_config=peft.LoraConfig(r=4, target_modules=["c_attn"], task_type="CAUSAL_LM"),
        batch_size=2,
        group_size=2,
        micro_batch_size_per_gpu=2,
        max_model_len=2048,
        max_output_tokens=8,
        lr=0.1,
        device="cpu",
        use_liger_loss=False,
        gradient_checkpointing=False,
    )
    before = [weights.detach().clone() for weights in agent.actor.parameters()]
    rewards = []

    class Harness(RolloutHarness):
        def get_episode_data(self, *arguments, **options):
            rewards.append(sum(self.turn_rewards))
            return super().get_episode_data(*arguments, **options)

    train_llm_rollout(
        [agent], 9, lambda: Harness.local(TRAINERS["turns"](), tokenizer, max_turns=9), max_steps=40, verbose=False
    )
    assert len(rewards) >= 40
    assert max(rewards) < 0
    assert any((old != new).any() for old, new in zip(before, agent.actor.parameters(), strict=True))


def test_trl(lost, tokenizer, tmp_path, monkeypatch):
    trl = pytest.importorskip("trl")
    import transformers
    from datasets import Dataset
    from trl.chat_template_utils import qwen3_chat_template

    tokenizer.chat_template = qwen3_chat_template
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = transformers.Qwen3ForCausalLM(
        transformers.Qwen3Config(
            vocab_size=len(tokenizer), num_key_value_heads=1, head_dim=8, max_position_embeddings=8192, **shape
        )
    )
    rewards = {}

    class Turns(TRAINERS["for_trl"]()):
        def reset(self, seed=None, **columns):
            self.seed = seed
            return super().reset(seed, **columns)

        def get_reward(self):
            rewards.setdefault(self.seed, []).append(reward := super().get_reward())
            return reward

    def generate(prompt_ids, *_, **__):
        answers = []
        for ids in prompt_ids:
            text = tokenizer.decode(ids)
            answer = "<|im_end|>"
            if "The turn is over." not in text:
                move = MODEL(last_question(text)).partition("Answer: ")[2]
                call = json.dumps({"name": "play", "arguments": {"move": move}})
                answer = f"<tool_call>\n{call}\n</tool_call>{answer}"
            answers.append(tokenizer.encode(answer, add_special_tokens=False))
        return answers, None

    rows = [{"prompt": [{"role": "user", "content": "Play. "}], "seed": seed} for seed in SEEDS]
    options = {"per_device_train_batch_size": 20, "num_generations": 2, "max_completion_length": 4000, "max_steps": 10}
    quiet = {"report_to": "none", "use_cpu": True, "bf16": False, "shuffle_dataset": False, "save_strategy": "no"}
    trainer = trl.GRPOTrainer(
        model,
        args=trl.GRPOConfig(str(tmp_path), **options, **quiet),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        environment_factory=Turns,
    )
    monkeypatch.setattr(trainer, "_generate_single_turn", generate)
    trainer.train()
    assert [rewards[seed][0] for seed in SEEDS] == lost
    assert [rewards[seed][1] for seed in SEEDS] == lost  # both turns of a group have the same dice
