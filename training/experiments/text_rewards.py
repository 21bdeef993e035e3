"""Train a small language model by reinforcement: `python -m training.experiments.text_rewards`.

The transformer of `language_model` reads the numbers of a question, such as "1 2 5 9 11", and writes a move, such as
"2,9". Supervised training on random legal moves teaches it the format. Reinforcement with one of the REWARDS goes on
from there. Each training is a row of a .csv.gz file: the exact regret of its most probable answers after so many
answers. The same command continues.
"""

import re
import sys
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from stb_gym import Game, ShutTheBox, Threes
from stb_gym.arrays import FloatArray, IntArray
from stb_gym.check.estimators import by_group, to_go, total
from stb_gym.check.sampled_turns import Turns
from stb_gym.envs import stepper_of
from stb_gym.solver import Evaluation, solve_tables
from stb_gym.text import TextGame
from stb_gym.text.game import decision_at
from stb_gym.text.grading import asked_states, grade_actions
from training.experiments.estimators import by_rollout, grpo
from training.experiments.language_model import CHARACTERS, Transformer, encode, fit, lengths
from training.experiments.table import Keys, table_command

GAMES: dict[str, Game] = {"nine-tiles": ShutTheBox(), "threes": Threes()}
REWARDS = {
    "GRPO": "the final score, standardised over 8 turns that begin alike",
    "RLOO": "the final score, minus the mean of the 7 other turns",
    "losses of a turn": "minus the exact losses from each answer on, minus the mean of the 7 other turns",
    "losses of a question": "minus the exact loss of an answer, minus the mean of 7 other answers to the question",
    "advantages": "the exact advantage of an answer under the model's own play",
}
KEY = ["game", "reward", "seed"]
POINTS = (0, 1000, 2000, 4000, 8000, 16_000, 32_000)  # numbers of answers
NUMBERS = [f"{name} {answers}" for answers in POINTS for name in ("regret", "illegal_mass", "unparsable_mass")]
TURNS, GROUP_SIZE, QUESTIONS = 64, 8, 24  # in a batch; 24 x 8 answers are about as many as 64 turns have
STEP_SIZE = 1e-3
ENTROPY_BONUS = 0.5  # points, times minus the log-probability of an answer: without it all answers soon are the same
STEPS, BATCH = 2000, 64  # for supervised training
LONGEST_ANSWER = 8  # characters, with the line break
RENEWED = 10  # batches between two computations of the advantages


