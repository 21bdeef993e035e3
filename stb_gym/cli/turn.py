"""The commands about one turn, and the options that commands share."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from operator import itemgetter
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, NamedTuple

import numpy as np
from cyclopts import Parameter

from stb_gym.checks import check_choice, check_integer
from stb_gym.files import write_aside
from stb_gym.games import GAMES, Game, all_rules, entry_of, fits, locate, make_game, own_rules, rolls, title
from stb_gym.measure import (
    RegretMeter,
    bundled_policies,
    is_policy,
    load_policy,
    mistakes_in_json,
    pocket_card,
    read_policy,
)
from stb_gym.measure import compare as compare_scores
from stb_gym.measure import hardness as measure_hardness
from stb_gym.measure import simulate as simulate_turns
from stb_gym.rounds import Round, ScoresSoFar
from stb_gym.solver import (
    Evaluation,
    Objective,
    Playable,
    Policy,
    Solution,
    choice_at,
    move_tree,
    objective_of,
    ways_to_shut,
)
from stb_gym.solver import certify as certify_game
from stb_gym.solving import evaluate as evaluate_policy
from stb_gym.solving import perfect_play, strategies, strategy
from stb_gym.solving import solve as solve_turn
from stb_gym.tracking import tracked
from stb_gym.words import words_of

Answer = dict[str, Any]
MISTAKES = 10  # the costliest, which are printed
SAMPLED_TURNS = 10_000
PICTURES = ("png", "svg", "pdf")
CERTIFIED = (
    "afterstates", "states", "largest_error", "largest_relative_error", "optimal_actions_agree", "sha256",
)  # fmt: skip


# Options that commands share


def split(_: Any, tokens: Sequence[Any]) -> tuple[str, ...]:
    """Return the names that a flag gives, separated by commas or by the flag again."""
    return tuple(name for token in tokens for name in token.value.split(","))


Names = Annotated[tuple[str, ...], Parameter(converter=split)]


@Parameter(name="*")
@dataclass(frozen=True)
class RoundRules:
    """The rules of a round.

    Attributes:
        ties: Who wins a tie: split, all-win or nobody.
        shut_wins: The perfect score wins at once.
    """

    ties: str = "split"
    shut_wins: bool = False

    def round(self, game: Game, players: int) -> Round:
        """Return the round of some players."""
        return Round(game, players, ties=self.ties, shut_wins=self.shut_wins)


class Turn(NamedTuple):
    """A turn of a round; `seen` is the scores so far in words."""

    rules: Round
    scores_so_far: ScoresSoFar
    best: Solution
    seen: str


@Parameter(name="*")
@dataclass(frozen=True)
class Place(RoundRules):
    """A place in a round; without any of these options the turn is played alone.

    Attributes:
        lead: In a round: the best final score so far.
        holders: In a round: players with that score (default: 1).
        after: In a round: players after you.
        players: In a round: players in all (default: no others).
    """

    lead: int | None = None
    holders: int | None = None
    after: int | None = None
    players: int | None = None

    def turn(self, game: Game, objective: str) -> Turn | None:
        """Return the turn of the round, or None for a turn played alone.

        Raises:
            ValueError: if there are no such scores so far, or an option is for the other kind of turn.
        """
        if (self.lead, self.holders, self.after, self.players) == (None,) * 4:
            if self != Place():
                raise ValueError("ties and shut-wins are rules of a round: name your place in it, such as --after 1")
            return None
        if objective != "score":
            raise ValueError("an objective is for a turn played alone: a round is played to win")
        holders = self.holders if self.holders is not None else int(self.lead is not None)
        after = self.after
        if after is None:
            after = 0 if self.lead is not None or self.players is None else self.players - 1
        check_integer("holders", holders, int(self.lead is not None), 100)
        check_integer("after", after, 0, 100)
        scores_so_far = ScoresSoFar(self.lead, holders, after)
        rules = self.round(game, self.players if self.players is not None else holders + 1 + after)
        seen = f"{scores_so_far.in_words(game)}, ties {self.ties}"
        return Turn(rules, scores_so_far, rules.solve().at(scores_so_far), seen)


def player_of(game: Game, name: str, illegal: str = "raise") -> str | Policy:
    """Return the policy of a file, a run's folder or a kept policy; else the name, which is that of a strategy."""
    return load_policy(name, game, illegal) if is_policy(name) else name


