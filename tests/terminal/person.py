"""A person who plays: at a pseudo-terminal, or typing lines without one; and positions in a person's words."""

import os
import re
import select
import subprocess
import time

from stb_gym import solve
from stb_gym.games import legal_moves, words_of
from stb_gym.terminal import play_alone, play_round
from stb_gym.terminal.turns import Position
from tests import PATIENCE
from tests.cli.processes import STB_GYM

CTRL_C, CTRL_D = b"\x03", b"\x04"
STRICT = {"PYTHONIOENCODING": "utf-8:strict"}  # what Python does in most languages, though not where none is set


def sit_down(*arguments, types, another=()):
    """Run `stb-gym play` on a terminal; `types` gets all that it shows at each prompt and returns the keys pressed.

    `another` are the keys pressed when asked for another game, "n" after them; that last question is not returned.
    """
    another = list(another)
    ours, theirs = os.openpty()

    def own_the_terminal():  # so that Ctrl-C reaches the command: a session's first terminal opened is its own
        os.close(os.open(os.ttyname(0), os.O_RDWR))

    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    session = {"start_new_session": True, "preexec_fn": own_the_terminal, "env": os.environ | STRICT}
    person = subprocess.Popen([*STB_GYM, "play", *arguments], **streams, **session)
    os.close(theirs)
    seen = b""
    try:
        while select.select([ours], [], [], PATIENCE)[0]:
            try:
                seen += os.read(ours, 4096)
            except OSError:  # the command has ended
                break
            if seen.endswith((b"tiles? ", b"dice? ")):
                time.sleep(0.05)  # a person takes a moment; Python misses a Ctrl-C that comes with the prompt
                os.write(ours, types(seen.decode(errors="replace")))
            elif seen.endswith(b"(y or n) "):
                os.write(ours, another.pop(0) if another else b"n\n")
        shown = seen.decode(errors="replace").replace("\r\n", "\n")
        return person.wait(timeout=PATIENCE), re.sub(r"\nAnother (turn|round)\? \(y or n\) n\n$", "", shown)
    finally:
        person.kill()
        os.close(ours)


class Careful:
    """Asks for the moves before every choice, and takes the one that `pick` picks of them."""

    def __init__(self, pick):
        self.pick, self.asked = pick, False

    def __call__(self, seen):
        self.asked = not self.asked
        return b"?\n" if self.asked else f"{self.pick(offered(seen))}\n".encode()


def offered(seen):
    """The moves last listed, as they are typed."""
    return re.findall(r"(?:shut|keep) ([\d,]+)", seen[seen.rindex("You can") :])


def in_turn(*keys):
    """Types one after another."""
    left = list(keys)
    return lambda seen: left.pop(0)


# The same without a terminal, quickly.


def talk(monkeypatch, capsys, rules, *opponents, types=None, objective="score", seat=1, coach=False, seed=None):
    """What `play` prints, if at each prompt `types` returns a line for all that was printed; the first move if None."""
    seen = ""
    careful = Careful(lambda moves: moves[0])

    def answer(prompt):
        nonlocal seen
        seen += capsys.readouterr().out
        line = types(seen) if types else careful(seen).decode().strip()
        print(prompt, end="")
        return line

    monkeypatch.setattr("builtins.input", answer)
    if opponents:
        play_round(rules, [(str(name), name) for name in opponents], seat, coach, seed)
    else:
        play_alone(solve(rules.game, objective), coach, seed)
    return seen + capsys.readouterr().out


def boards(seen):
    """(open tiles, roll, what the coach said, tiles shut) of every choice in a transcript of Shut the Box."""
    for part in seen.split("\n\n"):
        if shown := re.search(r"^dice .*?(\d+)\npoints \d+\nShut which", part, re.MULTILINE):
            opened = [int(tile) for tile in re.findall(r"│ *(\d+) *│", part)]
            typed = re.findall(r"tiles\? ([\d,]+)$", part, re.MULTILINE)[-1]
            said = re.search(r"Coach: (.*)", part)
            yield opened, int(shown[1]), said and said[1], [int(tile) for tile in typed.split(",")]


def position_at(game, where):
    """The position that a person's words name."""
    held, dice, roll = words_of(game).locate(where)
    return Position(held, dice, (), roll, legal_moves(game, held, dice, roll))


def node_of(tables, position):
    return tables.find_node(tables.find_state(position.held, position.dice), position.roll)


def move_of(game, position, named):
    """The move at a position that the rules call so."""
    [move] = [move for move in position.moves if game.moves[move.action] == named]
    return move


def wins(ties, scores, player):
    """What a player of a round gets."""
    if player >= len(scores) or scores[player] > min(scores):
        return 0
    return {"all-win": 1, "split": 1 / scores.count(min(scores)), "nobody": int(scores.count(min(scores)) == 1)}[ties]
