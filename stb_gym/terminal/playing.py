"""Whole games: of a person, alone or in a round, as a dialogue in plain lines; and rounds that others play."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain

import numpy as np

from stb_gym.games import Game, check_integer, words_of
from stb_gym.output import Progress, Table, say
from stb_gym.rounds import Round
from stb_gym.solver import BoardValues, Policy, Values, edge_weights, strategy
from stb_gym.terminal.chances import Chances, chances
from stb_gym.terminal.coach import Account, Coach, coach_alone
from stb_gym.terminal.course import YOU, Course, contest, seated
from stb_gym.terminal.dialogue import CAN_BE_TYPED, Sitting, your_turn
from stb_gym.terminal.evening import Result, again_and_again
from stb_gym.terminal.players import by_policy
from stb_gym.terminal.turns import step_in_words, stopped, take_turn
from stb_gym.terminal.watching import Turn

Named = tuple[str, str | Policy]  # the name to show, and a strategy
PERSON: Named = (YOU, "random")  # a strategy that stands in for the person's


def play_alone(known: Values | BoardValues, coach: bool, seed: int | None) -> None:
    """Play turns alone, with a person who reads and types lines.

    Args:
        known: perfect play of the game for the objective that the person plays for.
        coach: say what every choice costs and, at the end, what was luck.
        seed: of the dice.

    Raises:
        ValueError: if the seed is not allowed.
    """
    adviser, target, words, dice = coach_alone(known), known.objective.target, words_of(known.game), _dice(seed)
    goal = words.goal(target) if target is not None else f"the {words.best} points you can"
    if known.objective.unit == "utility":
        goal = f"the best {known.objective.name} you can"

    def one_turn() -> Result:
        [throws], sitting = dice(1), Sitting()
        with _told_if_left(coach, lambda: adviser.account(sitting.steps), sitting):
            _, score = your_turn(known.game, adviser if coach else None, throws, None, lambda: adviser, sitting)
        reached = target is not None and known.game.sign * score >= known.game.sign * target
        if target is not None:
            say("Just what you wanted!" if reached else f"You wanted {words.goal(target)}.")
        account = adviser.account(sitting.steps) if coach else None
        _tell(account, sitting)
        return Result(score, float(reached) if target is not None else None, account)

    _introduce(known.game, f"try to end with {goal}")
    again_and_again(one_turn, "turns")


def play_round(rules: Round, opponents: list[Named], seat: int, coach: bool, seed: int | None) -> None:
    """Play rounds against strategies, with a person who reads and types lines.

    Args:
        rules: of the round.
        opponents: in turn order, the name to show and a strategy, or the policy of one who does not look at the others.
        seat: where the person sits, from 1.
        coach: say what every choice costs and, at the end, what was luck.
        seed: of the dice and of the opponents' random choices; the same seed throws the same dice.

    Raises:
        ValueError: if an argument is not allowed.
    """
    check_integer("seat", seat, 1, rules.players)
    for _, plays in opponents:
        edge_weights(rules.tables, strategy(rules.game, plays) if isinstance(plays, str) else plays)
    players, dice = [*opponents[: seat - 1], PERSON, *opponents[seat - 1 :]], _dice(seed)

    @cache
    def prospects() -> Chances:
        with Progress(f"working on {rules.game}"):
            return chances(rules, [plays for _, plays in players], seat - 1)

    _introduce(rules.game, contest(rules))
    again_and_again(lambda: _play_seats(rules, players, seat - 1, coach, prospects, dice(rules.players)), "rounds")


def play_together(rules: Round, players: Sequence[Named], seeds: Sequence[int]) -> Iterator[Turn]:
    """Let others play rounds, with a coach who knows the best play against those whom each plays against.

    Args:
        rules: of the rounds.
        players: in turn order, the name to show and a strategy, or the policy of one who does not look at the others.
        seeds: of each round; the same seed throws the same dice.

    Raises:
        ValueError: if a strategy is unknown or does not fit the game.
    """
    lineup, names = [plays for _, plays in players], seated([name for name, _ in players])
    known = [chances(rules, lineup, seat) for seat in range(rules.players)]

    def turns(seed: int) -> Iterator[Turn]:
        course = Course(rules, names)
        while not course.over:
            seat, task, coach = course.seat, course.task, known[course.seat].coach(course.standing)
            dice, choices = (np.random.default_rng([seed, use, seat]) for use in (0, 1))
            choose = by_policy(rules.game, rules.policy(lineup[seat], course.seen), choices)
            steps, score = take_turn(rules.game, dice, choose, course.ahead_of)
            course.scores.append(score)
            yield Turn(names[seat], coach, steps, score, task, course.result if course.over else "")

    return chain.from_iterable(map(turns, seeds))


def _dice(seed: int | None) -> Callable[[int], list[np.random.Generator]]:
    """The dice of so many players, others for every game."""
    if seed is not None:
        check_integer("seed", seed, 0, 2**63 - 1)
    sequence = np.random.SeedSequence(seed)
    return lambda players: [np.random.default_rng(own) for own in sequence.spawn(players)]


@contextmanager
def _told_if_left(coach: bool, account: Callable[[], Account], sitting: Sitting) -> Iterator[None]:
    """Tell a person who leaves in the middle the account of what was played."""
    try:
        yield
    except EOFError:
        _tell(account() if coach and sitting.steps else None, sitting)
        raise


def _tell(account: Account | None, sitting: Sitting) -> None:
    told = [*([] if account is None else [str(account)]), *filter(None, [str(sitting)])]
    if told:
        say("\n" + "\n".join(told))


def _play_seats(
    rules: Round,
    players: list[Named],
    seat: int,
    coach: bool,
    prospects: Callable[[], Chances],
    dice: list[np.random.Generator],
) -> Result:
    course, sitting = Course(rules, seated([name for name, _ in players])), Sitting()
    if coach:
        prospects()
    while not course.over:
        at, ahead_of = course.seat, course.ahead_of
        if at == seat:
            say(f"\nYour turn: {course.situation}.")
            adviser = partial(_adviser, prospects, course.standing)
            with _told_if_left(coach, partial(_account, prospects, course, sitting), sitting):
                _, score = your_turn(rules.game, adviser() if coach else None, dice[at], ahead_of, adviser, sitting)
        else:
            say(f"\n{course.names[at]}")
            with Progress(f"working on {rules.game}"):
                policy = rules.policy(players[at][1], course.seen)
            score = _their_turn(rules, policy, dice[at], ahead_of)
        course.scores.append(score)
    if course.seat < rules.players:
        say("\nThat ends the round.")
    say(f"\n{course.result}")
    account = _account(prospects, course, sitting) if coach else None
    _tell(account, sitting)
    return Result(course.scores[seat] if seat < course.seat else None, course.share(seat), account)


def _account(prospects: Callable[[], Chances], course: Course, sitting: Sitting) -> Account:
    return prospects().account(course.names, course.scores, sitting.steps)


def _adviser(prospects: Callable[[], Chances], standing: int) -> Coach:
    return prospects().coach(standing)


def _introduce(game: Game, goal: str) -> None:
    words = words_of(game)
    say(f"{words.introduction()}: {goal}.\n{words.how_to_play()}\n{CAN_BE_TYPED}")


def _their_turn(rules: Round, policy: Policy, dice: np.random.Generator, ahead_of: int | None) -> int:
    """Play and show an opponent's turn; returns the final score."""
    game = rules.game
    steps, score = take_turn(game, dice, by_policy(game, policy, dice), ahead_of)
    say(Table.from_rows(["", " ", "  ", "   "], [("", *step_in_words(game, step)) for step in steps]))
    say(f"  {'ahead, and stops' if stopped(steps) else 'ends'} with {words_of(game).score(score)}")
    return score