def policy_of(game: Game, name: str) -> Playable:
    """Return the policy of a file, a run's folder, a kept policy or a strategy."""
    return load_policy(name, game) if is_policy(name) else strategy(game, name)


def imported(name: str, option: str) -> Any:
    """Import MODULE, or NAME from it if the name is MODULE:NAME; the module may lie in the working directory.

    Raises:
        ValueError: if the import fails, with its reason.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return resolve_name(name if ":" in name else f"{name}:")  # with a colon, it reports what a module raises
    except (Exception, SystemExit) as error:  # the module may do anything
        raise ValueError(f"{option} {name}: {type(error).__name__}: {error}") from error


# Commands


def heading(game: Game, objective: Objective | None = None, turn: Turn | None = None) -> dict[str, Any]:
    """Return what an answer is about: the game, the objective and its unit, the scores so far in a round."""
    about = {"game": game.name, "rules": all_rules(game), "title": title(game)}
    if objective is not None:
        about |= {"objective": objective.name, "unit": objective.unit}
    return about | ({} if turn is None else {"seen": turn.seen})


def list_all() -> Answer:
    """List strategies, variants and kept policies.

    Name a game to list their values, too.
    """
    return {
        "strategies": {name: dict(strategies(rules())) for name, rules in GAMES.items()},
        "variants": {
            name: {variant: known.rules for variant, known in entry_of(rules).variants.items()}
            for name, rules in GAMES.items()
            if entry_of(rules).variants
        },
        "policies": bundled_policies(),
    }


def list_game(game: Game, *, objective: str = "score", variants: bool = False) -> Answer:
    """List the strategies of a game or, with --variants, its variants, and what each is worth.

    Args:
        game: the rules.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        variants: List the variants with the value of perfect play; rules that you set hold in all of them.

    Raises:
        ValueError: if the game has no variants.
    """
    if variants:
        if objective != "score":
            raise ValueError("variants are listed with the values of both objectives: leave out --objective")
        if not entry_of(game).variants:
            raise ValueError(f"{game.name} has no variants")
        names = entry_of(game).variants
        rows = [_variant(game, name) for name in tracked(names, "variants solved", "variants", len(names))]
        return {"game": game.name, "changes": own_rules(game), "variants": rows}
    best = perfect_play(game, objective)
    rows = []
    known = strategies(game)
    for name, plays in tracked(known.items(), "strategies evaluated", "strategies", len(known)):
        found = best.evaluate(strategy(game, name))
        worth = {"value": found.value, "regret": found.regret, "shut_probability": found.shut_probability}
        rows.append({"name": name, **worth, "plays": plays})
    return heading(game, best.objective) | {"strategies": rows}


def _variant(changes: Game, name: str) -> Answer:
    """Return the rules of a variant with some changes and its perfect play, or why there is no such game."""
    variant = entry_of(changes).variants[name]
    row: Answer = {"name": name}
    try:
        game = make_game(type(changes), {**variant.fields, **own_rules(changes)})
        score, shut = perfect_play(game, "score"), perfect_play(game, "shut")
        afterstates = score.num_afterstates
        found = {
            "rules": all_rules(game),
            "afterstates": afterstates,
            "value": score.value,
            "shut_probability": shut.value,
        }
    except ValueError as error:
        found = {"refused": str(error)}
    return row | found | {"plays": variant.rules}


def solve(game: Game, *, objective: str = "score", worst: bool = False, exact: bool = False) -> Answer:
    """Solve a game: the value of perfect play.

    Args:
        game: the rules.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        worst: Solve for the worst play instead of the best.
        exact: Compute in fractions.

    Raises:
        ValueError: if the game has too many positions for fractions.

    Example:
        >>> import stb_gym
        >>> round(solve(stb_gym.ShutTheBox(), objective="shut")["value"], 6)
        0.071432
    """
    best = perfect_play(game, objective, worst=worst, exact=exact)
    answer = heading(game, objective_of(game, objective))
    answer |= {"play": "worst" if worst else "best", "value": float(best.value)}
    progress, dice = game.start()
    first_rolls = rolls(game, dice).shown
    if isinstance(best, Solution):
        if exact:
            answer["fraction"] = f"{best.value.numerator}/{best.value.denominator}"
        answer["shut_probability"] = best.evaluate(best.policy).shut_probability
        answer |= {"afterstates": best.num_afterstates, "decisions": len(best.tables.decisions)}
        values = [float(best.state_values[state]) for state in best.tables.states_of(best.tables.start)]
    else:
        answer["afterstates"] = best.num_afterstates
        sign = best.objective.sign
        values = [sign * choice_at(best, progress, dice, roll).utility + 0.0 for roll in first_rolls]
    return answer | {"by_first_roll": dict(zip(map(game.describe_roll, first_rolls), values, strict=True))}


def hardness(game: Game, *, objective: str = "score") -> Answer:
    """Measure what makes a game hard to learn.

    Args:
        game: the rules.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.

    Returns:
        The numbers of `stb_gym.measure.Hardness`; gaps are shares of random play's regret.
    """
    found = measure_hardness(game, objective)
    return heading(game, found.objective) | found.summary()


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
    return heading(game, objective_of(game, objective)) | {
        "value": float(found.value),
        "fraction": f"{found.value.numerator}/{found.value.denominator}",
        **{name: getattr(found, name) for name in CERTIFIED},
        **({} if out is None else {"out": out}),
    }


def evaluate_files(*, policy: Names = (), objective: str | None = None) -> Answer:
    """Evaluate policies and agents exactly.

    Each saved policy is evaluated by the rules and the objective of its file. Name a game for details.

    Args:
        policy: Files of saved policies, or names of kept ones, separated by commas (default: all kept ones).
        objective: Evaluate by this objective instead of that of the file.
    """
    rows = []
    names = policy or bundled_policies()
    for name in tracked(names, "policies evaluated", "policies", len(names)):
        saved = read_policy(name)
        found = solve_turn(saved.game, objective or saved.objective).evaluate(saved.policy, saved.illegal)
        mistakes = mistakes_in_json(found, 1)
        about = {"policy": name, **heading(saved.game, found.optimum.objective)}
        rows.append({**about, **found.summary(), "costliest_mistake": mistakes[0] if mistakes else None})
    return {"policies": rows}


def evaluate(
    game: Game,
    *,
    policy: str | None = None,
    agent: str | None = None,
    objective: str = "score",
    illegal: str | None = None,
    departures: bool = False,
    turns: int | None = None,
    seed: int | None = None,
    masked: Annotated[bool | None, Parameter(negative="--no-masked")] = None,
    place: Place = Place(),
) -> Answer:
    """Evaluate a strategy, a saved policy or an agent of your own exactly, alone or at a standing of a round.

    Args:
        game: the rules.
        policy: A strategy, a kept policy, a saved policy (.npz) or a run's folder.
        agent: An agent of yours, as MODULE:NAME: a function of observations and masks, a torch module, or a model of
            stable-baselines3.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        illegal: Illegal actions: raise refuses the policy, end ends the turn with the worst score (default: end for an
            agent, what its file says for a policy).
        departures: List every position where the policy plays a move that is not optimal.
        turns: Let the agent play this many turns; the loss of every choice is exact (default: 10,000 if the game has
            too many positions, else none).
        seed: Seed of these turns (default: 0).
        masked: Whether a torch module or a model chooses among legal actions only (default: a model does if its predict
            takes action_masks; a module that errs needs this).
        place: the place in a round.

    Raises:
        ValueError: if an option is not allowed.
    """
    if (policy is None) == (agent is None):
        raise ValueError("evaluate needs a --policy or an --agent")
    if agent is not None:
        if departures or place != Place():
            raise ValueError("departures and places in a round are for a --policy")
        return _measure_agent(RegretMeter(game, objective, illegal or "end"), agent, turns, seed or 0, masked)
    assert policy is not None
    if (turns, seed, masked) != (None, None, None):
        raise ValueError("turns, seed and masked are for an --agent; see stb-gym simulate for a policy")
    if departures and not fits(game):
        raise ValueError(f"departures can be listed only for games that fit into tables, not for {game}")
    illegal = illegal or (read_policy(policy).illegal if is_policy(policy) else "raise")
    turn = place.turn(game, objective)
    best = turn.best if turn else perfect_play(game, objective)
    plays: Any = player_of(game, policy, illegal)
    if isinstance(plays, str):
        plays = turn.rules.policy(plays, turn.scores_so_far) if turn else strategy(game, plays)
    found = best.evaluate(plays, illegal)
    answer = heading(game, found.optimum.objective, turn) | _numbers(policy, found)
    if departures:
        assert isinstance(found, Evaluation)  # the game has tables
        columns = found.departures()
        answer["departures"] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return answer


def _numbers(policy: str, found: Any) -> Answer:
    scores = {str(score): chance for score, chance in found.score_distribution.items()}
    mistakes = mistakes_in_json(found, MISTAKES)
    return {"policy": policy, **found.summary(), "score_distribution": scores, "mistakes": mistakes}


def _measure_agent(meter: RegretMeter, agent: str, turns: int | None, seed: int, masked: bool | None) -> Answer:
    """Return the exact or the sampled measurement of an agent."""
    plays = imported(agent, "--agent")
    about = heading(meter.game, meter.objective)
    try:
        if turns is None and meter.is_exact:
            return about | _numbers(agent, meter(plays, masked=masked))
        turns = SAMPLED_TURNS if turns is None else turns
        sampled = meter.sample(plays, turns, seed, masked=masked)
    except TypeError as error:
        raise ValueError(f"--agent {agent}: {error}") from error
    numbers = {**sampled.summary(), "interval": list(sampled.interval)}
    mistakes = mistakes_in_json(sampled, MISTAKES)
    return about | {"policy": agent, "seed": seed, **numbers, "mistakes": mistakes}


def simulate(
    game: Game, *, policy: str, objective: str = "score", turns: int = 100_000, seed: int | None = None
) -> Answer:
    """Compare sampled turns with the exact value.

    Args:
        game: the rules.
        policy: A strategy, a kept policy, a saved policy (.npz) or a run's folder.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        turns: How many turns.
        seed: Seed of the dice.
    """
    played = simulate_turns(game, policy_of(game, policy), turns, seed, objective)
    return heading(game, objective_of(game, objective)) | {
        "policy": policy,
        "turns": turns,
        "seed": seed,
        "mean": played.mean,
        "standard_error": played.standard_error,
        "exact": played.exact,
        "z": played.z if isfinite(played.z) else None,
    }


def compare(game: Game, *, policy: Names, exceptions: int | None = None, objective: str = "score") -> Answer:
    """Compare two policies, or make a pocket card of one.

    Two policies are compared by their final scores; with --exceptions, one is compared with perfect play.

    Args:
        game: the rules.
        policy: Two strategies, kept policies or saved policies (.npz), separated by commas; one for a pocket card.
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
    scores = sorted({*one, *other}, reverse=game.more_is_better)
    return heading(game) | {
        "policies": list(policy),
        "comparison": compare_scores(one, other)._asdict(),
        "scores": {str(score): [one.get(score, 0.0), other.get(score, 0.0)] for score in scores},
    }


