"""Turns and rounds of strategies and policies: played, replayed with given dice, printed, or drawn as a film."""

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
    Position,
    RoundState,
    Step,
    Throw,
    goes_on_at,
    moves_in_words,
    say_position,
    seat_names,
    step_in_words,
    take_turn,
)
from stb_gym.words import Picture, below, needed, words_of

THROWN, MOVED, ENDED = 0.9, 1.6, 3.0  # seconds that a picture is shown
PALETTE_SIZE = 48  # colours of a picture


def chooser(coach: Coach, plays: str | Policy, random: np.random.Generator) -> Choose:
    """Return a function that chooses the moves of a turn played alone, in boxes of any size.

    Args:
        coach: the coach of the turn, who also plays "optimal".
        plays: the name of a strategy, or a policy.
        random: the generator for the choices of a policy with probabilities.

    Raises:
        ValueError: if the strategy is unknown, the policy does not fit the game, or the game is too large for it.
    """
    if isinstance(plays, str) and plays == "optimal":
        return lambda position: next(iter(coach.choice(position).best), None)
    return by_policy(coach.game, strategy(coach.game, plays) if isinstance(plays, str) else plays, random)


def by_policy(game: Game, policy: Policy | RulePolicy, random: np.random.Generator) -> Choose:
    """Return a function that chooses as a policy does.

    Raises:
        ValueError: if the policy does not fit the game or takes an illegal action.
    """
    if isinstance(policy, RulePolicy):

        def probabilities(position: Position) -> FloatArray:
            return policy.probabilities(position.moves)
    else:
        tables = compile_game(game)
        weights, _ = pair_weights(tables, policy)

        def probabilities(position: Position) -> FloatArray:
            state = tables.find_state(position.progress, position.dice, position.roll)
            return weights[np.array(tables.pairs_of(state))]

    def choose(position: Position) -> Move | None:
        moves = position.moves
        return moves[random.choice(len(moves), p=probabilities(position))] if moves else None

    return choose


class Turn(NamedTuple):
    """A turn that was played, with the coach who values its moves.

    Attributes:
        name: the name of the player.
        coach: the coach of the turn.
        steps: the throws and moves.
        score: the final score.
        opening: the situation before the turn, in words.
        end: the end of the turn and, if it is over, of the round, in words.
    """

    name: str
    coach: Coach
    steps: list[Step]
    score: int
    opening: str
    end: str


def play(name: str, coach: Coach, choose: Choose, dice: np.random.Generator | Sequence[Throw]) -> Turn:
    """Play a turn alone.

    Args:
        name: the name of the player.
        coach: the coach of the turn.
        choose: chooses the moves, see `chooser`.
        dice: the generator of the throws, or given throws in order, of which the turn may need fewer.

    Raises:
        ValueError: if a given throw is impossible at its position.
    """
    words, steps = words_of(coach.game), list[Step]()
    throws = dice if isinstance(dice, np.random.Generator) else iter(dice)
    score = take_turn(coach.game, throws, choose, steps)
    at = goes_on_at(coach.game, steps)
    end = f"needs more throws at {at}" if at else f"ends with {words.score(score)}"
    return Turn(name, coach, steps, score, f"{name} plays {words.introduction()}", f"{name} {end}.")


