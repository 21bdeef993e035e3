"""Games of a person at the terminal: turns alone and rounds against strategies, typed line by line."""

import sys
import textwrap
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from stb_gym.games import Game, Move, check_integer, words_of
from stb_gym.output import Column, Progress, Table, say
from stb_gym.rounds import Round
from stb_gym.solver import BoardValues, Policy, Values
from stb_gym.terminal.coach import Coach, coach_alone, coach_in_round
from stb_gym.terminal.round_state import YOU, RoundState, contest, seat_names
from stb_gym.terminal.turns import (
    Dice, Position, Step, TakenBack, move_in_words, moves_in_words, step_in_words, take_turn,
)  # fmt: skip
from stb_gym.terminal.watching import by_policy

Named = tuple[str, str | Policy]  # the name to show, and a strategy
HELP, HINT, BACK, LEAVE = ("?", "help"), ("hint", "h"), ("back", "take back", "b"), ("q", "quit")
CAN_BE_TYPED = "Type ? for your moves, hint for advice, back to take a move back, q to leave."


def play_alone(known: Values | BoardValues, coach: bool, seed: int | None) -> None:
    """Let a person at the terminal play turns alone.

    Args:
        known: perfect play of the game for the objective that the person plays for.
        coach: whether a coach says what every choice costs and, at the end, how much was luck.
        seed: the seed of the dice; None for a random one.

    Raises:
        ValueError: if the seed is out of range.
    """
    adviser, target, words = coach_alone(known), known.objective.target, words_of(known.game)
    goal = words.goal(target) if target is not None else f"the {words.best} points you can"
    if known.objective.unit == "utility":
        goal = f"the best {known.objective.name} you can"

    def play_turn(dice: list[np.random.Generator]) -> float | None:
        steps: list[Step] = []
        score = your_turn(adviser, coach, dice[0], steps)
        if score is not None and target is not None:
            reached = known.game.sign * score >= known.game.sign * target
            say("Just what you wanted!" if reached else f"You wanted {words.goal(target)}.")
        if coach:
            say(f"\n{adviser.account(steps)}")
        return score

    _play_again_and_again(play_turn, known.game, f"try to end with {goal}", "turn", "points", 1, seed)


def play_round(rules: Round, opponents: list[Named], seat: int, coach: bool, seed: int | None) -> None:
    """Let a person at the terminal play rounds against strategies.

    Args:
        rules: the rules of the round.
        opponents: in turn order, the name to show and a strategy, or the policy of one who ignores the other scores.
        seat: the person's place in turn order, from 1.
        coach: whether a coach says what every choice costs and, at the end, how much was luck.
        seed: the seed of the dice and of the opponents' random choices; None for a random one.

    Raises:
        ValueError: if the seat, the seed or an opponent is not allowed.
    """
    check_integer("seat", seat, 1, rules.players)
    person = (YOU, "random")  # the coach needs some strategy here, and any will do
    players = [*opponents[: seat - 1], person, *opponents[seat - 1 :]]
    with Progress(f"working on {rules.game}"):
        round_coach = coach_in_round(rules, [strategy for _, strategy in players], seat - 1)

    def play_one(dice: list[np.random.Generator]) -> float | None:
        state, steps = RoundState(rules, seat_names([name for name, _ in players])), list[Step]()
        while not state.is_over:
            if state.seat == seat - 1:
                say(f"\nYour turn: {state.situation}.")
                score = your_turn(round_coach.at(state.standing), coach, dice[state.seat], steps)
                if score is None:
                    break
            else:
                say(f"\n{state.names[state.seat]}")
                policy = rules.policy(players[state.seat][1], state.seen)
                score = _their_turn(rules.game, policy, dice[state.seat])
            state.scores.append(score)
        if state.is_over:
            ends_early = "\nThat ends the round.\n" if state.seat < rules.players else ""
            say(f"{ends_early}\n{state.result}")
        if coach:
            say(f"\n{round_coach.account(state.names, state.scores, steps)}")
        return state.win(seat - 1) if state.is_over else None

    _play_again_and_again(play_one, rules.game, contest(rules), "round", "wins", rules.players, seed)


