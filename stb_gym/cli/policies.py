"""The commands that measure policies and agents."""

from collections.abc import Mapping
from math import isfinite
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from stb_gym.cli.answers import CHANCE, PERCENT, POINTS, Answer, form_of, moves_in_words, rows_of
from stb_gym.cli.flags import Names, PlaceInRound, RoundTurn, imported, player_of, policy_of
from stb_gym.games import GAMES, Game, fits
from stb_gym.measure import (
    RegretMeter,
    SampledEvaluation,
    bundled_policies,
    is_policy,
    mistakes_in_json,
    pocket_card,
    read_policy,
)
from stb_gym.measure import compare as compare_scores
from stb_gym.measure import simulate as simulate_turns
from stb_gym.solver import Evaluation, Measured, objective_of
from stb_gym.solving import evaluate as evaluate_policy
from stb_gym.solving import perfect_play, strategies, strategy
from stb_gym.solving import solve as solve_turn
from stb_gym.tracking import tracked

MISTAKES = 10  # the costliest, which are printed
SAMPLED_TURNS = 10_000
ILLEGAL = "an illegal action"
LOSES = "Playing {game}, {policy} loses {regret}{unit} a turn against perfect play"
TABLES = {
    "mistakes": f"The costliest mistakes (the cost is visits times loss; an empty field is {ILLEGAL}):",
    "departures": "Every position where a move that is not optimal is played:",
}
INTERVAL = " (95% interval: {interval})"  # of a sampled regret
MORE_TABLES = {"score_distribution": "The chance of each final score:"}
COLUMNS = {
    "score_distribution": ["score", "chance"],
    "departures": ["afterstate", "roll", "plays", "best", "visits", "loss", "cost"],
}
FORMATS = {  # of the numbers of a measurement that are not in the unit of the objective
    "normalised_score": PERCENT,
    "agreement": PERCENT,
    "agreement_by_visits": PERCENT,
    "shut_probability": CHANCE,
    "mean_throws": ".4f",
    "illegal_mass": CHANCE,
    "unparsable_mass": CHANCE,
    "missing_mass": CHANCE,
    "score_distribution": PERCENT,
    "visits": ".5f",
    "loss": ".5f",
    "cost": ".5f",
    "seed": "d",
}


def measured(
    sentence: str,
    found: Measured,
    turn: RoundTurn | None = None,
    numbers: Mapping[str, Any] | None = None,
    tables: Mapping[str, str] = TABLES,
    illegal: str = ILLEGAL,
    **values: Any,
) -> Answer:
    """Return the `Answer` for an evaluation: numbers, by default its summary, final scores, and mistakes.

    The costliest mistake is added to the sentence, which calls an illegal action `illegal`.
    """
    game = found.optimum.game
    objective = found.optimum.objective
    move_in_words = moves_in_words(game)
    values |= found.summary() if numbers is None else numbers
    if not isinstance(found, SampledEvaluation):
        values["score_distribution"] = {str(score): chance for score, chance in found.score_distribution.items()}
    mistakes = mistakes_in_json(found, MISTAKES)
    words = {}
    if mistakes:
        worst = mistakes[0]
        words = {
            "plays": illegal if worst["plays"] is None else move_in_words(worst["plays"]),
            "best": move_in_words(worst["best"]),
            "state": worst["state"],
            "cost": format(worst["cost"], form_of(objective.unit)),
        }
        sentence += "; the costliest mistake is {plays} instead of {best} at {state}, which costs {cost}{unit}"
    return Answer(
        f"{sentence}.",
        game,
        objective,
        turn,
        words=words,
        tables=tables,
        more_tables=MORE_TABLES,
        columns=COLUMNS,
        formats={**FORMATS, "plays": move_in_words, "best": move_in_words, "interval": form_of(objective.unit)},
        **values,
        mistakes=mistakes,
    )


