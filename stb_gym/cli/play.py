"""The commands to play, to watch others play, and to write a page about a game."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from stb_gym.checks import check_choice, check_integer
from stb_gym.cli.answers import Answer
from stb_gym.cli.flags import Names, RoundRules, player_of
from stb_gym.console import at_terminal, say
from stb_gym.envs import LARGEST_SEED
from stb_gym.explorer import explorer_page
from stb_gym.files import write_text
from stb_gym.games import Game
from stb_gym.measure import is_policy, read_policy
from stb_gym.messages import quoted
from stb_gym.solving import perfect_play
from stb_gym.terminal import (
    Throw,
    chooser,
    coach_alone,
    frames,
    play_alone,
    play_round,
    play_together,
    round_in_words,
    show,
    write_film,
)
from stb_gym.terminal import play as play_turn
from stb_gym.tracking import tracked
from stb_gym.words import words_of

LONGEST_FILM = 20  # turns of each player
FILMS = ("gif", "png", "webp")
LONGEST_PAUSE = 3600.0  # seconds


def given_rolls(_: Any, tokens: Sequence[Any]) -> tuple[Throw, ...]:
    """Parse given dice such as "8,10,3+4" into (8, 10, [3, 4])."""
    try:
        rolls = [[int(die) for die in roll.split("+")] for token in tokens for roll in token.value.split(",")]
    except ValueError:
        raise ValueError("throws are separated by commas, such as 8,10 or 3+4,6: sums, or dice joined by +") from None
    return tuple(roll if len(roll) > 1 else roll[0] for roll in rolls)


def play(
    game: Game,
    *,
    objective: str = "score",
    coach: bool = False,
    against: Names = (),
    seat: int = 1,
    seed: int | None = None,
    rules: RoundRules = RoundRules(),  # noqa: B008
) -> None:
    """Play in the terminal, alone or against strategies.

    Args:
        game: the rules.
        objective: What a turn alone is played for: score, shut (the perfect score) or at-most:T.
        coach: Print the loss of every choice.
        against: Play a round against these, separated by commas: strategies, bundled policies or saved policies (.npz).
        seat: Your seat in the round, from 1.
        seed: Seed of the dice.
        rules: the rules of the round.

    Raises:
        ValueError: if an option of rounds is given for a turn alone, or the other way round, or the seed is negative.
    """
    if seed is not None:
        check_integer("seed", seed, 0, LARGEST_SEED)
    if against:
        if objective != "score":
            raise ValueError("an objective is for a turn played alone: a round is played to win")
        opponents = [(name, player_of(game, name)) for name in against]
        play_round(rules.round(game, 1 + len(opponents)), opponents, seat, coach, seed)
        return
    if rules != RoundRules():
        raise ValueError("ties and shut-wins are rules of a round: name opponents by --against")
    if seat != 1:
        raise ValueError("a seat is for a round: name opponents by --against")
    play_alone(perfect_play(game, objective), coach, seed)


def watch(
    game: Game | None = None,
    *,
    policy: Names = (),
    together: bool = False,
    objective: str | None = None,
    rolls: Annotated[tuple[Throw, ...], Parameter(converter=given_rolls, metavar="N,...")] = (),
    turns: int = 1,
    seed: int | None = None,
    out: str | None = None,
    pause: float = 1.0,
    rules: RoundRules = RoundRules(),  # noqa: B008
) -> None:
    """Watch strategies and policies play, with what each move loses.

    Args:
        game: the rules; None for those of the first saved policy.
        policy: Who plays, separated by commas: strategies, bundled policies, saved policies (.npz) or runs' folders
            (default: optimal). Several play in turn, with the same dice.
        together: They play a round against each other in this order, and each throws other dice.
        objective: What a turn is played for: score, shut (the perfect score) or at-most:T (default: score,
            or that of the policy if no game is named).
        rolls: Play these throws, separated by commas: their sums, or single dice joined by +, such as 8,10,3+4.
        turns: How many turns each plays, or how many rounds.
        seed: Seed of the dice.
        out: Write a film instead (.gif, .png or .webp).
        pause: Seconds between two moves on a terminal.
        rules: the rules of the round.

    Raises:
        ValueError: if an option is not allowed.
    """
    check_integer("turns", turns, 1, 10_000 if out is None else LONGEST_FILM)
    if not 0 <= pause <= LONGEST_PAUSE:
        raise ValueError(f"pause must be from 0 to {LONGEST_PAUSE:g} seconds, not {pause:g}")
    if out is not None:
        check_choice("kind of film", Path(out).suffix.removeprefix(".").lower(), FILMS)
    if seed is not None:
        check_integer("seed", seed, 0, LARGEST_SEED)
    if rolls and (together or turns > 1):
        raise ValueError("rolls are for one turn that each player plays alone: leave out --together and --turns")
    if together and objective is not None:
        raise ValueError("an objective is for a turn played alone: a round is played to win")
    if not together and rules != RoundRules():
        raise ValueError("ties and shut-wins are rules of a round: add --together")
    if game is None:
        saved = next(map(read_policy, filter(is_policy, policy)), None)
        if saved is None:
            raise ValueError("watch needs a game, or a saved or bundled policy, which names its game")
        game, objective = saved.game, objective or saved.objective.name
    seeds = np.random.SeedSequence(seed).generate_state(turns).tolist()
    players = [(Path(name).stem, player_of(game, name)) for name in policy or ("optimal",)]
    if together:
        of_round = rules.round(game, len(players))
        played = play_together(of_round, players, seeds)
        if out is None:
            say(f"{words_of(game).introduction()}: {round_in_words(of_round)}.", wrapped=True)
            say("The loss of a move is what the best move against these players would win more.\n", wrapped=True)
    else:
        coach = coach_alone(perfect_play(game, objective or "score"))
        played = (
            play_turn(
                name,
                coach,
                chooser(coach, plays, np.random.default_rng([each, 1])),
                rolls or np.random.default_rng([each, 0]),
            )
            for each in seeds
            for name, plays in players
        )
    if out is not None:
        shown = tracked(played, "turns drawn", "turns", turns * (1 if together else len(players)))
        film = [frame for turn in shown for frame in frames(turn)]
        write_film(out, film)
        say(f"wrote {out}: {len(film)} pictures, {sum(frame.seconds for frame in film):.0f} seconds")
        return
    for turn in played:
        show(turn, pause if at_terminal() else 0)
        say()


def explore(game: Game, *, out: str, policy: Names = (), run: Names = ()) -> Answer:
    """Write a web page to explore a game offline.

    It shows every position and the moves of all players, plays games with a coach, and shows trainings.

    Args:
        game: the rules.
        out: The file of the page (.html).
        policy: Whose moves are shown besides heuristics and bundled policies, separated by commas.
        run: Folders of trainings that are shown too, separated by commas.
    """
    if Path(out).suffix not in (".html", ".htm"):
        raise ValueError(f"browsers open pages whose names end in .html, not {quoted(out)}")
    write_text(out, explorer_page(game, policy, run))
    return Answer("Open the page about {game} in a browser: {out}.", game, out=out)
