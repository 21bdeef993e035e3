"""The commands about several players: a round, par scores, a match of rounds, a tournament."""

from stb_gym.checks import check_integer
from stb_gym.cli.turn import Answer, Names, RoundRules, heading, player_of
from stb_gym.games import Game, entry_of
from stb_gym.rounds import ENDS, Round, departures, pars, series, shares
from stb_gym.rounds import tournament as tournament_of
from stb_gym.solver import table_strategy
from stb_gym.tracking import tracked

ROUNDING = 1e-12  # of probabilities


def _heading(rules: Round, policies: Names) -> Answer:
    about = {"players": rules.players, "ties": rules.ties, "shut_wins": rules.shut_wins}
    return heading(rules.game) | about | {"policies": list(policies)}


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
        policy: One for each seat, separated by commas: strategies, kept policies, saved policies (.npz) or runs'
            folders (default: optimal, the equilibrium).
        rules: the rules of the round.

    Returns:
        By seat the expected win and the mean throws; by lead the chance that nobody of 0, 1, 2 ... players beats it.
        For given players what a best response would gain each; for the equilibrium the number of positions where it
        departs from the play of a turn alone.
    """
    number = players if players is not None else len(policy) or 2
    of_round = rules.round(game, number)
    lineup = policy or ("optimal",) * number
    found = of_round.evaluate(lineup)
    leads = [str(lead) for lead in of_round.tables.scores.tolist()]
    answer = _heading(of_round, lineup) | {"seats": found.seats.tolist(), "throws": found.throws.tolist()}
    survival = dict(zip(leads, found.survival.T.tolist(), strict=True))
    if policy:
        seats = tracked(range(number), "best responses found", "seats", number)
        gains = [found.best_response(seat).gain for seat in seats]
        return answer | {"best_response_gains": gains, "exploitability": sum(gains), "survival": survival}
    changes = departures(of_round.solve())
    by_lead = dict(zip(leads, changes.by_lead.T.tolist(), strict=True))
    return answer | {"survival": survival, "departures": changes._asdict() | {"by_lead": by_lead}}


def par(
    game: Game,
    *,
    after: int = 10,
    policy: Names = (),
    rules: RoundRules = RoundRules(),  # noqa: B008
) -> Answer:
    """Find par: the score the first of many players needs.

    Par is the worst score that leaves them no worse off than before the turn.

    Args:
        game: the rules of a turn.
        after: The largest number of players who come after.
        policy: Strategies, separated by commas, whose share of the best expected win is shown.
        rules: the rules of the round.

    Returns:
        By the number of players after: the expected win before the turn, par, the worst score that is worth half a
        win, and the shares; by strategy the fewest players after from which on it plays perfectly.
    """
    check_integer("players after", after, 1, 100)
    names = policy or ("optimal-score", *entry_of(game).heuristics)
    of_round = rules.round(game, after + 1)
    played = {name: table_strategy(game, name) for name in names}
    solution = of_round.solve()
    strategies = tracked(played.items(), "strategies evaluated", "strategies", len(played))
    share_of = {name: shares(solution, strategy).tolist() for name, strategy in strategies}
    rows = [
        each._asdict() | {"shares": {name: share[each.after] for name, share in share_of.items()}}
        for each in pars(solution)[1:]
    ]
    perfect_from = {}
    for name in names:
        for row in reversed(rows):
            if row["shares"][name] < 1 - ROUNDING:
                break
            perfect_from[name] = row["after"]
    return _heading(of_round, names) | {"pars": rows, "perfect_from": perfect_from}


def match(
    game: Game,
    *,
    policy: Names,
    rounds: int = 20,
    begins: str = "fixed",
    rules: RoundRules = RoundRules(),  # noqa: B008
) -> Answer:
    """Find who wins most of several rounds.

    Args:
        game: the rules of a turn.
        policy: One for each player, separated by commas: strategies, kept policies, saved policies (.npz) or runs'
            folders.
        rounds: How many rounds the match has.
        begins: Who begins a round: fixed (always the first player), alternating, or the winner or loser of the one
            before.
        rules: the rules of a round.

    Returns:
        After 1, 2 ... rounds the chance that each player has won most, that nobody alone has, and the points.
    """
    of_round = rules.round(game, len(policy))
    ended = series(of_round, policy, rounds, begins)
    answer = _heading(of_round, policy) | {"rounds": rounds, "begins": begins}
    wins, tied = ended.wins.tolist(), ended.tied.tolist()
    answer |= {"wins": wins, "tied": tied, "points": ended.points.tolist()}
    if of_round.players == 2:
        for name, place in (("round", 0), ("match", -1)):
            win, loss = wins[place]
            answer[name] = {"win": win, "loss": loss, "tie": tied[place]}
    return answer


def tournament(
    game: Game, *, policy: Names, ends: str = "first-to", limit: int | None = None, ties: str = "split"
) -> Answer:
    """Find who wins a tournament of many rounds.

    Args:
        game: the rules of a turn.
        policy: One for each player, separated by commas: strategies, kept policies, saved policies (.npz) or runs'
            folders.
        ends: When it ends: first-to (a total reaches the limit) or out-at (players whose total reaches it are out).
        limit: Points (default: 100, or 45 for out-at).
        ties: Who wins a tie: split, all-win or nobody.
    """
    ended = tournament_of(game, [player_of(game, name) for name in policy], ends, limit, ties)
    return heading(game) | {
        "ends": ended.rule,
        "limit": ended.limit,
        "ties": ended.ties,
        "words": ENDS[ended.rule],
        "policies": list(policy),
        "wins": ended.wins.tolist(),
        "mean_rounds": ended.mean_rounds,
        "rounds": ended.rounds.tolist(),
    }
