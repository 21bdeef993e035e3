"""The commands about the rules and perfect play of a turn."""

from operator import itemgetter
from typing import Any

from stb_gym.cli.answers import CHANCE, PERCENT, Answer, form_of, moves_in_words, rows_of
from stb_gym.cli.flags import PlaceInRound
from stb_gym.games import GAMES, Game, all_rules, entry_of, locate, make_game, own_rules, rolls
from stb_gym.measure import bundled_policies
from stb_gym.measure import hardness as measure_hardness
from stb_gym.solver import Solution, choice_at, objective_of, ways_to_shut
from stb_gym.solver import certify as certify_game
from stb_gym.solving import perfect_play, strategies, strategy
from stb_gym.solving import solve as solve_turn
from stb_gym.tracking import tracked
from stb_gym.words import words_of

CERTIFIED = (
    "afterstates", "states", "largest_error", "largest_relative_error", "optimal_actions_agree", "sha256",
)  # fmt: skip


def list_all() -> Answer:
    """List strategies, variants and bundled policies.

    Name a game and add --full for their values.
    """
    known = [
        {"game": game, "name": name, "plays": plays}
        for game, rules in GAMES.items()
        for name, plays in strategies(rules()).items()
    ]
    variants = [
        {"game": game, "name": name, "description": variant.rules}
        for game, rules in GAMES.items()
        for name, variant in entry_of(rules).variants.items()
    ]
    policies = bundled_policies()
    return Answer(
        f"{len(GAMES)} games have {len(known)} strategies and {len(variants)} variants; "
        f"{len(policies)} policies of agents come with the library.",
        strategies=known,
        variants=variants,
        policies=policies,
        tables={"strategies": "Strategies:", "variants": "Variants:", "policies": "Bundled policies:"},
    )


def list_game(game: Game, *, objective: str | None = None, variants: bool = False, full: bool = False) -> Answer:
    """List the strategies of a game, or with --variants its variants.

    Args:
        game: the rules.
        objective: Also list the values for this objective: score, shut (the perfect score) or at-most:T.
        variants: List the variants; rules that you set hold in all of them.
        full: Also list the values of the strategies, or of perfect play of the variants.

    Raises:
        ValueError: if the game has no variants.
    """
    if variants:
        if objective is not None:
            raise ValueError("variants are listed with the values of both objectives: leave out --objective")
        return _list_variants(game, full)
    known = strategies(game)
    if not full and objective is None:
        return Answer(
            f"{{game}} has {len(known)} strategies; --full shows what they lose against perfect play.",
            game,
            tables={"strategies": ""},
            strategies=rows_of({"name": known.keys(), "plays": known.values()}),
        )
    best = perfect_play(game, objective or "score")
    rows: list[dict[str, Any]] = []
    for name, plays in tracked(known.items(), "strategies evaluated", "strategies", len(known)):
        found = best.evaluate(strategy(game, name))
        numbers = {"value": found.value, "regret": found.regret, "shut_probability": found.shut_probability}
        rows.append({"name": name, **numbers, "plays": plays})
    lose = [row for row in rows if row["regret"] > 0]
    sentence = f"Of the {len(rows)} strategies of {{game}}, {len(rows) - len(lose) or 'none'} play perfectly"
    if lose:
        least = min(lose, key=itemgetter("regret"))
        loss = format(least["regret"], form_of(best.objective.unit))
        sentence += f"; otherwise {least['name']} loses least, {loss}{{unit}} a turn"
    return Answer(
        f"{sentence}.",
        game,
        best.objective,
        tables={"strategies": ""},
        columns={"strategies": ["name", "value", "regret", "shut_probability"]},
        formats={"shut_probability": CHANCE},
        strategies=rows,
    )


