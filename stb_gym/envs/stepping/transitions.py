"""A game and an objective as dense tables, one row per node: what the environments of small games step through."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs.stepping.stepper import Known, LegalMoves, Stepper
from stb_gym.games import Game, IntArray, kept, rolls
from stb_gym.solver import Objective, TurnTables, compile_game, fits, is_named, node_of

LARGEST_DENSE_TABLE = 2**27  # entries: half a gigabyte for `next_state` alone


@dataclass(frozen=True, eq=False, repr=False)
class Transitions(Stepper):
    """Tables of a game with S states, N nodes and A actions, in which every throw is one of T equally likely ones.

    Row S of the states and row N of the nodes stand for the forfeit.

    Attributes:
        game, objective, throws, actions, start, forfeit, forfeit_state: see `Stepper`; T and A, and N and S.
        tables: the arrays of the game.
        node_of_throw: [S + 1, T] the node each throw leads to. Fewer dice than `game.dice` are the last ones thrown.
        next_state: [N + 1, A] where an action leads. Where the turn is over, any action begins a new one.
        over: [N + 1] True where the turn is over.
        observation: [N + 1, O] what the player sees, in the type that was asked for.
        action_mask: [N + 1, A] int8, 1 = legal, all 0 where the turn is over.
        reward: [N + 1] utility of the final score times `reward_scale` where the turn is over, else 0.
        final_score: [N + 1] points where the turn is over, else 0.
        reward_scale: what rewards are multiplied by.
    """

    game: Game
    objective: Objective
    throws: int
    actions: int
    start: int
    forfeit: int
    forfeit_state: int
    tables: TurnTables
    node_of_throw: NDArray[np.int32]
    next_state: NDArray[np.int32]
    over: NDArray[np.bool_]
    observation: NDArray[Any]
    action_mask: NDArray[np.int8]
    reward: NDArray[np.float64]
    final_score: IntArray
    reward_scale: float = 1.0

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles of an environment share the tables of their process instead of carrying them."""
        return transitions, (self.tables.game, self.objective, self.observation.dtype.name, self.reward_scale)

    def nodes(self, states: Any, throws: IntArray) -> IntArray:
        place = states * np.intp(self.throws)
        place += throws
        # Of the type of an index, so that gathers need not convert it one by one.
        return self.node_of_throw.take(place).astype(np.intp)

    def after(self, nodes: IntArray, actions: IntArray) -> IntArray:
        place = nodes * self.actions
        place += actions
        return self.next_state.take(place)

    def legal_moves(self, nodes: IntArray) -> LegalMoves:
        start, counts, action = self.choices
        count = counts.take(nodes)
        first = np.cumsum(count) - count
        edge = np.arange(count.sum()) + (start.take(nodes) - first).repeat(count)
        return LegalMoves(first, count, action.take(edge), self.tables.edge_next.take(edge))

    def choose(self, nodes: IntArray, fractions: NDArray[np.float64]) -> IntArray:
        first, count, action = self.choices
        return action.take(first.take(nodes) + (fractions * count.take(nodes)).astype(np.intp))

    def state_of(self, nodes: Any) -> Any:
        states = self.tables.node_state.take(nodes, mode="clip")
        return np.where(np.equal(nodes, self.forfeit), self.forfeit_state, states)

    def position(self, states: Any) -> tuple[Any, Any]:
        held, dice = (column.take(states, mode="clip") for column in (self.tables.held, self.tables.dice))
        forfeit = np.equal(states, self.forfeit_state)
        return np.where(forfeit, self._worst, held), np.where(forfeit, 0, dice)

    def unthrown(self, states: IntArray) -> NDArray[Any]:
        return self._unthrown.take(states, axis=0)

    def describe(self, node: int) -> str:
        return self.tables.describe_node(node)

    def find_state(self, held: int, dice: int) -> int:
        return self.tables.find_state(held, dice)

    def find(self, observations: NDArray[Any]) -> IntArray:
        return node_of(self.tables, observations)

    def are_nodes(self, numbers: IntArray) -> NDArray[np.bool_]:
        return (numbers >= 0) & (numbers <= self.forfeit)

    @cached_property
    def single(self) -> tuple[int, memoryview, "_Nodes"]:
        # Single entries are read several times faster so than from arrays.
        return self.throws, self.node_of_throw.ravel().data, _Nodes(self)

    @cached_property
    def longest(self) -> int:
        # The most moves there are in a turn.
        tables = self.tables
        moves = np.zeros(tables.states, np.int64)
        for level in tables.levels:
            most = level.reduce(np.maximum, moves[tables.edge_next[level.edges]])
            np.maximum.at(moves, tables.node_state[level.nodes][level.live], most + 1)
        return int(moves.max())

    @cached_property
    def choices(self) -> tuple[IntArray, IntArray, IntArray]:
        """The legal actions of all nodes in a row, to choose from.

        Returns:
            [N + 1] where those of a node begin; [N + 1] how many there are; and [E + 1] the actions, of which the last
            is 0: there, with a count of 0, are the nodes at which the turn is over.
        """
        start = self.tables.edge_start
        first = np.append(np.where(self.over[:-1], start[-1], start[:-1]), start[-1])
        return first, np.append(self.tables.choices, 0), np.append(self.tables.edge_action, 0)

    @cached_property
    def _worst(self) -> int:
        """What is held at a state of the worst score."""
        return int(self.tables.held[self.tables.score_index.argmax()])

    @cached_property
    def _unthrown(self) -> NDArray[Any]:
        """[S, O + 1] what is seen at every state whatever the throw, and the dice to be thrown."""
        seen = np.minimum.reduceat(self.observation[:-1], self.tables.node_start[:-1])
        return np.column_stack((seen, self.tables.dice.astype(seen.dtype)))