def _pocket_card(game: Game, policies: tuple[str, ...], exceptions: int, objective: str) -> Answer:
    if len(policies) != 1:
        raise ValueError(f"a pocket card is of one policy, not {len(policies)}")
    [name] = policies
    best, policy = solve_turn(game, objective), np.asarray(policy_of(game, name))
    if policy.ndim > 1:
        raise ValueError(f"a pocket card is of a policy that chooses one move, not of {name}")
    card = pocket_card(best, policy, exceptions)
    rows = []
    for mistake, regret in zip(card.exceptions, card.regrets[1:], strict=True):
        assert mistake.plays is not None  # the policy was checked for illegal moves
        do, instead_of = (game.describe_move(action) for action in (mistake.best, mistake.plays))
        at = mistake.position
        rows.append({"at": at, "do": do, "instead_of": instead_of, "costs": mistake.cost, "regret_left": regret})
    plays = strategies(game).get(name)
    return heading(game, best.objective) | {
        "policy": name,
        **({} if plays is None else {"plays": plays}),
        "regret": card.regrets[0],
        "exceptions": rows,
        "regrets": card.regrets,
    }


def afterstates(game: Game, *, objective: str = "score", place: Place = Place()) -> Answer:
    """List every afterstate before a throw with its value.

    Args:
        game: the rules.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        place: the place in a round.

    Returns:
        By afterstate the value and the ways to the perfect score in exactly 0, 1, 2 ... throws. Every throw of single
        dice and every legal move counts as a way of its own.
    """
    turn = place.turn(game, objective)
    solution = turn.best if turn else solve_turn(game, objective)
    tables = solution.tables
    columns, ways = solution.afterstates(), ways_to_shut(tables, exact=True).tolist()
    rows = [
        {
            "afterstate": columns["afterstate"][afterstate],
            "value": columns["value"][afterstate],
            "ways": ways[afterstate],
        }
        for afterstate in tables.dice.nonzero()[0].tolist()
    ]
    return heading(game, solution.objective, turn) | {"afterstates": rows}


