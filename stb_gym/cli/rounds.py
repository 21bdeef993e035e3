"""The commands about several players: a round, par scores, a match of rounds, a tournament."""

from typing import Any

from stb_gym.arrays import FloatArray
from stb_gym.checks import check_integer
from stb_gym.cli.answers import PERCENT, Answer, rows_of
from stb_gym.cli.flags import Names, RoundRules, player_of
from stb_gym.games import Game, entry_of
from stb_gym.rounds import Round, pars, series, shares
from stb_gym.rounds import tournament as tournament_of
from stb_gym.solver import table_strategy
from stb_gym.tracking import tracked

ROUNDING = 1e-12  # of probabilities


def _about(rules: Round, policies: Names) -> dict[str, Any]:
    """Return the first values of an answer about a round."""
    return {"players": rules.players, "ties": rules.ties, "shut_wins": rules.shut_wins, "policies": list(policies)}


def _by_player(policies: Names, **columns: list[float]) -> list[dict[str, Any]]:
    """Return a row for each player, in turn order: the seat, the name and numbers."""
    return rows_of({"seat": range(1, len(policies) + 1), "player": policies, **columns})


def _winners(policies: Names, wins: FloatArray) -> dict[str, str]:
    """Return who wins most often and the chance, for a sentence."""
    seats = (wins > wins.max() - ROUNDING).nonzero()[0]
    chance = format(wins.max(), PERCENT)
    if 1 < len(seats) == len(wins):
        return {"winners": f"all win with the same chance, {chance}"}
    names = " and ".join(f"{policies[seat]} in seat {seat + 1}" for seat in seats)
    return {"winners": f"{names} {'wins' if len(seats) == 1 else 'win'} most often, {chance}"}


def round_of(
    game: Game,
    *,
    players: int | None = None,
    policy: Names = (),
    rules: RoundRules = RoundRules(),  # noqa: B008
) -> Answer:
    """Solve a round, or evaluate its players exactly.

    Args:
        game: the rules of a turn.
        players: How many play (default: 2, or as many as there are policies).
        policy: One for each seat, separated by commas: strategies, bundled policies, saved policies (.npz) or runs'
            folders (default: optimal, the equilibrium).
        rules: the rules of the round.

    Returns:
        By seat the expected win and the mean throws; by lead the chance that nobody of 0, 1, 2 ... players beats it.
        For given players what a best response would gain each.
    """
    number = players if players is not None else len(policy) or 2
    of_round = rules.round(game, number)
    names = policy or ("optimal",) * number
    found = of_round.evaluate(names)
    leads = [str(lead) for lead in of_round.tables.scores.tolist()]
    answer = Answer(
        "In a round of {game} with {players} players, {winners}"
        + ("; best responses would gain {exploitability} in all." if policy else "."),
        game,
        words=_winners(names, found.seats),
        tables={"seats": "What each player can expect:"},
        more_tables={"survival": "The chance that 0, 1, 2 ... later players do not beat a lead:"},
        columns={"survival": ["lead", *map(str, range(number))]},
        formats={
            "exploitability": PERCENT,
            "wins": PERCENT,
            "throws": ".4f",
            "best_response_gain": PERCENT,
            "survival": PERCENT,
        },
        **_about(of_round, names),
    )
    numbers = {"wins": found.seats.tolist(), "throws": found.throws.tolist()}
    survival = dict(zip(leads, found.survival.T.tolist(), strict=True))
    if policy:
        seats = tracked(range(number), "best responses found", "seats", number)
        gains = [found.best_response(seat).gain for seat in seats]
        numbers["best_response_gain"] = gains
        answer.json["exploitability"] = sum(gains)
    answer.json |= {"seats": _by_player(names, **numbers), "survival": survival}
    return answer


