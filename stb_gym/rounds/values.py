"""The values of the best response to the opponents of a seat, by which the losses of play in a round are recorded."""

from stb_gym.measure.recording import TableValues
from stb_gym.rounds.opponents import Opponents
from stb_gym.solver import optimise

LARGEST_VALUES = 2**27  # numbers: 1 GiB of best-response values


def best_response_values(opponents: Opponents) -> TableValues:
    """Return the values of the best response to opponents, with a row for each start of the player's turn.

    Raises:
        ValueError: if the round has too many starts.
    """
    tables, starts = opponents.rules.tables, len(opponents.chance)
    if starts * tables.num_states > LARGEST_VALUES:
        raise ValueError(f"{opponents.rules} has too many scores so far to record losses: {starts:,}")
    afterstates, states = optimise(tables, opponents.utility.T[tables.score_index])
    return TableValues(states.T, afterstates.T, 0.0)
