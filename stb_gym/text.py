"""Games in words, for language models: rules and positions as text, answers as actions, and their exact regret.

A deterministic model is measured exactly with one question for each position that leaves a choice, 1,774 on nine tiles.

    game = TextGame(stb_gym.ShutTheBox())
    grade = game.measure(model)  # a function from a prompt to an answer

`TextGame.questions` and `TextGame.grade` do the same through files, and `TextEnv` is an environment whose reward is
minus the exact loss of each answer.
"""

import json
import re
import string
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.checks import check_integer
from stb_gym.envs import TurnEnv, stepper_of
from stb_gym.games import Game, Roll, ShutTheBox, Threes, fits
from stb_gym.measure.recording import OptimalValues, optimal_values
from stb_gym.messages import quoted
from stb_gym.solver import Evaluation, GameOrEnv, Goal, Solution, solve_tables, task_of
from stb_gym.tracking import tracked
from stb_gym.words import words_of

VERSION = "2"  # of prompts and parser: a new one where a prompt changes, or an answer is read differently
# The spelling alphabet: no name is another word of an answer.
NAMES = (
    "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett", "kilo", "lima",
    "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor", "whiskey", "xray",
    "yankee", "zulu",
)  # fmt: skip
NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
NUMBER_OF = {name: number for number, name in enumerate(NUMBERS)} | {str(number): number for number in range(100)}
# Words that an answer may have besides its move: "keep 4 and 5 open" does not shut tiles. Words between numbers must
# join them: "1 to 3" may be a range, and the 3 of "3, so 1 and 2" is no tile.
FILLERS = (
    "a", "action", "am", "choose", "chosen", "final", "going", "i", "i'd", "i'll", "i'm", "is", "it", "let", "make",
    "me", "move", "my", "of", "play", "please", "so", "therefore", "to", "will", "would",
)  # fmt: skip
JOINING = (*",+&()", "and", "the", "then", "with")
JOINING_OF: dict[type[Game], tuple[str, ...]] = {
    ShutTheBox: ("box", "close", "closing", "shut", "shutting", "tile", "tiles"),
    Threes: ("dice", "die", "keep", "keeping", "lowest"),
}
NOTHING = frozenset({"no move", "none", "nothing", "pass"})
KEYS = ("answer", "keep", "move", "shut", "tiles")  # of a JSON object that names a move


