"""Serve a game in words by OpenEnv: the reward of an answer is minus its exact loss.

    pip install openenv
    PYTHONPATH=docs/tutorials/openenv uvicorn server:app --port 8000

A client plays a turn:

    with openenv.GenericEnvClient(base_url="http://localhost:8000").sync() as client:
        result = client.reset(seed=0)
        while not result.done:
            result = client.step({"text": model(result.observation["text"])})
"""

import gymnasium as gym
from openenv.core.env_server import Action, Environment, Observation, State, create_app

from stb_gym.text import TextEnv


class Answer(Action):
    """The answer of a model, such as "Answer: shut 4,5"."""

    text: str


class Question(Observation):
    """A position in words; the first question of a turn starts with the rules."""

    text: str


class Turns(Environment):
    """An environment whose episodes are turns; its state has the regret of the turn so far."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    state = State()

    def __init__(self, game="stb_gym/ShutTheBox-v0"):
        super().__init__()
        self.env = TextEnv(gym.make(game))

    def reset(self, seed=None, episode_id=None, **options):
        """Start a turn and return the first question."""
        self.state = State(episode_id=episode_id, regret=0.0)
        return Question(text=self.env.reset(seed=seed)[0])

    def step(self, action, timeout_s=None, **options):
        """Play the move that the answer names and return the next question."""
        text, reward, done, _, info = self.env.step(action.text)
        self.state.step_count += 1
        self.state.regret = info["regret"]
        return Question(text=text, reward=reward, done=done)


app = create_app(Turns, Answer, Question, max_concurrent_envs=64)