class Course:
    """The questions of a game as text, and the answers of models to them.

    Args:
        game: the game, with numbers for names.

    Attributes:
        best: perfect play.
        asked: [Q] the states that are asked about.
        pairs: [M] the pairs of these states, and `question`: [M] the index of their question.
        examples, ends: [M, L] questions with a legal move, and [M] their length.
    """

    def __init__(self, game: TextGame):
        self.text = game
        self.best = solve_tables(game.game, game.objective)
        self.tables = tables = self.best.tables
        self.stepper = stepper_of(self.text.game)
        self.asked = np.flatnonzero(asked_states(tables))
        self._decisions = [decision_at(self.stepper, state) for state in self.asked.tolist()]
        questions = [self.text.question(each).rpartition("\n")[0] for each in self._decisions]
        prompts = [" ".join(re.findall("[0-9]+", each)) + "\n" for each in questions]
        self._characters, self.lengths = encode(prompts), lengths(prompts)
        self.pairs = np.flatnonzero(np.isin(tables.pair_state, self.asked))
        self.question = self.asked.searchsorted(tables.pair_state[self.pairs])
        moves = [self.text.answer(action).split()[1] for action in tables.pair_action[self.pairs].tolist()]
        examples = [prompts[each] + move for each, move in zip(self.question.tolist(), moves, strict=True)]
        self.examples, self.ends = encode(examples), lengths(examples) + 1
        self.read = lru_cache(None)(self._read)

    def _read(self, question: int, answer: str) -> tuple[int | None, int]:
        """Return the action that an answer names, and its pair; None or -1 if there is none."""
        action = self.text.parse(answer, self._decisions[question])
        pairs = self.tables.pairs_of(int(self.asked[question]))
        legal = self.tables.pair_action[pairs].tolist()
        return action, pairs[legal.index(action)] if action in legal else -1

    @torch.no_grad()
    def write(self, model: Transformer, question: IntArray, greedy: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """Return [N, L] the characters of questions [N] with the model's answers, and [N] their lengths."""
        text, end = self._characters[question], self.lengths[question].clone()
        rows = torch.arange(len(question))
        for _ in range(LONGEST_ANSWER):
            if not len(rows):
                break
            # Equal texts are read once.
            distinct, place = torch.unique(text[rows, : int(end[rows].max())], dim=0, return_inverse=True)
            scores = model(distinct)[place, end[rows] - 1]
            written = scores.argmax(dim=1) if greedy else torch.multinomial(scores.softmax(dim=1), 1)[:, 0]
            text[rows, end[rows]] = written
            end[rows] += 1
            rows = rows[written != 0]  # a line break ends the answer
        return text, end

    def answers(self, question: IntArray, text: torch.Tensor, end: torch.Tensor) -> list[tuple[int | None, int]]:
        """Return the action that each answer names, and its pair; None or -1 if there is none."""
        begin = self.lengths[question].tolist()
        return [
            self.read(number, "".join(CHARACTERS[each] for each in row[first : last - 1]))
            for number, row, first, last in zip(question.tolist(), text.tolist(), begin, end.tolist(), strict=True)
        ]

    def log_probability(
        self, model: Transformer, question: IntArray, text: torch.Tensor, end: torch.Tensor
    ) -> torch.Tensor:
        """Return [N] the logarithm of the probability of each answer."""
        text = text[:, : int(end.max())]
        position = torch.arange(1, text.shape[1])
        is_answer = (position >= self.lengths[question][:, None]) & (position < end[:, None])
        of_characters = model(text[:, :-1]).log_softmax(dim=2).gather(2, text[:, 1:, None])[:, :, 0]
        return (of_characters * is_answer).sum(dim=1)

    def loss(self, model: Transformer, drawn: torch.Tensor) -> torch.Tensor:
        """Return the mean loss of a model on legal moves: pairs with the indices `drawn`."""
        return -self.log_probability(model, self.question[drawn], self.examples[drawn], self.ends[drawn]).mean()

    def measure(self, model: Transformer) -> list[float]:
        """Return the regret, the illegal mass and the unparsable mass of the most probable answers."""
        question = np.arange(len(self.asked))
        named = self.answers(question, *self.write(model, question, greedy=True))
        actions = zip(self.asked.tolist(), (action for action, _ in named), strict=True)
        grade = grade_actions(self.best, actions, masked=False)
        return [grade.evaluation.regret, grade.illegal_mass, grade.unparsable_mass]

    @torch.no_grad()
    def evaluation(self, model: Transformer) -> Evaluation:
        """Measure the answers that the model draws, except that only one spelling of each legal move counts."""
        weights = (self.tables.choices[self.tables.pair_state] == 1).astype(float)
        weights[self.pairs] = self.log_probability(model, self.question, self.examples, self.ends).exp().numpy()
        illegal = np.zeros(self.tables.num_states)
        illegal[self.asked] = 1 - self.tables.sum_at_states(weights)[self.asked]
        return Evaluation(self.best, weights, illegal.clip(0))


@lru_cache(None)
def beginner(game: str) -> tuple[Course, Transformer]:
    """Return a game, and a model that was trained to answer with random legal moves. All seeds begin with it."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    course, model = Course(TextGame(GAMES[game])), Transformer()
    fit(model, STEPS, lambda model: course.loss(model, torch.randint(len(course.pairs), (BATCH,))))
    return course, model


@dataclass(frozen=True)
class Batch:
    """N answers of a model, given in T turns.

    Attributes:
        question: [N] their questions.
        text, end: [N, L] the characters of questions and answers, and [N] their lengths.
        pair: [N] the pair of each answer, or -1.
        turn, move: [N] the turn of each answer, and how many others came before it.
        score: [T] the utility of the end of each turn.
    """

    question: IntArray
    text: torch.Tensor
    end: torch.Tensor
    pair: IntArray
    turn: IntArray
    move: IntArray
    score: FloatArray


def ask(course: Course, model: Transformer, draws: np.random.Generator) -> Batch:
    """Let a model answer drawn questions, GROUP_SIZE times each."""
    question = draws.integers(len(course.asked), size=QUESTIONS).repeat(GROUP_SIZE)
    text, end = course.write(model, question)
    pair = np.array([named for _, named in course.answers(question, text, end)])
    turn = np.arange(len(question))
    return Batch(question, text, end, pair, turn, np.zeros_like(turn), np.zeros(len(turn)))


def play(course: Course, model: Transformer, draws: np.random.Generator) -> Batch:
    """Let a model play turns. Those of a group begin with the same throw."""
    tables, stepper, objective = course.tables, course.stepper, course.best.objective
    of_ends = objective.utilities(tables.final_score)
    score = np.full(TURNS, objective.illegal_utility(tables.final_score), float)
    answered, turn = np.zeros(TURNS, int), np.arange(TURNS)
    throws = draws.integers(stepper.num_throws, size=TURNS // GROUP_SIZE).repeat(GROUP_SIZE)
    state = stepper.after_throws(np.full(TURNS, stepper.start), throws)
    columns = []
    while len(turn):
        is_asked = tables.choices[state] > 1
        pair = tables.pair_start[state]  # the only pair of a forced move
        question, of_asked = course.asked.searchsorted(state[is_asked]), turn[is_asked]
        text, end = course.write(model, question)
        pair[is_asked] = [named for _, named in course.answers(question, text, end)]
        columns.append((question, text, end, pair[is_asked], of_asked, answered[of_asked]))
        answered[of_asked] += 1
        turn, pair = turn[pair >= 0], pair[pair >= 0]
        afterstate = tables.pair_afterstate[pair]
        state = stepper.after_throws(afterstate, draws.integers(stepper.num_throws, size=len(turn)))
        is_over = tables.choices[state] == 0
        score[turn[is_over]] = of_ends[afterstate[is_over]]
        turn, state = turn[~is_over], state[~is_over]
    questions, texts, ends, pairs, turns, moves = zip(*columns, strict=True)
    return Batch(
        np.concatenate(questions),
        torch.cat(texts),
        torch.cat(ends),
        np.concatenate(pairs),
        np.concatenate(turns),
        np.concatenate(moves),
        score,
    )


def weigh(course: Course, reward: str, batch: Batch, bonus: FloatArray, own: Evaluation | None) -> FloatArray:
    """Return [N] the weight of the log-probability of each answer.

    Args:
        course: the game.
        reward: a key of REWARDS.
        batch: N answers.
        bonus: [N] what each answer earns besides.
        own: the exact measurement of the model, for advantages.
    """
    tables, best = course.tables, course.best
    illegal = best.objective.illegal_utility(tables.final_score)
    state, is_legal = course.asked[batch.question], batch.pair >= 0
    if own is not None:
        after, before = own.utilities
        return np.where(is_legal, after[tables.pair_afterstate[batch.pair]], illegal) - before[state] + bonus
    place = batch.turn, batch.move
    valid = np.zeros((len(batch.score), batch.move.max() + 1), np.bool_)
    valid[place] = True
    rewards = np.zeros(valid.shape)
    rewards[place] = bonus
    if reward.startswith("losses"):
        rewards[place] += np.where(is_legal, best.advantage[batch.pair], illegal - best.state_utilities[state])
    else:
        rewards[:, 0] += batch.score
    turns = Turns(None, valid, batch.turn, rewards, valid, state, batch.pair, GROUP_SIZE, seed=0)
    if reward == "GRPO":
        of_moves = by_rollout(turns, grpo(turns))
    else:
        of_moves = by_group(turns, total(turns) if reward == "RLOO" else to_go(turns), others=True)
    return np.broadcast_to(of_moves, valid.shape)[place]


def train(game: str, reward: str, seed: int) -> list[float]:
    """Train a model by reinforcement; return what `Course.measure` returns after each of the POINTS."""
    course, first = beginner(game)
    model = deepcopy(first)
    torch.manual_seed(seed)
    draws = np.random.default_rng(seed)
    optimizer = torch.optim.Adam(model.parameters(), STEP_SIZE, betas=(0.9, 0.95))
    found: list[float] = []
    answers = batches = 0
    own = None
    while True:
        while answers >= POINTS[len(found) // 3]:
            found += course.measure(model)
            if len(found) == len(NUMBERS):
                return found
        if reward == "advantages" and batches % RENEWED == 0:
            own = course.evaluation(model)
        batch = (ask if reward == "losses of a question" else play)(course, model, draws)
        # Equal answers to a question are read once.
        _, places, which = np.unique(batch.text, axis=0, return_index=True, return_inverse=True)
        likely = course.log_probability(model, batch.question[places], batch.text[places], batch.end[places])
        bonus = -ENTROPY_BONUS * likely.detach().numpy()[which]
        of_answers = weigh(course, reward, batch, bonus, own) / len(batch.score)
        weight = torch.tensor(np.bincount(which, of_answers), dtype=torch.float32)
        optimizer.zero_grad()
        (-(weight * likely).sum()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        answers += len(batch.question)
        batches += 1


def keys(seeds: int) -> Keys:
    """Return the keys of all trainings."""
    return [(game, reward, seed) for seed in range(seeds) for game in GAMES for reward in REWARDS]


main = table_command("text_rewards", train, keys, KEY, NUMBERS)

if __name__ == "__main__":
    sys.exit(main())