def par(
    game: Game,
    *,
    after: int = 10,
    policy: Names = (),
    rules: RoundRules = RoundRules(),  # noqa: B008
    full: bool = False,
) -> Answer:
    """Find par: the score the first of many players needs.

    Par is the worst score that leaves them no worse off than before the turn.

    Args:
        game: the rules of a turn.
        after: The largest number of players who come after.
        policy: Strategies, separated by commas, whose share of the best expected win --full shows.
        rules: the rules of the round.
        full: Print all numbers and tables.

    Returns:
        By the number of players after: the expected win before the turn, par, the worst score that is worth half a
        win, and the shares; by strategy the fewest players after from which on it plays perfectly.
    """
    check_integer("players after", after, 1, 100)
    names = policy or ("optimal-score", *entry_of(game).heuristics)
    of_round = rules.round(game, after + 1)
    policies = {name: table_strategy(game, name) for name in names}
    solution = of_round.solve()
    tasks = tracked(policies.items(), "strategies evaluated", "strategies", len(policies))
    share_of = {name: shares(solution, strategy).tolist() for name, strategy in tasks}
    rows = [
        found._asdict() | {"shares": {name: share[found.after] for name, share in share_of.items()}}
        for found in pars(solution)[1:]
    ]
    perfect_from = {}
    for name in names:
        for row in reversed(rows):
            if row["shares"][name] < 1 - ROUNDING:
                break
            perfect_from[name] = row["after"]
    return Answer(
        "Par of {game}, the worst score that leaves the first player no worse off, is {first_par} with one player "
        "after, and {last_par} with {after}.",
        game,
        words={"first_par": str(rows[0]["par"]), "last_par": str(rows[-1]["par"]), "after": str(after)},
        tables={"pars": "By the number of players after: the expected win, par, and the worst score worth half a win:"},
        more_tables={"perfect_from": "The number of players after from which on strategies are perfect:"},
        columns={
            "pars": ["after", "first", "par", "even", *["shares"] * full],
            "perfect_from": ["strategy", "players after"],
        },
        formats={"first": PERCENT, "shares": PERCENT},
        **_about(of_round, names),
        pars=rows,
        perfect_from=perfect_from,
    )


def match(
    game: Game,
    *,
    policy: Names,
    rounds: int = 20,
    begins: str = "fixed",
    rules: RoundRules = RoundRules(),  # noqa: B008
) -> Answer:
    """Find who of two players wins more of several rounds.

    Args:
        game: the rules of a turn.
        policy: Two, separated by commas: strategies, bundled policies, saved policies (.npz) or runs' folders.
        rounds: How many rounds the match has.
        begins: Who begins a round: fixed (always the first player), alternating, or the winner of the one before.
        rules: the rules of a round.

    Returns:
        After 1, 2 ... rounds the chance that each player has won more, and that both have won as many.
    """
    of_round = rules.round(game, len(policy))
    ended = series(of_round, policy, rounds, begins)
    wins = ended.wins.tolist()
    return Answer(
        "In a match of {rounds} rounds of {game}, {winners}.",
        game,
        words=_winners(policy, ended.wins[-1]),
        tables={"after": f"The chances that {' or '.join(policy)} has won more, and that both have won as many:"},
        more_tables={"seats": "What each player can expect:"},
        formats={"wins": PERCENT, "tied": PERCENT},
        **_about(of_round, policy),
        rounds=rounds,
        begins=begins,
        seats=_by_player(policy, wins=wins[-1]),
        after=rows_of({"rounds": range(1, rounds + 1), "wins": wins, "tied": ended.tied.tolist()}),
    )


def tournament(game: Game, *, policy: Names, limit: int = 100) -> Answer:
    """Find who of two players wins a tournament: the best total when the first one reaches a limit.

    Args:
        game: the rules of a turn.
        policy: Two, separated by commas: strategies, bundled policies, saved policies (.npz) or runs' folders.
        limit: Points.
    """
    ended = tournament_of(game, [player_of(game, name) for name in policy], limit)
    return Answer(
        "In a tournament of {game} to {limit} points, {winners}; it lasts {mean_rounds} rounds.",
        game,
        words=_winners(policy, ended.wins),
        tables={"seats": "What each player can expect:"},
        formats={"mean_rounds": ".4f", "wins": PERCENT},
        limit=ended.limit,
        policies=list(policy),
        seats=_by_player(policy, wins=ended.wins.tolist()),
        mean_rounds=ended.mean_rounds,
        rounds=ended.rounds.tolist(),
    )
