"""What every moment of a round is worth to one seat, and the account of that seat's game."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import words_of
from stb_gym.rounds import Reply, Round, Standings
from stb_gym.solver import Policy
from stb_gym.terminal.coach import Account, Coach, Event, Unit, chance_unit
from stb_gym.terminal.turns import Step


@dataclass(frozen=True, eq=False)
class Chances:
    """A player's expected win in a round against given opponents.

    Attributes:
        seat: where the player sits, from 0.
        reply: the player's best play.
        before: players + 1 times [Z]: what each standing is worth to the player before each seat's turn and at the end;
            after the player's own turn: if the player then holds the lead.
    """

    seat: int
    reply: Reply
    before: list[NDArray[np.float64]]

    @property
    def standings(self) -> Standings:
        """All standings of the round."""
        return self.reply.standings

    @property
    def unit(self) -> Unit:
        """How the chances are shown."""
        return chance_unit("expected share of the win" if self.standings.ties == "split" else "chance to win")

    def coach(self, standing: int) -> Coach:
        """The coach of the player's turn at the standing of an index."""
        after = self.standings.players - 1 - self.seat
        return Coach(self.reply.at(self.standings.standing(standing, after)), self.unit)

    def account(self, names: Sequence[str], scores: Sequence[int], steps: Sequence[Step]) -> Account:
        """The account of a round.

        Args:
            names: of all players, in turn order.
            scores: the final scores of those who played to the end.
            steps: the player's own turn, or as much of it as was played.
        """
        standings, standing, wins = self.standings, len(self.standings.lead) - 1, True
        start = float(self.before[0][standing])
        events, words = [], words_of(self.reply.tables.game)
        for seat, score in enumerate(scores):
            worth, place = wins * self.before[seat][standing], standings.place(score)
            if seat == self.seat:
                events += self.coach(standing).account(steps).events
                wins = bool(standings.holds[standing, place])
            elif seat > self.seat:
                wins = wins and bool(standings.keeps[standing, place])
            standing = standings.after[standing, place]
            if seat != self.seat:
                change = float(wins * self.before[seat + 1][standing] - worth)
                events.append(Event(f"{names[seat]}: {words.score(score)}", {"others": change}))
        if steps and len(scores) == self.seat:
            events += self.coach(standing).account(steps).events
        return Account(self.unit, start, events)


def chances(rules: Round, lineup: Sequence[str | Policy], seat: int) -> Chances:
    """The chances of one seat of a line-up, whose own strategy there does not matter.

    Raises:
        ValueError: if a strategy is unknown or does not fit the game.
    """
    evaluation = rules.evaluate(lineup)
    standings, after = evaluation.standings, evaluation.worth_after[seat:]
    reply = Reply(rules.tables, standings, after[0])
    before = [np.zeros(len(standings.lead))]
    for block in standings.blocks(seat):
        before[0][block] = reply.values(block)
    for other in reversed(evaluation.played[:seat]):
        before.insert(0, (other.chances * before[0][standings.after]).sum(axis=1))
    return Chances(seat, reply, before + after)