def advise(
    game: Game,
    where: dict[str, Any],
    *,
    objective: str = "score",
    depth: int | None = None,
    out: str | None = None,
    place: Place = Place(),
) -> Answer:
    """Rank the legal moves at a position, best first.

    Without a roll, list the best moves of every roll. With --depth or --out, show a tree.

    Args:
        game: the rules.
        where: the position, in the words of the game; by default the start.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T.
        depth: Show the tree of moves and rolls below the position, 1 to 3 throws deep; its own roll is the first.
        out: Draw that tree in this file (.png, .svg or .pdf; needs matplotlib).
        place: the place in a round.

    Raises:
        ValueError: if there is no such position, or an option is not allowed.

    Example:
        >>> import stb_gym
        >>> advise(stb_gym.ShutTheBox(), {"open": [1, 4, 5, 8], "roll": 9})["moves"][0]["tiles"]
        [4, 5]
    """
    if out is not None:
        check_choice("kind of picture", Path(out).suffix.removeprefix(".").lower(), PICTURES)
    words = words_of(game)
    progress, dice, roll = locate(game, where)
    turn = place.turn(game, objective)
    best = turn.best if turn else perfect_play(game, objective)
    answer = heading(game, best.objective, turn)
    if depth is not None or out is not None:
        if not isinstance(best, Solution):
            raise ValueError(f"a tree is only for games that fit into tables, not for {game}")
        tree = move_tree(best, 1 if depth is None else depth, **where)
        if out is not None:
            from stb_gym import plots  # needs matplotlib

            with write_aside(out) as aside:
                figure: Any = plots.move_tree(tree).figure
                figure.savefig(aside, format=Path(out).suffix[1:].lower(), bbox_inches="tight")
            answer["out"] = out
        return answer | {"tree": tree}
    sign = best.objective.sign
    if roll is not None:
        choice = choice_at(best, progress, dice, roll)
        moves = [
            {**words.move(move.action, move.dice > 0), "value": sign * after + 0.0, "regret": loss}
            for move, after, loss in zip(choice.moves, choice.after, choice.loss, strict=True)
        ]
        moves.sort(key=itemgetter("regret"))
        return answer | {
            "state": game.describe_state(progress, dice, roll),
            "value": sign * choice.utility + 0.0,
            "moves": moves,
        }
    shown, rows = rolls(game, dice), []
    for roll, count in zip(shown.shown, shown.counts.tolist(), strict=True):
        choice = choice_at(best, progress, dice, roll)
        rows.append(
            {
                "roll": game.describe_roll(roll),
                "chance": count / len(shown.of_throw),
                "moves": [words.move(move.action, move.dice > 0) for move in choice.best],
                "leaves": [game.describe_afterstate(move.progress, move.dice) for move in choice.best],
                "value": sign * choice.utility + 0.0,
            }
        )
    value = sum(row["chance"] * row["value"] for row in rows)
    return answer | {"board": game.describe_afterstate(progress, dice), "value": value, "rolls": rows}