def evaluate_files(*, policy: Names = (), objective: str | None = None) -> Answer:
    """Evaluate strategies and saved policies exactly.

    Each saved policy is evaluated by the rules and the objective of its file. Name a game for details, and to evaluate
    a strategy.

    Args:
        policy: Files of saved policies, or names of bundled ones, separated by commas (default: all bundled ones).
        objective: Evaluate by this objective instead of that of the file.
    """
    rows = []
    names = policy or bundled_policies()
    for name in names:
        games = [game for game, rules in GAMES.items() if name in strategies(rules())]
        if games and not Path(name).exists():
            raise ValueError(f"the strategy {name} needs a game: stb-gym evaluate {games[0]} --policy {name}")
    for name in tracked(names, "policies evaluated", "policies", len(names)):
        saved = read_policy(name)
        found = solve_turn(saved.game, objective or saved.objective).evaluate(saved.policy, saved.illegal)
        numbers: dict[str, Any] = found.summary()
        about = Answer("", saved.game, found.optimum.objective, policy=name, **numbers)
        rows.append(about.json)
    closest = max(rows, key=itemgetter("normalised_score"))
    return Answer(
        "{closest} makes up {share} of what random play loses against perfect play, the most of {number}.",
        words={
            "closest": closest["policy"],
            "share": format(closest["normalised_score"], PERCENT),
            "number": "1 policy" if len(rows) == 1 else f"{len(rows)} policies",
        },
        policies=rows,
        tables={"policies": "The regret is what a policy loses a turn against perfect play:"},
        columns={"policies": ["policy", "value", "regret", "agreement_by_visits"]},
        formats=FORMATS,
    )


def evaluate(
    game: Game,
    *,
    policy: str,
    objective: str = "score",
    departures: bool = False,
    place: PlaceInRound = PlaceInRound(),  # noqa: B008
) -> Answer:
    """Evaluate a strategy or a saved policy exactly, alone or at a place in a round.

    For an agent of your own see stb-gym measure.

    Args:
        game: the rules.
        policy: A strategy, a bundled policy, a saved policy (.npz) or a run's folder.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        departures: List every position where the policy plays a move that is not optimal.
        place: the place in a round.

    Raises:
        ValueError: if an option is not allowed.
    """
    if departures and not fits(game):
        raise ValueError(f"departures can be listed only for games that fit into tables, not for {game}")
    illegal = read_policy(policy).illegal if is_policy(policy) else "raise"
    turn = place.turn(game, objective)
    best = turn.best if turn else perfect_play(game, objective)
    plays: Any = player_of(game, policy, illegal)
    if isinstance(plays, str):
        plays = turn.rules.policy(plays, turn.scores_so_far) if turn else strategy(game, plays)
    found = best.evaluate(plays, illegal)
    answer = measured(LOSES, found, turn, policy=policy)
    if departures:
        assert isinstance(found, Evaluation)  # the game has tables
        answer.json["departures"] = rows_of(found.departures())
    return answer


def measure(
    game: Game,
    *,
    agent: str,
    objective: str = "score",
    illegal: str = "end",
    turns: int | None = None,
    seed: int = 0,
    masked: Annotated[bool | None, Parameter(negative="--no-masked")] = None,
) -> Answer:
    """Measure an agent of your own, exactly or by turns that it plays.

    Args:
        game: the rules.
        agent: The agent, as MODULE:NAME: a function of observations and masks, a torch module, or a model of
            stable-baselines3.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        illegal: Illegal actions: end ends the turn with the worst score, raise refuses the agent.
        turns: Let the agent play this many turns; the loss of every choice is exact (default: 10,000 if the game has
            too many positions to ask the agent about each, else none).
        seed: Seed of these turns (default: 0).
        masked: Whether a torch module or a model chooses among legal actions only (default: a model does if its predict
            takes action_masks; a module that errs needs this).

    Raises:
        ValueError: if the agent cannot be imported or asked, or an option is not allowed.
    """
    meter = RegretMeter(game, objective, illegal)
    plays = imported(agent, "--agent")
    try:
        if turns is None and meter.is_exact:
            return measured(LOSES, meter(plays, masked=masked), policy=agent)
        found = meter.sample(plays, SAMPLED_TURNS if turns is None else turns, seed, masked=masked)
    except TypeError as error:
        raise ValueError(f"--agent {agent}: {error}") from error
    return measured(LOSES + INTERVAL, found, policy=agent, seed=seed, interval=list(found.interval))