def _play_again_and_again(
    play: Callable[[list[np.random.Generator]], float | None],
    game: Game,
    goal: str,
    unit: str,
    result: str,
    players: int,
    seed: int | None,
) -> None:
    """Play until the person at the terminal has had enough.

    Args:
        play: plays once with the dice of each player, and returns the result or None if the person leaves.
        game: the rules of a turn.
        goal: what the person is to do.
        unit: what is played, "turn" or "round".
        result: the unit of results, "points" or "wins".
        players: the number of players.
        seed: the seed of the dice; None for a random one.
    """
    if seed is not None:
        check_integer("seed", seed, 0, 2**63 - 1)
    sequence, words = np.random.SeedSequence(seed), words_of(game)
    say(f"{words.introduction()}: {goal}.\n{words.how_to_play()}\n{CAN_BE_TYPED}")
    results: list[float | None] = []
    while not results or (results[-1] is not None and _wants_another(unit)):
        results.append(play([np.random.default_rng(child) for child in sequence.spawn(players)]))
    finished = [value for value in results if value is not None]
    if len(finished) > 1:
        say(f"\n{len(finished)} {unit}s: {sum(finished) / len(finished):.2f} {result} on average.")
    if None in results:
        say("Goodbye.")


def _wants_another(unit: str) -> bool:
    """Ask at a terminal whether to play again; piped input gets one game."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    while True:
        try:
            typed = _read(f"\nAnother {unit}? (y or n) ")
        except EOFError:
            return False
        if typed in ("y", "yes", "n", "no"):
            return typed[0] == "y"
        say("Type y or n.")


def your_turn(coach: Coach, remarks: bool, dice: Dice, steps: list[Step]) -> int | None:
    """Let the person at the terminal play a turn.

    Args:
        coach: the coach, who gives hints when asked.
        remarks: whether the coach also comments on every choice.
        dice: see `take_turn`.
        steps: an empty list, filled with the steps of the turn.

    Returns:
        The final score, or None if the person leaves.
    """
    game, words = coach.game, words_of(coach.game)

    def choose(position: Position) -> Move | None:
        say(f"\n{words.text(position.held, position.dice, position.faces)}")
        if not any(words.typed_as(move.action) for move in position.moves):
            say(words.no_move(position.held, position.dice, position.faces))
            return position.moves[0] if position.moves else None
        if len(position.moves) == 1:
            say(f"The only move: {move_in_words(game, position, position.moves[0])}.")
            return position.moves[0]
        move = _ask_move(coach, position, steps)
        if remarks:
            say(f"Coach: {coach.remark(position, move)}")
            if coach.loss(position, move) > 0:
                say(coach.ranking(position, move))
        return move

    if remarks:
        say(f"Coach: {coach.unit.value(coach.start)} {coach.unit.heading} with perfect play.")
    try:
        score = take_turn(game, dice, choose, steps)
    except EOFError:
        return None
    say(words.ended(score))
    return score


def _ask_move(coach: Coach, position: Position, steps: Sequence[Step]) -> Move:
    """Ask the person for a move until it is a legal one."""
    words = words_of(coach.game)
    by_typed: dict[Hashable, dict[str, Move]] = {}  # moves typed alike differ in the number of dice thrown next
    for move in position.moves:
        by_typed.setdefault(words.typed_as(move.action), {})[str(move.dice)] = move
    while True:
        typed = _read(words.prompt)
        understood = words.understood(typed)
        if understood in by_typed:
            break
        if typed in HELP:
            say(f"You can {moves_in_words(coach.game, position, position.moves, '; ')}.")
        elif typed in HINT:
            choice = coach.choice(position)
            best = moves_in_words(coach.game, position, choice.best)
            say(f"Hint: {best}, {coach.unit.value(choice.utility)} {coach.unit.heading}.")
        elif typed not in BACK:
            say(words.hint(position.held, position.dice, position.roll, understood))
        elif any(len(step.position.moves) > 1 for step in steps):
            raise TakenBack
        else:
            say("There is no move of yours to take back.")
    by_dice = by_typed[understood]
    allowed = " or ".join(by_dice)
    typed = allowed if len(by_dice) == 1 else _read(f"Throw {allowed} dice next? ")
    while typed not in by_dice:
        say(f"Type {allowed}.")
        typed = _read(f"Throw {allowed} dice next? ")
    return by_dice[typed]


def _read(prompt: str) -> str:
    """Read a typed line in lower case; raise EOFError if the person leaves."""
    if sys.stdin is None:  # it was closed before Python began
        raise EOFError
    try:
        typed = input(prompt)
    except UnicodeDecodeError:
        typed = ""
    except EOFError:
        say()
        raise
    if not sys.stdin.isatty():
        say(typed)  # a terminal has shown it already
    typed = typed.strip().lower()
    if typed in LEAVE:
        raise EOFError
    return typed


def _their_turn(game: Game, policy: Policy, dice: np.random.Generator) -> int:
    """Play and print an opponent's turn; return the final score."""
    steps: list[Step] = []
    score = take_turn(game, dice, by_policy(game, policy, dice), steps)
    columns = zip(*(step_in_words(game, step) for step in steps), strict=True)
    table = Table({" " * place: Column("", list(cells)) for place, cells in enumerate(columns)})
    say(textwrap.indent(f"{table}\nends with {words_of(game).score(score)}", "  "))
    return score
