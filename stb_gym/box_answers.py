"""What commands answer of Shut the Box alone: its variants, and boxes that are too large for arrays."""

import argparse
from dataclasses import asdict

from stb_gym.board_values import BoardValues, load_board_values
from stb_gym.game import Game, own_rules, rolls
from stb_gym.show import Result, counter
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.solve import solve
from stb_gym.streaming import solve_boards
from stb_gym.tables import compile_game, fits
from stb_gym.variants import VARIANTS

SOLVED = "rows of boards solved"


def variants(game: Game, options: argparse.Namespace) -> Result:
    """The variants of Shut the Box that have a name, and their perfect play; other rules change all of them."""
    return {"game": game.name, "changes": own_rules(game), "variants": [_variant(name, game) for name in VARIANTS]}


def _variant(name: str, changes: Game) -> Result:
    """A variant with changes in its rules, or why it cannot be so."""
    row: Result = {"name": name, "plays": VARIANTS[name].rules}
    try:
        box = ShutTheBox.preset(name, **own_rules(changes))
        if fits(box):
            states, values = compile_game(box).states, [solve(box, wish).value for wish in ("score", "shut")]
        else:
            solved = [solve_boards(box, wish, counter(name)) for wish in ("score", "shut")]
            states, values = solved[0].utility.size, [each.value for each in solved]
    except ValueError as error:
        return row | {"refused": str(error)}
    return row | {"rules": asdict(box), "states": states, "value": values[0], "shut_probability": values[1]}


def solve_by_boards(game: Game, options: argparse.Namespace) -> Result:
    """What `solve` answers of a game that does not fit into arrays, or whose values are to be saved."""
    box = _box(game)
    values = solve_boards(box, options.objective, counter(SOLVED))
    start, dice = box.start()
    first_rolls = {str(roll): values.node_value(start, roll) for [roll] in rolls(box, dice).shown.tolist()}
    result: Result = {"value": values.value, "states": values.utility.size, "by_first_roll": first_rolls}
    if options.out is not None:
        values.save(options.out)
        result["out"] = options.out
    return result


def _box(game: Game) -> ShutTheBox:
    if not isinstance(game, ShutTheBox):
        raise ValueError(f"values by boards are of {ShutTheBox.name}, not of {game}")
    return game


def board_values(game: Game, options: argparse.Namespace) -> BoardValues | None:
    """The values by boards that a command is to use: those of a file, or of a game that does not fit into arrays."""
    if options.values is not None:
        return load_board_values(options.values, _box(game), options.objective)
    return None if fits(game) else solve_boards(_box(game), options.objective, counter(SOLVED))