class Position(NamedTuple):
    """A position where an action is chosen.

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


@dataclass(frozen=True)
class Grade:
    """The exact measurement of answers.

    The masses are probabilities that a turn ends so; what is not a legal action ends it with the worst score.

    Attributes:
        evaluation: the policy, measured against perfect play.
        illegal_mass: by an action that is not legal.
        unparsable_mass: by an answer that names no action, or several.
        missing_mass: by a question without an answer.
        questions: the number of questions.
        missing: how many of them have no answer.
    """

    evaluation: Evaluation
    illegal_mass: float
    unparsable_mass: float
    missing_mass: float
    questions: int
    missing: int

    def summary(self) -> dict[str, Any]:
        """Return the numbers by name, ready for JSON."""
        of_answers = ("illegal_mass", "unparsable_mass", "missing_mass", "questions", "missing")
        return self.evaluation.summary() | {name: getattr(self, name) for name in of_answers}


class TextGame:
    """A game in words.

    Args:
        what: the rules, or an environment, see `stb_gym.solve`.
        objective: what is maximised; by default the objective of the environment, and for a game "score".
        seed: names the tiles of a box, or the faces of the dice of Threes, by other words in an order drawn by this
            seed, so that memorised answers do not help; None for numbers.
        list_moves: whether questions list the legal moves.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if there is no such objective, or names cannot be given.

    Example:
        >>> import stb_gym
        >>> game = TextGame(stb_gym.ShutTheBox())
        >>> print(game.question(game.position(progress=0b110011000, dice=2, roll=(9,))))
        Open tiles: 4, 5, 8, 9
        Roll: 9
        Shut which tiles? End your reply with one line such as "Answer: shut 3,5".
        >>> action = game.parse("Answer: 4 and 5", game.position(progress=0b110011000, dice=2, roll=(9,)))
        >>> game.game.actions[action]
        (4, 5)
    """

    @checked
    def __init__(
        self, what: GameOrEnv, objective: Goal | None = None, *, seed: int | None = None, list_moves: bool = False
    ):
        self.game, self.objective, _ = task_of(what, objective, "end")
        self._words = words_of(self.game)
        self._list_moves = list_moves
        self._stepper = stepper_of(self.game)
        self._names: dict[int, str] = {}
        if seed is not None:
            check_integer("seed", seed, 0, 2**63 - 1)
            if not isinstance(self.game, ShutTheBox | Threes):
                raise ValueError(f"a seed renames the tiles of a box or the faces of Threes, not {self.game.name}")
            count = self.game.tiles if isinstance(self.game, ShutTheBox) else self.game.faces
            if count > len(NAMES):
                raise ValueError(f"a seed renames at most {len(NAMES)} tiles or faces, not {count}")
            order = np.random.default_rng(seed).permutation(len(NAMES))[:count]
            self._names = {number: NAMES[place] for number, place in enumerate(order.tolist(), 1)}
        self._typed: dict[Any, list[int]] = {}
        for action in range(len(self.game.actions)):
            self._typed.setdefault(self._words.typed_as(action), []).append(action)
        self._dice_after = getattr(self.game, "dice_after", (0,) * len(self.game.actions))
        of_game = (words for rules, words in JOINING_OF.items() if isinstance(self.game, rules))
        self._joining = {*JOINING, *next(of_game, self._words.verb.split())}

    # Rules, questions and answers

    @cached_property
    def rules(self) -> str:
        """The rules, what is maximised, and what an answer that is no legal move does."""
        game, words = self.game, self._words
        dice = f"{game.dice} dice with the faces 1 to {game.faces}"
        if isinstance(game, ShutTheBox):
            tiles = ", ".join(map(str, game.start_tiles))
            setup = f"The tiles {tiles} are open. You throw {dice} and shut tiles, again and again, until no move is "
            setup += "possible or all tiles are shut. A shut tile stays shut."
        elif isinstance(game, Threes):
            setup = f"You throw {dice}. Every die that you keep scores its face, and you throw the others again."
        else:
            setup = f"You throw {dice}."
        lines = [f"You play one turn of {words.introduction()}.", setup, *words.how_to_play().splitlines()]
        if self._names:
            what = "tiles" if isinstance(game, ShutTheBox) else "faces"
            renamed = ", ".join(f"{name} is {number}" for number, name in sorted(self._names.items()))
            lines.append(f"The {what} bear words instead of numbers: {renamed}. Use the words.")
        target = self.objective.target
        if target is None:
            aim = f"{'most' if game.more_is_better else 'fewest'} points on average"
            lines.append(f"Play for the {aim if self.objective.name == 'score' else self.objective.name}.")
        else:
            lines.append(f"Play for the best chance of {words.goal(target)}.")
        lines.append("An answer that names no legal move ends the turn with the worst score.")
        return "\n".join(lines)

    @checked
    def position(self, progress: int, dice: int, roll: Roll) -> Position:
        """Return a position with its legal actions.

        Raises:
            ValueError: if a turn never comes there.
        """
        afterstate = self._stepper.find_afterstate(progress, dice)
        throws = np.arange(self._stepper.num_throws)
        for state in np.unique(self._stepper.states(afterstate, throws)).tolist():
            found = self._at(state)
            if found.roll == tuple(roll):
                return found
        raise ValueError(f"a turn never comes to {quoted((progress, dice))} with the roll {quoted(roll)}")

    def _at(self, state: int) -> Position:
        progress, dice, roll = self._stepper.locate(state)
        _, actions = self._stepper.legal_moves(np.array([state]))
        return Position(progress, dice, roll, tuple(actions.tolist()))

    @checked
    def question(self, position: Position) -> str:
        """Return a position in words, and the question for a move."""
        game, words = self.game, self._words
        if isinstance(game, ShutTheBox):
            tiles = game.options_at(position.progress, position.dice)["open"]
            state = f"Open tiles: {', '.join(self._name(tile) for tile in tiles)}"
            if len(game.throws) > 1:
                state += f"\nDice thrown: {position.dice}"
        else:
            state = f"Position: {game.describe_afterstate(position.progress, position.dice)}"
        roll = game.describe_roll(position.roll)
        if isinstance(game, Threes):
            roll = ", ".join(self._name(face) for face in position.roll)
        lines = [state, f"Roll: {roll}"]
        if self._list_moves:
            lines.append(f"Legal moves: {'; '.join(self.answer(action) for action in position.legal)}")
        lines.append(f'{words.prompt.strip()} End your reply with one line such as "Answer: {self._example}".')
        return "\n".join(lines)

    @checked
    def prompt(self, position: Position) -> str:
        """Return the rules and the question."""
        return f"{self.rules}\n\n{self.question(position)}"

    @cached_property
    def _example(self) -> str:
        """An answer: of two tiles if there is one."""
        actions = self.game.actions
        return self.answer(actions.index((3, 5)) if (3, 5) in actions else len(actions) // 2)

    @checked
    def answer(self, action: int) -> str:
        """Return an action as `parse` reads it, such as "shut 4,5" or "keep 2"."""
        check_integer("action", action, 0, len(self.game.actions) - 1)
        move = self.game.describe_move(action)
        if self._names and isinstance(self.game, ShutTheBox):
            before, after = (",".join(tiles) for tiles in self._tiles_and_names(action))
            move = move.replace(before, after, 1)
        return move

    def _tiles_and_names(self, action: int) -> tuple[list[str], list[str]]:
        tiles = self.game.actions[action]
        return [str(tile) for tile in tiles], [self._name(tile) for tile in tiles]

    def _name(self, number: int) -> str:
        return self._names.get(number, str(number))

    @checked
    def parse(self, answer: str, position: Position) -> int | None:
        """Return the action that an answer names.

        The action is named in the line after "Answer:", or by the whole answer if it is one line or JSON. If there are
        several such lines, they must name the same action. "I shut 4 and 5.", "4+5", "four, five", [4, 5] and
        {"tiles": [4, 5]} name the same move.

        Args:
            answer: the answer.
            position: where it was given.

        Returns:
            The action, which need not be legal, or None if the answer names none or is ambiguous.
        """
        text = re.sub(r"```(?:json|text)?|\*\*|`", "", answer).strip()
        named = re.findall(r"answer\s*:[ \t]*(.*)", text, re.IGNORECASE)
        parts = named or ([text] if "\n" not in text or text[:1] in "{[" else [])
        actions = {self._action(part.strip(), position) for part in parts}
        return actions.pop() if len(actions) == 1 else None

    def _action(self, text: str, position: Position) -> int | None:
        """Return the action that one line names, or None."""
        typed, dice = self._read_json(text) if text[:1] in ("{", "[") else self._read_words(text)
        actions = self._typed.get(typed, [])
        if dice is not None:
            actions = [action for action in actions if self._dice_after[action] == dice]
        elif len(actions) > 1:
            actions = [action for action in actions if action in position.legal] or actions[:1]
        return actions[0] if len(actions) == 1 else None

    def _read_json(self, text: str) -> tuple[Any, int | None]:
        """Return what JSON names, as `Words.typed_as` does, and the number of dice thrown next or None."""
        unreadable = None, None
        try:
            found = json.loads(text, object_pairs_hook=_without_doubles)
        except (ValueError, RecursionError):
            return unreadable
        dice = None
        if isinstance(found, dict):
            dice = found.pop("dice", None)
            if len(found) != 1 or next(iter(found)) not in KEYS or type(dice) not in (int, type(None)):
                return unreadable
            [found] = found.values()
        if not isinstance(found, str):
            numbers = found if isinstance(found, list) else [found]
            if any(type(number) not in (int, str) for number in numbers):
                return unreadable
            found = ",".join(map(str, numbers))
        typed, named = self._read_words(found)
        if None not in (dice, named) and dice != named:
            return unreadable
        return typed, named if dice is None else dice

    def _read_words(self, text: str) -> tuple[Any, int | None]:
        """Return what a line names, as `Words.typed_as` does, and the number of dice thrown next or None."""
        unreadable = None, None
        line = re.sub('["\u201c\u201d]', " ", text.lower()).replace("\u2019", "'").strip().rstrip(".! ")
        plain = " ".join(line.split())
        if plain in NOTHING:
            return self._words.understood(""), None
        if self._words.understood(plain) in self._typed and not any(map(str.isdigit, plain)):
            return self._words.understood(plain), None
        known = NUMBER_OF
        if self._names and isinstance(self.game, ShutTheBox):
            known = {name: number for number, name in self._names.items()}
        dice = None
        if any(self._dice_after):
            thrown = r"\b(?:throw|roll|with|and)\s+(\w+)\s+(?:die|dice)\b"
            counts = re.findall(thrown, line)
            line = re.sub(thrown, " ", line)
            if len(counts) > 1 or any(count not in NUMBER_OF for count in counts):
                return unreadable
            dice = NUMBER_OF[counts[0]] if counts else None
        line, equals, total = line.partition("=")
        tokens = re.findall(r"[a-z']+|[0-9]+(?:\.[0-9]+)?|\S", line)
        named = [token for token in tokens if token in known]
        numbers = sorted({known[token] for token in named})
        if not named or len(numbers) < len(named):
            return unreadable
        first, last = tokens.index(named[0]), tokens.index(named[-1])
        if not {*tokens[first:last]} <= {*named, *self._joining}:
            return unreadable
        if not {*tokens} <= {*named, *self._joining, *FILLERS}:
            return unreadable
        if isinstance(self.game, Threes) and tokens[-2:-1] in (["a"], ["the"]):  # "keep the 3" names a face
            return unreadable
        if equals and total.strip() != str(sum(numbers)):
            return unreadable
        if len({token.isdigit() for token in named}) > 1:  # "the 4 one" names one tile
            return unreadable
        return tuple(numbers), dice

    # Questions and grades

    @cached_property
    def _solution(self) -> Solution:
        if not fits(self.game):
            raise ValueError(f"{self.game} has too many positions to ask about each: use TextEnv or TextGame.agent")
        return solve_tables(self.game, self.objective)

    @cached_property
    def _asked(self) -> list[int]:
        """The states with a choice."""
        tables = self._solution.tables
        return np.flatnonzero(tables.choices > 1).tolist()

    def _identity(self, position: Position) -> str:
        """Return the name of a question: a digest of the game and of how it is asked, and the position."""
        about = [VERSION, self.rules, self._list_moves]
        digest = sha256(json.dumps(about).encode()).hexdigest()[:8]
        return f"{digest}-{position.progress}-{position.dice}-{'.'.join(map(str, position.roll))}"

    def questions(self) -> Iterator[dict[str, str]]:
        """Yield every question as {"id": ..., "rules": ..., "question": ...}; forced moves are not asked.

        Raises:
            ValueError: if the game is too large for tables.
        """
        for state in self._asked:
            position = self._at(state)
            yield {"id": self._identity(position), "rules": self.rules, "question": self.question(position)}

    @checked
    def grade(self, answers: Iterable[tuple[str, str]]) -> Grade:
        """Measure answers exactly.

        Args:
            answers: pairs of the id of a question and an answer. Of several answers to a question, each is given with
                the same probability.

        Raises:
            ValueError: if an id belongs to no question, or the game is too large for tables.
        """
        tables = self._solution.tables
        positions = {state: self._at(state) for state in self._asked}
        state_of = {self._identity(position): state for state, position in positions.items()}
        counts = np.zeros(len(tables.pair_afterstate))
        unparsable, illegal = np.zeros(tables.num_states), np.zeros(tables.num_states)
        for identity, answer in answers:
            if identity not in state_of:
                raise ValueError(f"no question of this game, objective and seed has the id {quoted(identity)}")
            state = state_of[identity]
            action = self.parse(answer, positions[state])
            if action is None:
                unparsable[state] += 1
            elif action in positions[state].legal:
                counts[tables.pair_start[state] + positions[state].legal.index(action)] += 1
            else:
                illegal[state] += 1
        total = tables.sum_at_states(counts) + unparsable + illegal
        forced = tables.choices == 1
        missing = (total == 0) & (tables.choices > 1)
        total = np.maximum(total, 1)
        weights = np.where(tables.at_pairs(forced), 1.0, counts / tables.at_pairs(total))
        faults = [illegal / total, unparsable / total, missing.astype(float)]
        evaluation = Evaluation(self._solution, weights, np.sum(faults, axis=0), self._list_moves)
        masses = [float(evaluation.visits @ fault) for fault in faults]
        return Grade(evaluation, masses[0], masses[1], masses[2], len(self._asked), int(missing.sum()))

    @checked
    def measure(self, model: Callable[[str], str]) -> Grade:
        """Measure a deterministic model exactly.

        Args:
            model: a function from a prompt, the rules and a question, to an answer.

        Raises:
            ValueError: if the game is too large for tables.
        """
        questions = tracked(self.questions(), "questions asked", "questions", len(self._asked))
        return self.grade((each["id"], model(f"{each['rules']}\n\n{each['question']}")) for each in questions)

    @checked
    def agent(self, model: Callable[[str], str]) -> Callable[[NDArray[Any], NDArray[np.bool_]], NDArray[np.int64]]:
        """Return a model as an agent for `RegretMeter.sample`, which plays boxes too large for tables.

        An answer that names no action becomes the first illegal one.

        Args:
            model: a function from a prompt to an answer.
        """

        def act(observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
            actions = []
            for state, mask in zip(self._stepper.find_states(observations.astype(np.int64)), masks, strict=True):
                position = self._at(int(state))
                action = self.parse(model(self.prompt(position)), position)
                if action is None and mask.all():
                    raise ValueError("all actions are legal there: none can stand for an answer that names no action")
                actions.append(int(mask.argmin()) if action is None else action)
            return np.array(actions)

        return act


class TextEnv(gym.Wrapper[str, str, Any, Any], RecordConstructorArgs):
    """An environment in words: observations are prompts, actions are answers, and rewards are minus exact losses.

    The first observation of a turn has the rules; the others are questions. An answer that names no action ends the
    turn with the worst score, as an illegal one does; the environment inside is not stepped then. Infos also have the
    `loss` of the last answer, the `regret` of the turn so far, and the `action`, -1 if the answer named none.

    Args:
        env: an environment of one turn, which ends at illegal actions.
        seed: as for `TextGame`.
        list_moves: as for `TextGame`.

    Raises:
        TypeError: if it is no environment of one turn of stb_gym.
        ValueError: if the environment refuses illegal actions, or names cannot be given.

    Example:
        >>> import gymnasium as gym
        >>> env = TextEnv(gym.make("stb_gym/Threes-v0"))
        >>> prompt, _ = env.reset(seed=0)
        >>> print(prompt.splitlines()[-2])
        Roll: 2, 4, 4, 5, 6
        >>> _, reward, _, _, info = env.step("I keep two dice.")
        >>> round(reward, 4), round(info["loss"], 4)
        (-3.3999, 3.3999)
    """

    @checked
    def __init__(self, env: gym.Env[Any, Any], *, seed: int | None = None, list_moves: bool = False):
        RecordConstructorArgs.__init__(self, seed=seed, list_moves=list_moves)
        super().__init__(env)
        base = env.unwrapped
        if not isinstance(base, TurnEnv):
            raise TypeError(f"TextEnv needs an environment of one turn of stb_gym, not {quoted(env)}")
        if base.illegal != "end":
            raise ValueError('TextEnv needs an environment with illegal="end"')
        self.text = TextGame(env, seed=seed, list_moves=list_moves)
        self.observation_space = gym.spaces.Text(20_000, charset=string.printable)
        self.action_space = gym.spaces.Text(20_000, charset=string.printable)
        self._base = base
        self._position: Position | None = None
        self._regret = 0.0
        self._info: dict[str, Any] = {}

    @cached_property
    def _values(self) -> OptimalValues:
        return optimal_values(self._base)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a turn."""
        _, info = self.env.reset(seed=seed, options=options)
        self._regret = 0.0
        question = self._next(info, over=False)
        return f"{self.text.rules}\n\n{question}", info | {"loss": 0.0, "regret": 0.0, "action": -1}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the action that an answer names."""
        if self._position is None:
            raise RuntimeError("no turn is running: call reset()")
        state, stepper = self._base.state, self._base.stepper
        chosen = self.text.parse(action, self._position)
        truncated = False
        if chosen is None:
            terminated, after = True, stepper.illegal_afterstate
            final = {"final_score": int(stepper.scores[-1]), "illegal_action": True}
            info = self._info | {"action_mask": stepper.masks(stepper.illegal_state), **final}
        else:
            after = stepper.afterstates(state, chosen)
            _, _, terminated, truncated, info = self.env.step(chosen)  # type: ignore[arg-type]
        loss = float(self._values.of_states(state) - self._values.of_afterstates(after))
        self._regret += loss
        seen = self._next(info, terminated or truncated)
        of_answer = {"loss": loss, "regret": self._regret, "action": -1 if chosen is None else chosen}
        return seen, 0.0 - loss, terminated, truncated, info | of_answer

    def _next(self, info: dict[str, Any], over: bool) -> str:
        """Return the next observation."""
        self._info = info
        self._position = None if over else self.text._at(self._base.state)
        return "The turn is over." if self._position is None else self.text.question(self._position)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of JSON; raise ValueError if a key occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found
