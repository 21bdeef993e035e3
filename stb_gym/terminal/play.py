"""Play in a terminal, alone or in a round: a dialogue in plain lines."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from stb_gym.board_tables import BoardTables
from stb_gym.coach import Turn, chances, turn_alone
from stb_gym.dialogue import your_turn
from stb_gym.game import Game, check_integer, own_rules
from stb_gym.hand import ONE_DIE
from stb_gym.matching import MATCHES
from stb_gym.policy import Policy, edge_weights
from stb_gym.rounds import Round
from stb_gym.show import patience, table
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.solve import Solution, solve
from stb_gym.standings import TIES
from stb_gym.strategies import strategy
from stb_gym.tables import TurnTables
from stb_gym.threes import Threes
from stb_gym.turns import Faces, Step, at_most, points_in_words, step_in_words, stopped, take_turn

YOU = ("you", "random")  # the name of the person, and a strategy that stands in for one


def play(
    rules: Round, objective: str, opponents: list[tuple[str, str | Policy]], seat: int, coach: bool, seed: int | None
) -> None:
    """Play a turn alone, or a round against strategies, with a person who reads and types lines.

    Args:
        rules: of the round; of one player to play alone.
        objective: what is wanted of a turn alone: "score", "shut" or "at-most:T". A round is played to win.
        opponents: in turn order, the name to show and a strategy, or the policy of one who does not look at the others.
        seat: where the person sits, from 1.
        coach: tell what every choice costs and, at the end, what was luck.
        seed: of the dice and of the opponents' random choices; the same seed throws the same dice.

    Raises:
        ValueError: if an argument is not allowed.
    """
    check_integer("seat", seat, 1, rules.players)
    if not opponents:
        return play_alone(solve(rules.game, objective), coach, seed)
    for _, plays in opponents:
        edge_weights(rules.tables, strategy(rules.game, plays) if isinstance(plays, str) else plays)
    if objective != "score":
        raise ValueError(f"objective {objective} is for playing alone: a round is played to win")
    players = [*opponents[: seat - 1], YOU, *opponents[seat - 1 :]]
    with _leaving_allowed():
        _play_round(rules, players, seat - 1, coach, _dice(seed, rules.players))


def play_alone(known: Solution | BoardTables, coach: bool, seed: int | None) -> None:
    """Play a turn alone, of a game and for an objective whose perfect play is known; see `play`."""
    turn, target = turn_alone(known), known.objective.target
    goal = "as few points as you can" if target is None else at_most(target)
    [dice] = _dice(seed, 1)
    _introduce(turn.tables.game, f"try to end with {goal}")
    with _leaving_allowed():
        _play_alone(turn, target, coach, dice)


def _dice(seed: int | None, players: int) -> list[np.random.Generator]:
    """The dice of every player."""
    if seed is not None:
        check_integer("seed", seed, 0, 2**63 - 1)
    return [np.random.default_rng(own) for own in np.random.SeedSequence(seed).spawn(players)]


@contextmanager
def _leaving_allowed() -> Iterator[None]:
    try:
        yield
    except EOFError:
        print("Goodbye.")


def _play_alone(turn: Turn, target: int | None, coach: bool, dice: np.random.Generator) -> None:
    steps, score = your_turn(turn.tables, turn if coach else None, dice)
    if target is not None:
        print("Just what you wanted!" if score <= target else f"You wanted {at_most(target)}.")
    if coach:
        print(f"\n{turn.account(steps)}")


def _play_round(
    rules: Round, players: list[tuple[str, str | Policy]], seat: int, coach: bool, dice: list[np.random.Generator]
) -> None:
    tables, standings = rules.tables, rules.standings
    given = [name for name, _ in players]
    names = [name if given.count(name) == 1 else f"{name} (seat {at})" for at, name in enumerate(given, 1)]
    sudden = ", a score of 0 ends the round" if rules.shut_wins else ""
    _introduce(tables.game, f"a round of {rules.players}, the lowest score wins, {TIES[rules.ties]}{sudden}")
    waiting = f"stb-gym: still working on {rules.game}"
    with patience(waiting):
        prospects = chances(rules, [plays for _, plays in players], seat) if coach else None
    scores: list[int] = []
    yours: list[Step] = []
    standing = len(standings.lead) - 1
    for at, (_, plays) in enumerate(players):
        if standings.over[standing]:
            print(f"\n{'A score of 0' if min(scores) == 0 else 'The moon'} ends the round.")
            break
        seen = standings.standing(standing, rules.players - 1 - at)
        stop_below = seen.lead if rules.may_stop and seen.after == 0 and seen.lead is not None else 0
        if at == seat:
            print(f"\nYour turn: {_situation(names, scores)}.")
            yours, score = your_turn(tables, prospects.turn(standing) if prospects else None, dice[at], stop_below)
        else:
            print(f"\n{names[at]}")
            with patience(waiting):
                policy = rules.policy(plays, seen)
            score = _their_turn(tables, policy, dice[at], stop_below)
        scores.append(score)
        standing = int(standings.after[standing, standings.place(score)])
    print(f"\n{_result(rules.ties, names, scores)}")
    if prospects:
        print(f"\n{prospects.account(names, scores, yours)}")


def _introduce(game: Game, goal: str) -> None:
    name = game.name.replace("-", " ").capitalize()
    if own := own_rules(game):
        name += f" ({', '.join(f'{rule} {value}'.replace('_', ' ') for rule, value in own.items())})"
    print(f"{name}: {goal}.\n{_how(game)}\nType ? for your moves, q to leave.")


def _how(game: Game) -> str:
    """What a player does, and what counts."""
    if isinstance(game, ShutTheBox):
        matching = (MATCHES[game.match].__doc__ or "").rstrip(".")
        score = {"sum": "sum", "count": "number", "digits": "number read from the digits"}[game.score]
        how = [f"Shut {matching[0].lower()}{matching[1:]}; the {score} of those still open at the end is your score."]
        if len(game.throws) > 1:
            must = "must" if game.one_die_forced else "may"
            how.append(f"After the first throw you {must} throw one die {ONE_DIE[game.one_die]}.")
        if game.first_move is not None:
            how.append(f"The first move must shut the {game.first_move}.")
        if game.ending_roll is not None:
            how.append(f"A roll of {game.ending_roll} ends the turn.")
        return "\n".join(how)
    assert isinstance(game, Threes)
    free = f"; a {game.free_face} counts nothing" if 1 <= game.free_face <= game.faces else ""
    moon = f"\nA first throw of nothing but {game.faces} is the moon, better than 0." if game.moon else ""
    return f"Keep the lowest dice of every throw, at least one, until none is left{free}.{moon}"


def _situation(names: list[str], scores: list[int]) -> str:
    """What a person sees of the others."""
    before = "you begin"
    if scores:
        leaders = [name for name, score in zip(names, scores, strict=False) if score == min(scores)]
        before = f"{_all(leaders)} lead{'s' * (len(leaders) == 1)} with {points_in_words(min(scores))}"
    after = names[len(scores) + 1 :]
    return f"{before}, {_all(after) or 'nobody'} play{'s' * (len(after) < 2)} after you"


def _result(ties: str, names: list[str], scores: list[int]) -> str:
    """Who wins what, the person first."""
    lowest = min(scores)
    winners = [name for name, score in zip(names, scores, strict=False) if score == lowest]
    others = [name for name in winners if name != YOU[0]]
    who = _all(["You"] * (YOU[0] in winners) + others)
    wins = "wins" if others else "win"
    if len(winners) > 1:
        shared = f"tie and win 1/{len(winners)} each"
        wins = {"all-win": "tie and win", "split": shared, "nobody": "tie, so nobody wins,"}[ties]
    return f"{who} {wins} with {points_in_words(lowest)}."


def _all(names: list[str]) -> str:
    return " and ".join(names)


def _their_turn(tables: TurnTables, policy: Policy, dice: np.random.Generator, stop_below: int) -> int:
    """Play and show an opponent's turn; returns the final score."""
    weights = edge_weights(tables, policy)

    def choose(faces: Faces, node: int) -> int | None:
        edges = tables.edges_of(node)
        return int(dice.choice(edges, p=weights[edges.start : edges.stop])) if edges else None

    steps, score = take_turn(tables, dice, choose, stop_below)
    print(table([("", *step_in_words(tables, step)) for step in steps]))
    print(f"  {'ahead, and stops' if stopped(tables, steps) else 'ends'} with {points_in_words(score)}")
    return score