def _list_variants(changes: Game, full: bool) -> Answer:
    """Return the variants with `changes`, or the error where they do not fit; with `full` values of perfect play."""
    names = entry_of(changes).variants
    if not names:
        raise ValueError(f"{changes.name} has no variants")
    rows: list[dict[str, Any]] = []
    numbers: dict[Game, dict[str, Any]] = {}  # with `changes`, several variants may have the same rules
    for name in tracked(names, "variants solved", "variants", len(names)):
        row: dict[str, Any] = {"name": name}
        try:
            game = make_game(type(changes), {**names[name].fields, **own_rules(changes)})
            if full and game not in numbers:
                best = perfect_play(game, "score")
                numbers[game] = {"afterstates": best.num_afterstates, "value": best.value}
                if isinstance(best, Solution):  # a box too large for tables takes seconds for each objective
                    numbers[game]["shut_probability"] = perfect_play(game, "shut").value
            row |= {"rules": all_rules(game), **numbers.get(game, {})}
        except ValueError as error:
            row["refused"] = str(error)
        rows.append(row | {"description": names[name].rules})
    shown = ["afterstates", "value", "shut_probability"] if full else ["description"]
    shown += ["refused"] * any("refused" in row for row in rows)
    return Answer(
        f"{{game}} has {len(names)} variants; {'these are' if full else '--full shows'} their values.",
        changes,
        changes=own_rules(changes),
        variants=rows,
        tables={"variants": ""},
        columns={"variants": ["name", *shown]},
        formats={"shut_probability": CHANCE},
    )


def solve(game: Game, *, objective: str = "score", worst: bool = False, exact: bool = False) -> Answer:
    """Solve a game: the value of perfect play.

    Args:
        game: the rules.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        worst: Solve for the worst play instead of the best.
        exact: Compute in fractions.

    Raises:
        ValueError: if the game has too many positions for fractions.
    """
    best = perfect_play(game, objective, worst=worst, exact=exact)
    sentence = "The value of the {play} play of {game} is {value}{unit} a turn"
    numbers: dict[str, Any] = {"value": float(best.value)}
    if exact:
        sentence += ", exactly {fraction}"
        numbers["fraction"] = f"{best.value.numerator}/{best.value.denominator}"
    if isinstance(best, Solution):
        if objective == "score":
            sentence += f"; the {words_of(game).perfection} is {{shut_probability}}"
        numbers["shut_probability"] = best.evaluate(best.policy).shut_probability
    numbers["afterstates"] = best.num_afterstates
    if isinstance(best, Solution):
        numbers["decisions"] = len(best.tables.decisions)
    progress, dice = game.start()
    first_rolls = rolls(game, dice).shown
    sign = best.objective.sign
    values = [float(sign * choice_at(best, progress, dice, roll).utility) + 0.0 for roll in first_rolls]
    return Answer(
        f"{sentence}.",
        game,
        objective_of(game, objective),
        tables={"by_first_roll": "The value by the first roll:"},
        columns={"by_first_roll": ["roll", "value"]},
        formats={"shut_probability": CHANCE},
        play="worst" if worst else "best",
        **numbers,
        by_first_roll=dict(zip(map(game.describe_roll, first_rolls), values, strict=True)),
    )


def hardness(game: Game, *, objective: str = "score") -> Answer:
    """Measure what makes a game hard to learn.

    Args:
        game: the rules.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.

    Returns:
        The numbers of `stb_gym.measure.Hardness`; gaps are shares of random play's regret.
    """
    found = measure_hardness(game, objective)
    formats = dict.fromkeys(["effective_horizon", "mean_gap", "least_gap", "reciprocal_gaps"], ".4g")
    return Answer(
        "Random play of {game} loses {random_regret}{unit} a turn; one greedy step on its values leaves {left} of it.",
        game,
        found.objective,
        words={"left": format(found.shares[0], PERCENT)},
        tables={"facts": "Shares and gaps are shares of what random play loses:"},
        formats=formats | dict.fromkeys(["shares", "coverage", "dice_share"], PERCENT),
        **found.summary(),
    )


def certify(game: Game, *, objective: str = "score", out: str | None = None) -> Answer:
    """Check a solution in fractions, and hash all values.

    The values in floats are compared with those in fractions.

    Args:
        game: the rules.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        out: Save the values of all afterstates in fractions in this file.
    """
    found = certify_game(game, objective)
    if out is not None:
        found.save(out)
    return Answer(
        "The value of the best play of {game} is exactly {fraction}, or {value}{unit} a turn; values in floats err by "
        "at most {largest_error}.",
        game,
        objective_of(game, objective),
        tables={"facts": ""},
        formats={"largest_error": ".2g", "largest_relative_error": ".2g"},
        value=float(found.value),
        fraction=f"{found.value.numerator}/{found.value.denominator}",
        **{name: getattr(found, name) for name in CERTIFIED},
        out=out,
    )


