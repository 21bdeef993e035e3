"""Rules and questions in words, and the answers to them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from stb_gym.arguments import checked
from stb_gym.checks import check_choice, check_integer
from stb_gym.envs import Stepper, stepper_of
from stb_gym.games import Roll, fits
from stb_gym.messages import quoted
from stb_gym.solver import GameOrEnv, Goal, Solution, is_named, solve_tables, task_of
from stb_gym.text.answers import AnswerReader
from stb_gym.text.grading import Grade, asked_states, grade_actions
from stb_gym.text.wording import WORDINGS, drawn_names
from stb_gym.tracking import tracked
from stb_gym.words import words_of

VERSION = "4"  # a release increases it if prompts change, or answers are read differently


class Decision(NamedTuple):
    """A state in which a model is asked for an action.

    Attributes:
        progress: what the player holds, such as the open tiles as bits.
        dice: how many dice were thrown.
        roll: the dice as the rules see them.
        legal: the legal actions.
    """

    progress: int
    dice: int
    roll: Roll
    legal: tuple[int, ...]


def decision_at(stepper: Stepper, state: int) -> Decision:
    """Return a state with its legal actions, given its number in a stepper."""
    progress, dice, roll = stepper.locate(state)
    _, actions = stepper.legal_moves(np.array([state]))
    return Decision(progress, dice, roll, tuple(actions.tolist()))


class TextGame:
    """A game in words.

    Args:
        what: the rules, or an environment, see `stb_gym.solve`.
        objective: what is maximised; by default the objective of the environment, and for a game "score".
        seed: gives other names to the tiles of a box, or to the faces of the dice of Threes, in an order drawn by this
            seed, so that memorised answers do not help; None for numbers.
        list_moves: whether questions list the legal moves.
        wording: how the prompt is phrased: "example" shows an answer, "last-line" and "json" describe its form.

    Attributes:
        game: the rules.
        objective: what is maximised.
        seed, wording: as given.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if there is no such objective or wording, the objective has no name, or names cannot be given.

    Example:
        >>> import stb_gym
        >>> from stb_gym.text import TextGame
        >>> game = TextGame(stb_gym.ShutTheBox())
        >>> decision = game.position(progress=0b110011000, dice=2, roll=(9,))
        >>> print(game.question(decision))
        Open tiles: 4, 5, 8, 9
        Roll: 9
        Shut which tiles? End your reply with one line such as "Answer: shut 3,5".
        >>> action = game.parse("Answer: 4 and 5", decision)
        >>> game.game.actions[action]
        (4, 5)
    """

    @checked
    def __init__(
        self,
        what: GameOrEnv,
        objective: Goal | None = None,
        *,
        seed: int | None = None,
        list_moves: bool = False,
        wording: str = "example",
    ):
        check_choice("wording", wording, [*WORDINGS])
        self.game, self.objective, _ = task_of(what, objective, "end")
        if "<lambda>" in self.objective.name:
            raise ValueError("questions name the objective: pass an Objective with a name instead of a lambda")
        self._words = words_of(self.game)
        if seed is not None:
            self._words = replace(self._words, names=drawn_names(self._words, seed))
        self.seed, self.wording = seed, wording
        self._list_moves = list_moves
        self._wording = WORDINGS[wording]
        self._stepper = stepper_of(self.game)
        self._reader = AnswerReader(self._words)

    # Rules, questions and answers

    @cached_property
    def rules(self) -> str:
        """The rules, what is maximised, and the effect of an answer that names no legal move."""
        words = self._words
        lines = [self._wording.opening.format(game=words.introduction()), words.setup(), words.how_to_play()]
        if words.names:
            renamed = ", ".join(f"{name} is {number}" for number, name in enumerate(words.names, 1))
            lines.append(f"The {words.renamed} bear words instead of numbers: {renamed}. Use the words.")
        if self.objective.target is not None:
            lines.append(f"Play for the best chance of {words.goal(self.objective.target)}.")
        elif self.objective.name == "score":
            lines.append(f"Play for the {'most' if self.game.more_is_better else 'fewest'} points on average.")
        else:
            lines.append(f"Play for the {self.objective.name}.")
        lines.append(self._wording.warning)
        return "\n".join(lines)

    @checked
    def position(self, progress: int, dice: int, roll: Roll) -> Decision:
        """Return a state with its legal actions.

        Raises:
            ValueError: if the game has no such position.
        """
        afterstate = self._stepper.find_afterstate(progress, dice)
        throws = np.arange(self._stepper.num_throws)
        for state in np.unique(self._stepper.after_throws(afterstate, throws)).tolist():
            decision = decision_at(self._stepper, state)
            if decision.roll == tuple(roll):
                return decision
        raise ValueError(f"a turn never comes to {quoted((progress, dice))} with the roll {quoted(roll)}")

    @checked
    def question(self, position: Decision) -> str:
        """Return a state in words, and the question for a move."""
        words = self._words
        lines = [words.question(position.progress, position.dice, position.roll)]
        if self._list_moves:
            lines.append(f"Legal moves: {'; '.join(map(words.answer, position.legal))}")
        lines.append(f"{words.prompt.strip()} {self._wording.request.format(example=self._example)}")
        return "\n".join(lines)

    @checked
    def prompt(self, position: Decision) -> str:
        """Return the rules and the question."""
        return f"{self.rules}\n\n{self.question(position)}"

    @cached_property
    def _example(self) -> str:
        """An example of an answer, with two tiles if an action takes two."""
        actions = self.game.actions
        return self._words.answer(actions.index((3, 5)) if (3, 5) in actions else len(actions) // 2)

    @checked
    def answer(self, action: int) -> str:
        """Return an action as `parse` reads it, such as "shut 4,5" or "keep 2"."""
        check_integer("action", action, 0, len(self.game.actions) - 1)
        return self._words.answer(action)

    @checked
    def parse(self, answer: str, position: Decision) -> int | None:
        """Return the action that an answer names.

        The action is named in the line after "Answer:", or by the whole answer if it is one line or JSON. If there are
        several such lines, they must name the same action. "I shut 4 and 5.", "4+5", "four, five", [4, 5] and
        {"tiles": [4, 5]} name the same move.

        Args:
            answer: the answer.
            position: the state in which it was given.

        Returns:
            The action, which need not be legal, or None if the answer names none or is ambiguous.
        """
        return self._reader.read(answer, position.legal)

    # Questions about all states, and the measurement of models

    @cached_property
    def _solution(self) -> Solution:
        if not fits(self.game):
            few = "sample turns, by --turns or stb_gym.text.sample_turns"
            raise ValueError(f"{self.game} has too many positions to ask about each: {few}")
        return solve_tables(self.game, self.objective)

    @cached_property
    def _asked(self) -> dict[str, tuple[int, Decision]]:
        """The states to ask about, as (index, decision) by id of the question: reachable ones that leave a choice."""
        states = np.flatnonzero(asked_states(self._solution.tables)).tolist()
        decisions = [decision_at(self._stepper, state) for state in states]
        return {self.identity(decision): (state, decision) for state, decision in zip(states, decisions, strict=True)}

    @cached_property
    def _digest(self) -> str:
        """A digest of the game and of the wording of its questions."""
        about = [VERSION, self.rules, self._list_moves]
        if not is_named(self.game, self.objective):  # others of the same name may have another utility
            about.append(self.objective.utilities(self._stepper.scores).tolist())
        return sha256(json.dumps(about, default=str).encode()).hexdigest()[:8]

    @checked
    def identity(self, position: Decision) -> str:
        """Return the id of the question about a state: a digest of the game and its wording, and the state."""
        roll = ".".join(map(str, position.roll))
        return f"{self._digest}-{position.progress}-{position.dice}-{roll}"

    @checked
    def has_question(self, identity: str) -> bool:
        """Return whether a question has this id; in games too large for tables, whether it may be one of this game."""
        return identity in self._asked if fits(self.game) else identity.startswith(f"{self._digest}-")

    @checked
    def asked(self, position: Decision) -> dict[str, str]:
        """Return the question about a state, as `questions` yields it."""
        return {"id": self.identity(position), "rules": self.rules, "question": self.question(position)}

    def questions(self) -> Iterator[dict[str, str]]:
        """Yield every question as {"id": ..., "rules": ..., "question": ...}.

        No question is about a forced move, or about a state that no moves reach from the start of a turn.

        Raises:
            ValueError: if the game is too large for tables, or never leaves a choice.
        """
        if not self._asked:
            raise ValueError(f"{self.game} has no state that leaves a choice: there is nothing to ask")
        for _, decision in self._asked.values():
            yield self.asked(decision)

    @checked
    def grade(self, answers: Iterable[tuple[str, str]] | Mapping[str, str]) -> Grade:
        """Measure answers exactly.

        Args:
            answers: pairs of the id of a question and an answer, or a dictionary of them. Of several answers to a
                question, each is given with the same probability.

        Returns:
            The regret, and the probabilities of answers that name no legal action.

        Raises:
            ValueError: if an id belongs to no question, or the game is too large for tables.
        """
        pairs = answers.items() if isinstance(answers, Mapping) else answers
        return grade_actions(self._solution, self._actions(pairs), self._list_moves)

    def _actions(self, answers: Iterable[tuple[str, str]]) -> Iterator[tuple[int, int | None]]:
        for identity, answer in answers:
            if not self.has_question(identity):
                raise ValueError(f"no question of this game, objective and seed has the id {quoted(identity)}")
            state, decision = self._asked[identity]
            yield state, self.parse(answer, decision)

    @checked
    def loss(self, identity: str, answer: str) -> float:
        """Return the exact loss of one answer, in the objective's unit; 0 if it names an optimal move.

        Args:
            identity: the id of a question.
            answer: the answer. One that names no legal action has the loss of the worst score, the greatest one.

        Raises:
            ValueError: if the id belongs to no question, or the game is too large for tables.

        Example:
            >>> import stb_gym
            >>> from stb_gym.text import TextGame
            >>> game = TextGame(stb_gym.ShutTheBox())
            >>> question = next(game.questions())
            >>> print(question["question"].splitlines()[1])
            Roll: 3
            >>> game.loss(question["id"], "Answer: shut 3"), round(game.loss(question["id"], "Answer: shut 1,2"), 4)
            (0.0, 0.0556)
        """
        [(state, action)] = self._actions([(identity, answer)])
        best = self._solution
        pairs, losses = best.ranked_pairs(state)
        if action in (legal := best.tables.pair_action[pairs].tolist()):
            return float(losses[legal.index(action)])
        return float(best.state_utilities[state] - self.objective.illegal_utility(best.tables.final_score))

    @checked
    def measure(self, model: Callable[[str], str]) -> Grade:
        """Measure a deterministic model exactly.

        Args:
            model: a function from a prompt, the rules and a question, to an answer.

        Returns:
            The regret, and the probabilities of answers that name no legal action.

        Raises:
            ValueError: if the game is too large for tables, or never leaves a choice.
        """
        questions = tracked(self.questions(), "questions asked", "questions", len(self._asked))
        return self.grade((each["id"], model(f"{each['rules']}\n\n{each['question']}")) for each in questions)
