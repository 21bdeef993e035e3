"""Play in a terminal, alone or in a round: a dialogue in plain lines."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial

import numpy as np

from stb_gym.exact import BoardValues, Policy, Values, edge_weights, strategy
from stb_gym.games import Game, check_integer, words_of
from stb_gym.output import Progress, Table
from stb_gym.rounds import TIES, Round
from stb_gym.terminal.chances import Chances, chances
from stb_gym.terminal.coach import Account, Coach, coach_alone
from stb_gym.terminal.dialogue import CAN_BE_TYPED, Sitting, your_turn
from stb_gym.terminal.evening import Result, again_and_again
from stb_gym.terminal.players import by_policy
from stb_gym.terminal.turns import step_in_words, stopped, take_turn

Named = tuple[str, str | Policy]  # the name to show, and a strategy
YOU = ("you", "random")  # the name of the person, and a strategy that stands in for one


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
            print("Just what you wanted!" if reached else f"You wanted {words.goal(target)}.")
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
    players, dice = [*opponents[: seat - 1], YOU, *opponents[seat - 1 :]], _dice(seed)

    @cache
    def prospects() -> Chances:
        with Progress(f"working on {rules.game}"):
            return chances(rules, [plays for _, plays in players], seat - 1)

    perfect = words_of(rules.game).score(rules.game.perfect_score)
    sudden = f", whoever ends with {perfect} wins at once" if rules.shut_wins else ""
    best = "highest" if rules.game.more_is_better else "lowest"
    _introduce(rules.game, f"a round of {rules.players}, the {best} score wins, {TIES[rules.ties]}{sudden}")
    again_and_again(lambda: _play_seats(rules, players, seat - 1, coach, prospects, dice(rules.players)), "rounds")


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
    if account is not None:
        print("\n".join(filter(None, [f"\n{account}", str(sitting)])))


def _play_seats(
    rules: Round,
    players: list[Named],
    seat: int,
    coach: bool,
    prospects: Callable[[], Chances],
    dice: list[np.random.Generator],
) -> Result:
    standings = rules.standings
    given = [name for name, _ in players]
    names = [name if given.count(name) == 1 else f"{name} (seat {at})" for at, name in enumerate(given, 1)]
    if coach:
        prospects()
    scores: list[int] = []
    sitting = Sitting()
    standing = len(standings.lead) - 1
    for at, (_, plays) in enumerate(players):
        if standings.over[standing]:
            print("\nThat ends the round.")
            break
        seen = standings.standing(standing, rules.players - 1 - at)
        ahead_of = seen.lead if rules.may_stop and seen.after == 0 else None
        if at == seat:
            print(f"\nYour turn: {_situation(rules.game, names, scores)}.")
            adviser = partial(_adviser, prospects, standing)
            with _told_if_left(coach, lambda: prospects().account(names, scores, sitting.steps), sitting):
                _, score = your_turn(rules.game, adviser() if coach else None, dice[at], ahead_of, adviser, sitting)
        else:
            print(f"\n{names[at]}")
            with Progress(f"working on {rules.game}"):
                policy = rules.policy(plays, seen)
            score = _their_turn(rules, policy, dice[at], ahead_of)
        scores.append(score)
        standing = int(standings.after[standing, standings.place(score)])
    print(f"\n{_result(rules, names, scores)}")
    account = prospects().account(names, scores, sitting.steps) if coach else None
    _tell(account, sitting)
    return Result(scores[seat] if seat < len(scores) else None, _share(rules, scores, seat), account)


def _adviser(prospects: Callable[[], Chances], standing: int) -> Coach:
    return prospects().coach(standing)


def _share(rules: Round, scores: list[int], seat: int) -> float:
    """What the person wins of a round."""
    best = _best(rules.game, scores)
    if seat >= len(scores) or scores[seat] != best:
        return 0.0
    tied = scores.count(best)
    return {"all-win": 1.0, "split": 1 / tied, "nobody": float(tied == 1)}[rules.ties]


def _introduce(game: Game, goal: str) -> None:
    words = words_of(game)
    print(f"{words.introduction()}: {goal}.\n{words.how_to_play()}\n{CAN_BE_TYPED}")


def _best(game: Game, scores: Sequence[int]) -> int:
    return max(scores, key=lambda score: game.sign * score)


def _situation(game: Game, names: list[str], scores: list[int]) -> str:
    """What a person sees of the others."""
    before = "you begin"
    if scores:
        lead = _best(game, scores)
        leaders = [name for name, score in zip(names, scores, strict=False) if score == lead]
        before = f"{_all(leaders)} lead{'s' * (len(leaders) == 1)} with {words_of(game).score(lead)}"
    after = names[len(scores) + 1 :]
    return f"{before}, {_all(after) or 'nobody'} play{'s' * (len(after) < 2)} after you"


def _result(rules: Round, names: list[str], scores: list[int]) -> str:
    """Who wins what, the person first."""
    best = _best(rules.game, scores)
    winners = [name for name, score in zip(names, scores, strict=False) if score == best]
    others = [name for name in winners if name != YOU[0]]
    who = _all(["You"] * (YOU[0] in winners) + others)
    wins = "wins" if others else "win"
    if len(winners) > 1:
        shared = f"tie and win 1/{len(winners)} each"
        wins = {"all-win": "tie and win", "split": shared, "nobody": "tie, so nobody wins,"}[rules.ties]
    return f"{who} {wins} with {words_of(rules.game).score(best)}."


def _all(names: list[str]) -> str:
    return " and ".join(names)


def _their_turn(rules: Round, policy: Policy, dice: np.random.Generator, ahead_of: int | None) -> int:
    """Play and show an opponent's turn; returns the final score."""
    game = rules.game
    steps, score = take_turn(game, dice, by_policy(game, policy, dice), ahead_of)
    print(Table.from_rows(["", " ", "  ", "   "], [("", *step_in_words(game, step)) for step in steps]))
    print(f"  {'ahead, and stops' if stopped(steps) else 'ends'} with {words_of(game).score(score)}")
    return score