def afterstates(
    game: Game,
    *,
    objective: str = "score",
    place: PlaceInRound = PlaceInRound(),  # noqa: B008
    full: bool = False,
) -> Answer:
    """List every afterstate before a throw with its value.

    Args:
        game: the rules.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        place: the place in a round.
        full: Also print the ways to the perfect score in 0, 1, 2 ... throws.

    Returns:
        By afterstate the value and the ways to the perfect score in exactly 0, 1, 2 ... throws. Every throw of single
        dice and every legal move counts as a way of its own.
    """
    turn = place.turn(game, objective)
    solution = turn.best if turn else solve_turn(game, objective)
    columns = solution.afterstates()
    columns["ways"] = ways_to_shut(solution.tables, exact=True).tolist()
    before_throws = solution.tables.dice.nonzero()[0].tolist()
    shown = {name: [columns[name][index] for index in before_throws] for name in ("afterstate", "value", "ways")}
    return Answer(
        f"These are the values of the {len(before_throws):,} afterstates of {{game}} before a throw.",
        game,
        solution.objective,
        turn,
        tables={"afterstates": ""},
        columns={"afterstates": ["afterstate", "value", *["ways"] * full]},
        afterstates=rows_of(shown),
    )


def advise(
    game: Game,
    where: dict[str, Any],
    *,
    objective: str = "score",
    place: PlaceInRound = PlaceInRound(),  # noqa: B008
) -> Answer:
    """Rank the legal moves at a position, best first.

    Without a roll, list the best moves of every roll.

    Args:
        game: the rules.
        where: the position, in the words of the game; by default the start.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        place: the place in a round.

    Raises:
        ValueError: if there is no such position, or an option is not allowed.

    Example:
        >>> import stb_gym
        >>> from stb_gym.cli.turn import advise
        >>> advise(stb_gym.ShutTheBox(), {"open": [1, 4, 5, 8], "roll": 9}).json["moves"][0]["tiles"]
        [4, 5]
    """
    words = words_of(game)
    progress, dice, roll = locate(game, where)
    turn = place.turn(game, objective)
    best = turn.best if turn else perfect_play(game, objective)
    sign = best.objective.sign
    if roll is not None:
        choice = choice_at(best, progress, dice, roll)
        moves = [
            {**words.move(move.action, move.dice > 0), "value": sign * after + 0.0, "regret": loss}
            for move, after, loss in zip(choice.moves, choice.after, choice.loss, strict=True)
        ]
        moves.sort(key=itemgetter("regret"))
        state = game.describe_state(progress, dice, roll)
        value = sign * choice.utility + 0.0
        advice = " or ".join(game.describe_move(move.action, move.dice > 0) for move in choice.best)
        return Answer(
            "In {game}, the best move at {state} is {advice}, with a value of {value}{unit}."
            if moves
            else "In {game}, no move is allowed at {state}; the value is {value}{unit}.",
            game,
            best.objective,
            turn,
            words={"advice": advice},
            tables={"moves": ""},
            state=state,
            value=value,
            moves=moves,
        )
    known = rolls(game, dice)
    rows = []
    for roll, count in zip(known.shown, known.counts.tolist(), strict=True):
        choice = choice_at(best, progress, dice, roll)
        rows.append(
            {
                "roll": game.describe_roll(roll),
                "chance": count / len(known.of_throw),
                "moves": [words.move(move.action, move.dice > 0) for move in choice.best],
                "leaves": [game.describe_afterstate(move.progress, move.dice) for move in choice.best],
                "value": sign * choice.utility + 0.0,
            }
        )
    value = sum(row["chance"] * row["value"] for row in rows)
    sentence = "In {game}, the value at {afterstate} is {value}{unit}; these are the best moves for every roll."
    formats: dict[str, Any] = {"chance": PERCENT, "moves": moves_in_words(game)}
    about = {"afterstate": game.describe_afterstate(progress, dice), "value": value}
    return Answer(sentence, game, best.objective, turn, tables={"rolls": ""}, formats=formats, **about, rolls=rows)