class _Nodes(dict[int, Known]):
    """What is known of each node, filled in as nodes are met, which are few of a large game's."""

    def __init__(self, transitions: Transitions):
        super().__init__()
        self._transitions = transitions

    def __missing__(self, node: int) -> Known:
        tables, end, places = self._transitions, None, []
        if tables.over[node]:
            end = float(tables.reward[node]), int(tables.final_score[node]), node == tables.tables.nodes
        else:
            forfeit, after = tables.tables.states, tables.next_state[node].tolist()
            places = [None if state == forfeit else state * tables.throws for state in after]
        self[node] = tables.observation[node].copy, tables.action_mask[node].copy, end, places
        return self[node]


def transitions(
    game: Game,
    objective: Objective,
    observation_dtype: str = "uint8",
    reward_scale: float = 1.0,
) -> Transitions:
    """The tables of a game and an objective; made once, and kept for the next call.

    Args:
        game: the rules.
        objective: what is rewarded.
        observation_dtype: the type of observations, by NumPy's name.
        reward_scale: what rewards are multiplied by.

    Raises:
        ValueError: if the tables would be larger than LARGEST_DENSE_TABLE, naming rules that fit.
    """
    return _transitions(game, objective, observation_dtype, reward_scale)


def _own_worths(game: Game, objective: Objective, *_: Any) -> tuple[Any, ...]:
    """The utilities of all final scores if they are of a function of one's own, which may answer otherwise now."""
    own = not is_named(game, objective) and fits_tables(game)
    return tuple(objective.utilities(compile_game(game).scores).tolist()) if own else ()


@kept(mebibytes=1024, told_by=_own_worths)
def _transitions(game: Game, objective: Objective, observation_dtype: str, reward_scale: float) -> Transitions:
    if (observation_dtype, reward_scale) != ("uint8", 1.0):
        plain = transitions(game, objective)
        observation, reward = plain.observation.astype(observation_dtype), plain.reward * reward_scale
        return replace(plain, observation=observation, reward=reward, reward_scale=reward_scale)
    if not fits_tables(game):
        raise ValueError(
            f"{game} is too large for tables, which an environment has of at most {LARGEST_DENSE_TABLE:,} entries"
            f"{next((f'; {smaller} fits' for smaller in game.smaller() if fits_tables(smaller)), '')}"
        )
    tables = compile_game(game)
    throws = len(rolls(game, game.dice).of_throw)

    node_of_throw = np.full((tables.states + 1, throws), tables.nodes, np.int32)
    for level in tables.levels:
        of_throw = level.rolls.of_throw
        first = tables.node_start[level.states][:, None]
        node_of_throw[level.states] = first + of_throw[np.arange(throws) % len(of_throw)]

    over = np.append(tables.choices == 0, True)
    next_state = np.full((tables.nodes + 1, tables.actions), tables.states, np.int32)
    next_state[tables.edge_node, tables.edge_action] = tables.edge_next
    next_state[over] = tables.start
    final_score = np.append(tables.final_score[tables.node_state], tables.scores[-1]) * over
    observation = np.concatenate((tables.observation, np.zeros((1, tables.observation.shape[1]), np.uint8)))
    action_mask = np.concatenate((tables.legal(), np.zeros((1, tables.actions), np.bool_))).view(np.int8)
    reward = np.zeros(len(over))
    reward[over] = objective.utilities(final_score[over])
    reward[-1] = objective.forfeit(tables.final_score)
    return Transitions(
        game=game,
        objective=objective,
        throws=throws,
        actions=tables.actions,
        start=tables.start,
        forfeit=tables.nodes,
        forfeit_state=tables.states,
        tables=tables,
        node_of_throw=node_of_throw,
        next_state=next_state,
        over=over,
        observation=observation,
        action_mask=action_mask,
        reward=reward,
        final_score=final_score,
    )


def fits_tables(game: Game) -> bool:
    """Whether the tables of a game have no more entries than LARGEST_DENSE_TABLE."""
    if not fits(game):
        return False
    states = len(game.states()[0])
    return max(states * game.faces**game.dice, game.nodes() * len(game.moves)) <= LARGEST_DENSE_TABLE