def play_together(rules: Round, players: Sequence[tuple[str, str | Policy]], seeds: Sequence[int]) -> Iterator[Turn]:
    """Play rounds, and value each move against the best response to the other players.

    Args:
        rules: the rules of the rounds.
        players: in turn order, the name to show and a strategy, or the policy of one who ignores the other scores.
        seeds: the seed of every round; the same seed throws the same dice.

    Returns:
        The turns of all rounds, played one by one.

    Raises:
        ValueError: if a strategy is unknown or does not fit the game.
    """
    lineup, names = [plays for _, plays in players], seat_names(players)
    evaluation, words = rules.evaluate(lineup), words_of(rules.game)
    coaches = [RoundCoach(evaluation, seat) for seat in range(rules.players)]

    def turns() -> Iterator[Turn]:
        for seed in seeds:
            state = RoundState(rules, names)
            while not state.is_over:
                seat, coach = state.seat, coaches[state.seat].at(state.scores_so_far)
                opening, steps = f"{names[seat]} ({state.situation})", list[Step]()
                dice, choices = (np.random.default_rng([seed, use, seat]) for use in (0, 1))
                choose = by_policy(rules.game, rules.policy(lineup[seat], state.scores_so_far), choices)
                score = take_turn(rules.game, dice, choose, steps)
                state.scores.append(score)
                end = f"{names[seat]} ends with {words.score(score)}."
                if state.is_over:
                    end += f" Best: {state.leaders}."
                yield Turn(names[seat], coach, steps, score, opening, end)

    return turns()


@checked
def replay(game: Game, policy: str | Policy, rolls: Sequence[Throw], objective: Goal = "score") -> dict[str, list[Any]]:
    """Play a turn with given dice.

    Args:
        game: the rules.
        policy: the name of a strategy, or a policy [N]; one with probabilities draws with seed 0.
        rolls: every throw of the turn: the sum of its dice where only the sum matters, or their faces.
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
        stands = f"goes on at {at}" if at else "is over"
        raise ValueError(f"the turn {stands} after {len(steps)} of {len(rolls)} rolls")
    rows = []
    for step, event in zip(steps, coach.account(steps).events, strict=True):
        _, plays, leaves = step_in_words(game, step)
        rows.append(
            {
                "roll": game.describe_roll(step.position.roll),
                "plays": plays,
                "leaves": leaves,
                "best": moves_in_words(game, step.position, coach.choice(step.position).best or [None]),
                "loss": coach.loss(*step),
                "luck": event.changes["luck"],
                "value": coach.perfect.objective.sign * coach.utility(*step.leaves) + 0.0,
            }
        )
    return {name: [row[name] for row in rows] for name in rows[0]}


def show(turn: Turn, pause: float = 0) -> None:
    """Print a turn move by move.

    Args:
        turn: the turn.
        pause: the seconds between two moves.
    """
    coach = turn.coach
    opening = f"{turn.opening}. {coach.unit.value(coach.start)} {coach.unit.heading} with perfect play."
    say(opening, wrapped=True)
    for position, move in turn.steps:
        say_position(coach.game, position)
        say(coach.remark(position, move), wrapped=True, colour=coach.colour(position, move))
        time.sleep(pause)
    say(f"\n{turn.end}\n{coach.account(turn.steps).sentence}", wrapped=True)


class Frame(NamedTuple):
    """A picture of a film, and the seconds that it is shown."""

    picture: Picture
    seconds: float


def frames(turn: Turn) -> Iterator[Frame]:
    """Draw the pictures of a film of a turn: every throw, every move with its loss, and the end."""
    words, coach = words_of(turn.coach.game), turn.coach

    def frame(picture: Picture, utility: float, line: str, seconds: float) -> Frame:
        value = f"{turn.name}; perfect play: {coach.unit.value(utility)} {coach.unit.heading}"
        return Frame(below(picture, [value, line]), seconds)

    for number, (position, move) in enumerate(turn.steps, 1):
        progress, remark = position.progress, coach.remark(position, move)
        picture = words.picture(progress, position.dice, position.faces, f"throw {number}")
        yield frame(picture, coach.choice(position).utility, "" if move else remark, THROWN)
        if move is not None:
            plays = moves_in_words(coach.game, position, [move])
            picture = words.picture(move.progress, move.dice, (), plays)
            yield frame(picture, coach.utility(move.progress, move.dice), remark, MOVED)
    sentence = coach.account(turn.steps).sentence
    yield Frame(below(picture, [turn.end, sentence]), ENDED)


def write_film(path: str | Path, film: list[Frame]) -> None:
    """Write a film that repeats for ever.

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
