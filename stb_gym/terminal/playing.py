"""Let a person at the terminal play a turn alone, or a round against strategies."""

import sys
from collections.abc import Hashable

import numpy as np

from stb_gym.checks import check_integer
from stb_gym.console import say
from stb_gym.games import Game
from stb_gym.rounds import Round
from stb_gym.solver import Move, PerfectPlay, Policy
from stb_gym.terminal.coach import Account, Coach, RoundCoach, coach_alone
from stb_gym.terminal.turns import (
    RoundState,
    Step,
    ThrownState,
    moves_in_words,
    round_in_words,
    say_state,
    seat_names,
    step_in_words,
    take_turn,
)
from stb_gym.terminal.watching import by_policy
from stb_gym.words import words_of

HELP, HINT, LEAVE = ("?", "help"), ("hint", "h"), ("q", "quit")
CAN_BE_TYPED = "Type ? for your moves, hint for advice, q to leave."


def play_alone(perfect: PerfectPlay, coach: bool, seed: int | None) -> None:
    """Let a person at the terminal play a turn alone.

    Args:
        perfect: perfect play of the game for the objective that the person plays for.
        coach: whether a coach says what every choice costs and, at the end, how much was luck.
        seed: the seed of the dice; None for a random one.

    Raises:
        ValueError: if the seed is negative.
    """
    adviser = coach_alone(perfect)
    target = perfect.objective.target
    goal = f"the best {perfect.objective.name}" if target is None else words_of(perfect.game).goal(target)
    [dice] = _begin(perfect.game, f"try to end with {goal}", 1, seed)
    steps: list[Step] = []
    _your_turn(adviser, coach, dice, steps)
    if coach:
        _say_account(adviser.account(steps))


def play_round(
    rules: Round, opponents: list[tuple[str, str | Policy]], seat: int, coach: bool, seed: int | None
) -> None:
    """Let a person at the terminal play a round against strategies.

    Args:
        rules: the rules of the round.
        opponents: in turn order, the name to show and a strategy, or a policy, which ignores the other scores.
        seat: the person's seat in turn order, from 1.
        coach: whether a coach says what every choice costs and, at the end, how much was luck.
        seed: the seed of the dice and of the opponents' random choices; None for a random one.

    Raises:
        ValueError: if the seat, the seed or an opponent is not allowed.
    """
    check_integer("seat", seat, 1, rules.players)
    person = ("you", "random")  # any strategy will do: the coach does not use it
    players = [*opponents[: seat - 1], person, *opponents[seat - 1 :]]
    round_coach = RoundCoach(rules.evaluate([strategy for _, strategy in players]), seat - 1)
    dice = _begin(rules.game, round_in_words(rules), rules.players, seed)
    state = RoundState(rules, seat_names(players))
    steps: list[Step] = []
    score: int | None
    while not state.is_over:
        at = state.seat
        say(f"\n{state.names[at]} ({state.situation})", wrapped=True)
        if at == seat - 1:
            score = _your_turn(round_coach.at(state.scores_so_far), coach, dice[at], steps)
        else:
            policy = rules.policy(players[at][1], state.scores_so_far)
            theirs: list[Step] = []
            score = take_turn(rules.game, dice[at], by_policy(rules.game, policy, dice[at]), theirs)
            for step in theirs:
                say(f"  {': '.join(step_in_words(rules.game, step))}")
            say(f"  {words_of(rules.game).score(score)}")
        if score is None:
            break
        state.scores.append(score)
    else:
        say(f"\nThe round is over. Best: {state.leaders}.", wrapped=True)
    if coach:
        _say_account(round_coach.account(state.names, state.scores, steps))


def _say_account(account: Account) -> None:
    say(f"\n{account}\n")
    say(account.sentence, wrapped=True)


def _begin(game: Game, goal: str, players: int, seed: int | None) -> list[np.random.Generator]:
    """Print the rules, and return the dice of every player."""
    words = words_of(game)
    say(f"{words.introduction()}: {goal}.\n{words.how_to_play()}\n{CAN_BE_TYPED}", wrapped=True)
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(players)]


def _your_turn(coach: Coach, remarks: bool, dice: np.random.Generator, steps: list[Step]) -> int | None:
    """Let the person at the terminal play a turn.

    Args:
        coach: the coach, who gives hints when asked.
        remarks: whether the coach also comments on every choice.
        dice: throws the dice.
        steps: an empty list, filled with the steps of the turn.

    Returns:
        The final score, or None if the person leaves.
    """
    words = words_of(coach.game)

    def choose(state: ThrownState) -> Move | None:
        say_state(coach.game, state)
        if len(state.moves) < 2:
            move = next(iter(state.moves), None)
            say(coach.remark(state, move), wrapped=True)
            return move
        move = _ask_move(coach, state)
        if remarks:
            say(f"Coach: {coach.remark(state, move)}", wrapped=True, colour=coach.colour(state, move))
        return move

    if remarks:
        say(f"Coach: {coach.unit.value(coach.start)} {coach.unit.heading} with perfect play.")
    try:
        score = take_turn(coach.game, dice, choose, steps)
    except EOFError:
        say("Goodbye.")
        return None
    say(words.ended(score))
    return score


def _ask_move(coach: Coach, state: ThrownState) -> Move:
    """Ask the person for a move until it is a legal one."""
    words = words_of(coach.game)
    by_typed: dict[Hashable, dict[str, Move]] = {}  # moves typed alike differ in the number of dice thrown next
    for move in state.moves:
        by_typed.setdefault(words.typed_as(move.action), {})[str(move.dice)] = move
    while True:
        typed = _read(words.prompt)
        understood = words.understood(typed)
        if understood in by_typed:
            break
        if typed in HELP:
            say(f"You can {moves_in_words(coach.game, state, state.moves, '; ')}.", wrapped=True)
        elif typed in HINT:
            say(f"Hint: {coach.remark(state, coach.choice(state).best[0])}", wrapped=True)
        else:
            say(f"This is not one of your moves. {CAN_BE_TYPED}", wrapped=True)
    by_dice = by_typed[understood]
    if len(by_dice) == 1:
        return next(iter(by_dice.values()))
    allowed = " or ".join(by_dice)
    while (typed := _read(f"Throw {allowed} dice next? ")) not in by_dice:
        say(f"Type {allowed}.")
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