def simulate(
    game: Game, *, policy: str, objective: str = "score", turns: int = 100_000, seed: int | None = None
) -> Answer:
    """Compare sampled turns with the exact value.

    Args:
        game: the rules.
        policy: A strategy, a bundled policy, a saved policy (.npz) or a run's folder.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        turns: How many turns.
        seed: Seed of the dice.
    """
    played = simulate_turns(game, policy_of(game, policy), turns, seed, objective)
    return Answer(
        "In {turns} sampled turns of {game}, the mean value of {policy} is {mean}{unit}; exactly it is {exact}{unit}.",
        game,
        objective_of(game, objective),
        tables={"facts": ""},
        formats={"seed": "d", "z": ".2g"},
        policy=policy,
        turns=turns,
        seed=seed,
        mean=played.mean,
        standard_error=played.standard_error,
        exact=played.exact,
        z=played.z if isfinite(played.z) else None,
    )


def compare(game: Game, *, policy: Names, exceptions: int | None = None, objective: str = "score") -> Answer:
    """Compare two policies, or make a pocket card of one.

    Two policies are compared by their final scores; with --exceptions, one is compared with perfect play.

    Args:
        game: the rules.
        policy: Two strategies, bundled policies or saved policies (.npz), separated by commas; one for a pocket card.
        exceptions: Make a pocket card: this many exceptions to the policy, each the costliest mistake that is left.
        objective: What a turn of the pocket card is played for: score, shut (the perfect score), at-most:T or
            at-least:T.

    Raises:
        ValueError: if the number of policies is wrong, or a card is asked for of a policy that chooses at random.
    """
    if exceptions is not None:
        return _pocket_card(game, policy, exceptions, objective)
    if len(policy) != 2:
        raise ValueError(f"compare needs two policies, not {len(policy)}; or one with --exceptions")
    if objective != "score":
        raise ValueError("an objective is for --exceptions: two policies are compared by their final scores")
    one, other = (evaluate_policy(game, policy_of(game, name)).score_distribution for name in policy)
    found = compare_scores(one, other)
    scores = sorted({*one, *other}, reverse=game.more_is_better)
    margin = game.sign * (found.means[0] - found.means[1])
    return Answer(
        "In {game}, {ahead} is better by {margin} points on average; the chance of at most {at} differs most, by "
        "{distance}.",
        game,
        words={"ahead": policy[margin < 0], "margin": format(abs(margin), POINTS)},
        policies=rows_of({"policy": policy, "mean": found.means, "share": found.shares}),
        at=found.at,
        distance=found.distance,
        scores={str(score): [one.get(score, 0.0), other.get(score, 0.0)] for score in scores},
        tables={"policies": "The mean, and the share of these scores:"},
        more_tables={"scores": "The chance of each final score:"},
        columns={"scores": ["score", *policy]},
        formats=dict.fromkeys(["distance", "share", "scores"], PERCENT),
    )


def _pocket_card(game: Game, policies: tuple[str, ...], exceptions: int, objective: str) -> Answer:
    if len(policies) != 1:
        raise ValueError(f"a pocket card needs one policy, not {len(policies)}")
    [name] = policies
    best = solve_turn(game, objective)
    policy = np.asarray(policy_of(game, name))
    if policy.ndim > 1:
        raise ValueError(f"a pocket card needs a policy that chooses one move, not {name}")
    card = pocket_card(best, policy, exceptions)
    rows = []
    for mistake, regret in zip(card.exceptions, card.regrets[1:], strict=True):
        assert mistake.plays is not None  # the policy was checked for illegal moves
        do, instead_of = (game.describe_move(action) for action in (mistake.best, mistake.plays))
        row = {"at": mistake.position, "do": do, "instead_of": instead_of, "costs": mistake.cost, "regret_left": regret}
        rows.append(row)
    return Answer(
        f"{LOSES}, and {{left}}{{unit}} with {len(rows)} exceptions.",
        game,
        best.objective,
        words={"left": format(card.regrets[-1], form_of(best.objective.unit))},
        policy=name,
        plays=strategies(game).get(name),
        regret=card.regrets[0],
        exceptions=rows,
        regrets=card.regrets,
        tables={"exceptions": "The exceptions, each the costliest mistake that is left:"},
        formats={"costs": ".5f"},
    )
