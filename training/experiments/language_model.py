"""Train a small language model on games of perfect play in words: `python -m training.experiments.language_model`.

A causal transformer of characters reads a position and a roll, and writes the move. It is measured as any other
language model, by its answers to all questions.
"""

import sys
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch.nn import functional

from stb_gym import RegretMeter, ShutTheBox, solve
from stb_gym.text import TextGame
from stb_gym.text.grading import asked_states
from training.experiments.table import Keys, table_command

KEY = ["games", "seed"]
NUMBERS = ["regret", "illegal_mass", "unparsable_mass"]
GAMES = (100, 300, 1000, 3000, 10_000)
CHARACTERS = "\n +,0123456789:OadehlnoprRstiuw"
WIDTH, LAYERS, HEADS, LONGEST = 64, 2, 4, 64
STEPS, BATCH, LEARNING_RATE = 2000, 64, 3e-3


class Transformer(torch.nn.Module):
    """A causal transformer: [B, L] characters to [B, L, V] scores of the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.character = torch.nn.Embedding(len(CHARACTERS), WIDTH)
        self.position = torch.nn.Embedding(LONGEST, WIDTH)
        layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, batch_first=True, norm_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.scores = torch.nn.Linear(WIDTH, len(CHARACTERS))

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        """Return the scores of the next character at every position."""
        length = text.shape[1]
        mask = torch.nn.Transformer.generate_square_subsequent_mask(length)
        embedded = self.character(text) + self.position(torch.arange(length))
        return self.scores(self.layers(embedded, mask, is_causal=True))


def fit(model: Transformer, steps: int, loss_of_batch: Callable[[Transformer], torch.Tensor]) -> None:
    """Train a model by the losses of batches that a function draws; the learning rate falls linearly to 0."""
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    for step in range(steps):
        loss = loss_of_batch(model)
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - step / steps)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def train(games: int, seed: int) -> list[float]:
    """Train a model on games of perfect play; return its exact regret, its illegal mass and its unparsable mass."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    text = TextGame(ShutTheBox())
    best = solve(text.game)
    tables = best.tables
    choices = np.flatnonzero(asked_states(tables))  # in the order of their questions
    questions = list(text.questions())
    # The last line of a question is always the same.
    prompts = [question["question"].rpartition("\n")[0] + "\n" for question in questions]
    moves = map(text.answer, best.policy[choices].tolist())
    examples = [prompt + move for prompt, move in zip(prompts, moves, strict=True)]
    played = RegretMeter(text.game).sample(lambda seen, masks: best.policy[tables.find_states(seen)], games, seed)
    examples_played = choices.searchsorted(played.state[tables.choices[played.state] > 1])
    characters = encode(examples)[examples_played]
    position = torch.arange(LONGEST)
    is_answer = ((position >= lengths(prompts)[:, None]) & (position <= lengths(examples)[:, None]))[examples_played]

    def loss(model: Transformer) -> torch.Tensor:
        batch = torch.randint(len(examples_played), (BATCH,))
        scores, learned = model(characters[batch, :-1]), is_answer[batch, 1:]
        return functional.cross_entropy(scores[learned], characters[batch, 1:][learned])

    model = Transformer()
    fit(model, STEPS, loss)
    grade = text.grade(zip((question["id"] for question in questions), answered(model, prompts), strict=True))
    return [grade.evaluation.regret, grade.illegal_mass, grade.unparsable_mass]


def encode(lines: Sequence[str]) -> torch.Tensor:
    """Return [B, LONGEST] the characters of lines as numbers, filled up with line breaks."""
    return torch.tensor([[CHARACTERS.index(each) for each in line.ljust(LONGEST, "\n")] for line in lines])


def lengths(lines: Sequence[str]) -> torch.Tensor:
    """Return [B] the number of characters of lines."""
    return torch.tensor([len(line) for line in lines])


@torch.no_grad()
def answered(model: Transformer, prompts: Sequence[str]) -> list[str]:
    """Return the most probable answers of a model, character by character up to a line break."""
    text, length = encode(prompts), lengths(prompts)
    rows = torch.arange(len(prompts))
    for _ in range(LONGEST - int(length.max())):
        text[rows, length] = model(text)[rows, length - 1].argmax(dim=1)
        length += text[rows, length] != 0  # a line break ends the answer
    lines = ["".join(CHARACTERS[each] for each in row) for row in text.tolist()]
    return [line[len(prompt) :].partition("\n")[0] for prompt, line in zip(prompts, lines, strict=True)]


def keys(seeds: int) -> Keys:
    """Return the keys of all trainings."""
    return [(games, seed) for games in GAMES for seed in range(seeds)]


main = table_command("language_model", train, keys, KEY, NUMBERS, seeds=3)

if __name__ == "__main__":
    sys.exit(main())
