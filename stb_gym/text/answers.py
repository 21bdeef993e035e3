"""Read the answers of language models: which action an answer names, if it names exactly one."""

import re
from collections.abc import Hashable, Sequence

from stb_gym.files import from_json
from stb_gym.words import Words

NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
NUMBER_OF = {name: number for number, name in enumerate(NUMBERS)} | {str(number): number for number in range(100)}
# Words that an answer may have besides its move: "keep 4 and 5 open" does not shut tiles. Words between numbers must
# join them: "1 to 3" may be a range, and the 3 of "3, so 1 and 2" and "3 (1 + 2)" is no tile.
FILLERS = (
    "(", ")", ":", "a", "action", "am", "answer", "best", "choose", "chosen", "correct", "decided", "final",
    "go", "going", "i", "i'd", "i'll", "i'm", "i've", "is", "it", "let", "let's", "like", "me", "move", "my", "ok",
    "okay", "optimal", "pick", "play", "please", "select", "should", "so", "sure", "therefore", "think", "to", "want",
    "we", "will", "would", "you",
)  # fmt: skip
JOINING = (*",+&", "and", "the", "then", "with")
NO_MOVE = ("no move", "none", "nothing", "pass")
KEYS = ("answer", "move")  # keys of a JSON object that name a move, in any game
ANSWER = re.compile(r"answer\s*:[ \t]*(.*)", re.IGNORECASE)
BEFORE = 50  # characters before "answer:" in which one of these is looked for
QUOTED = re.compile(r"such as\W*$", re.IGNORECASE)  # the example of a question, which a model may repeat
DENIED = re.compile(  # "wrong answer:", "instead of the answer:"
    r"(\b(no|not|never|wrong|incorrect|bad|worst|instead|than)|n['\u2019]t)[ \t]+(\w+[ \t]+){0,3}$", re.IGNORECASE
)
DICE_CHOICE = r"\b(?:throw|roll|with|and)\s+(\w+)\s+(?:die|dice)\b"

# A move as `Words.typed_as` names it, and the number of dice thrown next if the answer says it.
Named = tuple[Hashable, int | None]


class AnswerReader:
    """Finds the action that an answer names.

    Args:
        words: the words of the game.
    """

    def __init__(self, words: Words):
        self._words = words
        self._actions: dict[Hashable, list[int]] = {}
        self._phrased: dict[str, Named] = {}
        for action in range(len(words.game.actions)):
            typed, dice = words.typed_as(action), words.dice_after(action)
            self._actions.setdefault(typed, []).append(action)
            self._phrased[_plain(words.answer(action))] = typed, dice or None
        self._chooses_dice = any(dice for _, dice in self._phrased.values())
        self._joining = {*JOINING, *words.verb.split(), *words.joining}
        self._keys = {*KEYS, *words.verb.split(), *words.move(0)}
        self._numbers = NUMBER_OF
        if words.names and words.names_in_answers:
            self._numbers = {name: number for number, name in enumerate(words.names, 1)}

    def read(self, answer: str, legal: Sequence[int]) -> int | None:
        """Return the action that an answer names, or None if it names none or is ambiguous.

        Args:
            answer: the answer.
            legal: the legal actions, of which one is meant if the answer leaves open how many dice are thrown next.
        """
        text = re.sub(r"```(?:json|text)?|\*\*|`", "", answer).strip()
        found = [(text[max(match.start() - BEFORE, 0) : match.start()], match[1]) for match in ANSWER.finditer(text)]
        lines = [
            "" if DENIED.search(before) or ANSWER.search(line) else line
            for before, line in found
            if not QUOTED.search(before)
        ]
        if not lines and ("\n" not in text or text.startswith(("{", "["))):
            lines = [text]
        actions = {self._action(line.strip(), legal) for line in lines}
        return actions.pop() if len(actions) == 1 else None

    def _action(self, line: str, legal: Sequence[int]) -> int | None:
        """Return the action that one line or a JSON text names, or None."""
        named = self._read_json(line) if line.startswith(("{", "[")) else self._read_line(line)
        if named is None:
            return None
        move, dice = named
        actions = self._actions.get(move, [])
        if dice is not None:
            actions = [action for action in actions if self._words.dice_after(action) == dice]
        elif len(actions) > 1:
            actions = [action for action in actions if action in legal] or actions[:1]
        return actions[0] if len(actions) == 1 else None

    def _read_json(self, text: str) -> Named | None:
        try:
            value = from_json(text)
        except ValueError:
            return None
        dice = None
        if isinstance(value, dict):
            dice = value.pop("dice", None)
            if len(value) != 1 or next(iter(value)) not in self._keys or type(dice) not in (int, type(None)):
                return None
            [value] = value.values()
        if not isinstance(value, str):
            entries = value if isinstance(value, list) else [value]
            if any(type(entry) not in (int, str) for entry in entries):
                return None
            if not entries:
                return self._words.understood(""), dice
            value = ",".join(map(str, entries))
        named = self._read_line(value)
        if named is None or dice is None:
            return named
        move, dice_in_text = named
        return (move, dice) if dice_in_text in (None, dice) else None

    def _read_line(self, text: str) -> Named | None:
        line = _plain(text)
        if not line:
            return None
        if line in self._phrased:
            return self._phrased[line]
        if line in NO_MOVE:
            return self._words.understood(""), None
        understood = self._words.understood(line)
        if understood in self._actions and not isinstance(understood, tuple):
            return understood, None
        dice = None
        if self._chooses_dice:
            counts = re.findall(DICE_CHOICE, line)
            line = re.sub(DICE_CHOICE, " ", line)
            if len(counts) > 1 or any(count not in NUMBER_OF for count in counts):
                return None
            dice = NUMBER_OF[counts[0]] if counts else None
        numbers = self._read_numbers(line)
        return None if numbers is None else (numbers, dice)

    def _read_numbers(self, line: str) -> tuple[int, ...] | None:
        """Return the numbers that a line lists, in ascending order; None if it lists none or is ambiguous."""
        line, equals, total = line.partition("=")
        tokens = re.findall(r"[a-z']+|[0-9]+(?:\.[0-9]+)?|\S", line)
        listed = [token for token in tokens if token in self._numbers]
        numbers = sorted({self._numbers[token] for token in listed})
        if not listed or len(numbers) < len(listed):
            return None
        places = [tokens.index(token) for token in listed]
        first, last = places[0], places[-1]
        between = {*tokens[first:last]} - {*listed}
        others = {*tokens} - {*listed}
        if not between <= self._joining or not others <= self._joining | {*FILLERS}:
            return None
        if equals and total.strip() != str(sum(numbers)):
            return None
        if len({token.isdigit() for token in listed}) > 1:  # "the 4 one" names one tile
            return None
        if "twenty" in tokens[first:last]:  # "twenty one" is not 20 and 1
            return None
        if self._words.is_unclear(tokens, places):
            return None
        return tuple(numbers)


def _plain(text: str) -> str:
    """Return a line in lower case, without quotation marks, repeated spaces, and a full stop at the end."""
    line = re.sub('["\u201c\u201d]', " ", text.lower()).replace("\u2019", "'")
    return " ".join(line.strip().rstrip(".! ").split())
