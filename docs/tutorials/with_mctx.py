"""Plan with mctx: the exact regret of its stochastic MuZero search against the number of simulations.

Run `python docs/tutorials/with_mctx.py --simulations 10 30 100`.

mctx searches trees of states and afterstates in JAX. Here it has the exact model of the game, from the tables of the
solution. A new node of its tree is worth the reward of one turn of random moves.
"""

import argparse
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import mctx
import numpy as np

import stb_gym
from stb_gym.solver import Solution

IMPOSSIBLE = -1e9  # a logit


class Planner:
    """Answers with the move that a search visits most often.

    Args:
        solution: its tables are the model; its values are not read.
        num_simulations: for every move.
        seed: of the simulated dice and moves.
    """

    def __init__(self, solution: Solution, num_simulations: int, seed: int = 0):
        self._tables = tables = solution.tables
        self._num_simulations = num_simulations
        self._key = jax.random.key(seed)
        self._search = jax.jit(self._decide)
        states, origin = np.arange(tables.num_states), tables.state_origin
        roll = states - tables.state_start[origin]
        chances = np.full((tables.num_afterstates, roll.max() + 1), IMPOSSIBLE)
        chances[origin, roll] = np.log(tables.state_probability)
        next_afterstate = np.zeros(tables.legal.shape, int)
        next_afterstate[tables.pair_state, tables.pair_action] = tables.pair_afterstate
        rewards = solution.objective.utilities(tables.final_score).astype(float)[origin]
        self._chances, self._next_afterstate = jnp.array(chances), jnp.array(next_afterstate)  # [Y, R] and [S, A]
        self._logits = jnp.where(tables.legal, 0.0, IMPOSSIBLE)  # [S, A]
        self._over = jnp.array(tables.choices == 0)  # [S]
        self._rewards = jnp.where(self._over, rewards, 0.0)  # [S]
        self._first_state = jnp.array(tables.state_start[:-1])  # [Y]

    def __call__(self, observations: Any, masks: Any) -> Any:
        """Return the actions [B] at observations [B, ...]."""
        self._key, key = jax.random.split(self._key)
        return np.asarray(self._search(key, jnp.array(self._tables.find_states(observations))))

    def _decide(self, key: Any, state: Any) -> Any:
        """Search from states [B]; the embeddings of mctx are numbers of states and afterstates."""
        key, key_of_root = jax.random.split(key)
        return mctx.stochastic_muzero_policy(
            (),
            key,
            mctx.RootFnOutput(
                prior_logits=self._logits[state], value=self._random_turn(key_of_root, state), embedding=state
            ),
            self._take_action,
            self._throw_dice,
            self._num_simulations,
            self._logits[state] < 0,
            dirichlet_fraction=0.0,
            temperature=0.0,
        ).action

    def _take_action(self, _: Any, key: Any, action: Any, state: Any) -> Any:
        afterstate = self._next_afterstate[state, action]
        key_of_dice, key_of_turn = jax.random.split(key)
        state = self._first_state[afterstate] + jax.random.categorical(key_of_dice, self._chances[afterstate])
        value = self._random_turn(key_of_turn, state)
        found = mctx.DecisionRecurrentFnOutput(chance_logits=self._chances[afterstate], afterstate_value=value)
        return found, afterstate

    def _throw_dice(self, _: Any, key: Any, roll: Any, afterstate: Any) -> Any:
        state = self._first_state[afterstate] + roll
        goes_on = 1.0 - self._over[state]
        found = mctx.ChanceRecurrentFnOutput(
            action_logits=self._logits[state],
            value=goes_on * self._random_turn(key, state),
            reward=self._rewards[state],
            discount=goes_on,
        )
        return found, state

    def _random_turn(self, key: Any, state: Any) -> Any:
        """Return the rewards of random play from states [B] to the end of the turn."""

        def step(key_and_state: Any) -> Any:
            key, state = key_and_state
            key, key_of_move, key_of_dice = jax.random.split(key, 3)
            action = jax.random.categorical(key_of_move, self._logits[state])
            afterstate = self._next_afterstate[state, action]
            thrown = self._first_state[afterstate] + jax.random.categorical(key_of_dice, self._chances[afterstate])
            return key, jnp.where(self._over[state], state, thrown)

        _, last = jax.lax.while_loop(lambda pair: ~self._over[pair[1]].all(), step, (key, state))
        return self._rewards[last]


def main() -> None:
    """Print the regret of searches with more and more simulations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiles", type=int, default=7)
    parser.add_argument("--simulations", type=int, nargs="+", default=[10, 30, 100, 300])
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    meter = stb_gym.RegretMeter(gym.make("stb_gym/ShutTheBox-v0", tiles=arguments.tiles))
    for number in arguments.simulations:
        planner = Planner(meter.solution, number, arguments.seed)
        print(f"{number} simulations: regret {meter(planner, deterministic=False).regret:.4f}", flush=True)


if __name__ == "__main__":
    main()
