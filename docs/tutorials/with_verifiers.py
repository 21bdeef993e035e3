"""Let a language model play turns in verifiers: the reward of a turn is minus its exact regret.

    pip install "verifiers>=0.4"
    PYTHONPATH=docs/tutorials vf-eval with_verifiers -n 100 -m NAME --client.base-url http://localhost:8000/v1

Task i is the turn with seed i. `--env.taskset.game` names the game; `trace.info["losses"]` has the loss of each answer.
"""

import itertools

import gymnasium as gym
import verifiers.v1 as vf

from stb_gym.text import TextEnv

__all__ = ["Turns", "TurnsEnv"]


class TurnsConfig(vf.TasksetConfig):
    """The configuration of the tasks."""

    game: str = "stb_gym/ShutTheBox-v0"


class Turns(vf.Taskset[vf.Task, TurnsConfig]):
    """A task set with one turn for each seed."""

    INFINITE = True

    def load(self):
        """Yield one task per seed; its prompt is the rules and the first question."""
        env = TextEnv(gym.make(self.config.game))
        for seed in itertools.count():
            yield vf.Task(vf.TaskData(prompt=env.reset(seed=seed)[0]), self.config.task)


class PlayerConfig(vf.EnvConfig):
    """The configuration of the environment: the model chats and has no tools."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime=vf.SubprocessConfig())


class TurnsEnv(vf.Env[PlayerConfig]):
    """An environment of conversations: the game asks, the model answers."""

    async def run(self, task, agents):
        """Play the turn of a task."""
        env = TextEnv(gym.make(self.taskset.config.game))
        env.reset(seed=task.data.idx)
        losses, over = [], False
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not over:
                # The reply is empty if the conversation was cut short: the turn ends with the worst score.
                question, _, over, _, info = env.step(segment.last_reply)
                losses.append(info["loss"])
                if not over:
                    segment = await interaction.turn(question)
        interaction.trace.record_reward("minus_regret", 0.0 - info["regret"])
        interaction.trace.info["losses"] = losses
