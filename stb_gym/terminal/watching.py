"""Play turns and rounds by strategies and policies, replay given dice, and print or draw what is played."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.console import say
from stb_gym.files import write_aside
from stb_gym.games import Game
from stb_gym.rounds import Round
from stb_gym.solver import Goal, Move, Policy, RulePolicy, compile_game, pair_weights
from stb_gym.solving import solve, strategy
from stb_gym.terminal.coach import Coach, RoundCoach, coach_alone
from stb_gym.terminal.turns import (
    Choose,
    RoundState,
    Step,
    Throw,
    ThrownState,
    goes_on_at,
    moves_in_words,
    say_state,
    seat_names,
    step_in_words,
    take_turn,
)
from stb_gym.words import Picture, below, needed, words_of

THROWN, MOVED, ENDED = 0.9, 1.6, 3.0  # seconds that a picture is shown
PALETTE_SIZE = 48  # colours of a picture


def chooser(coach: Coach, plays: str | Policy, random: np.random.Generator) -> Choose:
    """Return a function that chooses the moves of a strategy or a policy in a turn played alone.

    Args:
        coach: the coach of the turn, who also plays "optimal".
        plays: the name of a strategy, or a policy.
        random: the generator for the choices of a policy with probabilities.

    Raises:
        ValueError: if the strategy is unknown, the policy does not fit the game, or the game is too large for it.
    """
    if isinstance(plays, str) and plays == "optimal":
        return lambda state: next(iter(coach.choice(state).best), None)
    return by_policy(coach.game, strategy(coach.game, plays) if isinstance(plays, str) else plays, random)


def by_policy(game: Game, policy: Policy | RulePolicy, random: np.random.Generator) -> Choose:
    """Return a function that samples the moves of a policy.

    Raises:
        ValueError: if the policy does not fit the game or takes an illegal action.
    """
    if isinstance(policy, RulePolicy):

        def probabilities(state: ThrownState) -> FloatArray:
            return policy.probabilities(state.moves)
    else:
        tables = compile_game(game)
        weights, _ = pair_weights(tables, policy)

        def probabilities(state: ThrownState) -> FloatArray:
            pairs = tables.pairs_of(tables.find_state(state.progress, state.dice, state.roll))
            return weights[np.array(pairs)]

    def choose(state: ThrownState) -> Move | None:
        moves = state.moves
        return moves[random.choice(len(moves), p=probabilities(state))] if moves else None

    return choose


class PlayedTurn(NamedTuple):
    """A turn that was played.

    Attributes:
        name: the name of the player.
        coach: the coach, who values its moves.
        steps: the throws and moves.
        opening: a line about the situation before the turn.
        end: a line about the end of the turn and, if it is over, of the round.
    """

    name: str
    coach: Coach
    steps: list[Step]
    opening: str
    end: str


def play(name: str, coach: Coach, choose: Choose, dice: np.random.Generator | Sequence[Throw]) -> PlayedTurn:
    """Play a turn alone.

    Args:
        name: the name of the player.
        coach: the coach of the turn.
        choose: chooses the moves, see `chooser`.
        dice: the generator of the throws, or given throws in order, of which the turn may need fewer.

    Raises:
        ValueError: if a given throw is impossible at its state.
    """
    words = words_of(coach.game)
    steps: list[Step] = []
    throws = dice if isinstance(dice, np.random.Generator) else iter(dice)
    score = take_turn(coach.game, throws, choose, steps)
    at = goes_on_at(coach.game, steps)
    end = f"needs more throws at {at}" if at else f"ends with {words.score(score)}"
    return PlayedTurn(name, coach, steps, f"{name} plays {words.introduction()}", f"{name} {end}.")


def play_together(
    rules: Round, players: Sequence[tuple[str, str | Policy]], seeds: Sequence[int]
) -> Iterator[PlayedTurn]:
    """Play rounds; each move is valued against the best response to the other players.

    Args:
        rules: the rules of the rounds.
        players: in turn order, the name to show and a strategy, or a policy, which ignores the other scores.
        seeds: the seed of every round; the same seed throws the same dice.

    Returns:
        An iterator that plays the turns of all rounds, one by one.

    Raises:
        ValueError: if a strategy is unknown or does not fit the game.
    """
    strategies = [plays for _, plays in players]
    names = seat_names(players)
    evaluation = rules.evaluate(strategies)
    coaches = [RoundCoach(evaluation, seat) for seat in range(rules.players)]

    def turns() -> Iterator[PlayedTurn]:
        for seed in seeds:
            state = RoundState(rules, names)
            while not state.is_over:
                seat, coach = state.seat, coaches[state.seat].at(state.scores_so_far)
                opening = f"{names[seat]} ({state.situation})"
                dice, choices = (np.random.default_rng([seed, use, seat]) for use in (0, 1))
                choose = by_policy(rules.game, rules.policy(strategies[seat], state.scores_so_far), choices)
                steps: list[Step] = []
                score = take_turn(rules.game, dice, choose, steps)
                state.scores.append(score)
                end = f"{names[seat]} ends with {words_of(rules.game).score(score)}."
                if state.is_over:
                    end += f" Best: {state.leaders}."
                yield PlayedTurn(names[seat], coach, steps, opening, end)

    return turns()


@checked
def replay(game: Game, policy: str | Policy, rolls: Sequence[Throw], objective: Goal = "score") -> dict[str, list[Any]]:
    """Play a turn with given dice.

    Args:
        game: the rules.
        policy: the name of a strategy, or [S] actions or [S, A] probabilities; these draw with the seed 0.
        rolls: every throw of the turn: its faces, or their sum where only the sum matters.
        objective: the objective of the turn, see `stb_gym.solve`.

    Returns:
        Columns with a row per throw: "roll", "plays" and "leaves" in words; "best", the optimal moves; "loss" of the
        move; "luck", the value after the throw less the value before it, as a utility (plus is good for the player);
        "value" after the move in the objective's unit.

    Raises:
        ValueError: if a roll is impossible, if the turn needs more of them or fewer, or if the policy does not fit.

    Example:
        >>> import stb_gym
        >>> turn = stb_gym.terminal.replay(stb_gym.ShutTheBox(), "optimal", [8, 10, 6, 11, 3, 7])
        >>> turn["plays"]
        ['shut 8', 'shut 1,9', 'shut 6', 'shut 4,7', 'shut 3', 'shut 2,5']
    """
    coach = coach_alone(solve(game, objective))
    steps = play("the policy", coach, chooser(coach, policy, np.random.default_rng(0)), rolls).steps
    if (at := goes_on_at(game, steps)) or len(steps) < len(rolls):
        what = f"goes on at {at}" if at else "is over"
        raise ValueError(f"the turn {what} after {len(steps)} of {len(rolls)} rolls")
    _, plays, leaves = zip(*(step_in_words(game, step) for step in steps), strict=True)
    sign = coach.perfect.objective.sign
    return {
        "roll": [game.describe_roll(step.state.roll) for step in steps],
        "plays": list(plays),
        "leaves": list(leaves),
        "best": [moves_in_words(game, step.state, coach.choice(step.state).best or [None]) for step in steps],
        "loss": [coach.loss(*step) for step in steps],
        "luck": [event.changes["luck"] for event in coach.account(steps).events],
        "value": [sign * coach.utility(*step.afterstate) + 0.0 for step in steps],
    }


def show(turn: PlayedTurn, pause: float = 0) -> None:
    """Print a turn move by move.

    Args:
        turn: the turn.
        pause: the seconds between two moves.
    """
    coach = turn.coach
    opening = f"{turn.opening}. {coach.unit.value(coach.start)} {coach.unit.heading} with perfect play."
    say(opening, wrapped=True)
    for state, move in turn.steps:
        say_state(coach.game, state)
        say(coach.remark(state, move), wrapped=True, colour=coach.colour(state, move))
        time.sleep(pause)
    say(f"\n{turn.end}\n{coach.account(turn.steps).sentence}", wrapped=True)


class Frame(NamedTuple):
    """A picture of a film, and the seconds that it is shown."""

    picture: Picture
    seconds: float


def frames(turn: PlayedTurn) -> Iterator[Frame]:
    """Draw the pictures of a film of a turn: every throw, every move with its loss, and the end."""
    coach = turn.coach
    words = words_of(coach.game)

    def frame(picture: Picture, seconds: float, first: str, second: str, third: str = "") -> Frame:
        return Frame(below(picture, [first, second, third]), seconds)

    def value(utility: float) -> str:
        return f"perfect play: {coach.unit.value(utility)} {coach.unit.heading}"

    for number, (state, move) in enumerate(turn.steps, 1):
        remark = coach.remark(state, move)
        picture = words.picture(state.progress, state.dice, state.faces, f"{turn.name}: throw {number}")
        yield frame(picture, THROWN, value(coach.choice(state).utility), "" if move else remark)
        if move is not None:
            plays = moves_in_words(coach.game, state, [move])
            picture = words.picture(move.progress, move.dice, (), f"{turn.name}: {plays}")
            yield frame(picture, MOVED, value(coach.utility(move.progress, move.dice)), remark)
    unit, _, changes = coach.account(turn.steps).sentence.partition(": ")
    yield frame(picture, ENDED, turn.end, f"{unit}:", changes)


def write_film(path: str | Path, film: list[Frame]) -> None:
    """Write a film that repeats.

    Args:
        path: the file, such as one that ends in .gif, which is written whole or not at all.
        film: the pictures, all of one size.

    Raises:
        ImportError: if Pillow is not installed.
        ValueError: if Pillow does not know the ending of the file's name.
    """
    image = needed("PIL.Image", "Pillow", "films")
    first, *others = (image.fromarray(frame.picture).quantize(PALETTE_SIZE, dither=image.Dither.NONE) for frame in film)
    milliseconds = [round(1000 * frame.seconds) for frame in film]
    with write_aside(path) as aside:
        first.save(aside, save_all=True, append_images=others, duration=milliseconds, loop=0, optimize=False)
