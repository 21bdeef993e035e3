"""Adapt turns in words to trainers of language models: the reward of an answer is minus its exact loss.

The rewards of a turn add up to minus its regret; 0 is the maximum, and only optimal moves reach it. Each function below
imports one framework and returns what that framework takes. Two more frameworks have examples of their own:
`with_verifiers.py` and `openenv/server.py`.

    GRPOTrainer(..., environment_factory=trainers.for_trl())                      # TRL: one reward a turn
    skyrl_gym.register(id="turns", entry_point=trainers.for_skyrl_gym())          # SkyRL-gym: a reward an answer
    EnvFromMessageEnv(renderer, trainers.for_tinker_cookbook()(seed))             # tinker-cookbook: a reward an answer
    RolloutHarness.local(trainers.turns(), tokenizer, max_turns=9)                # AgileRL takes TextEnv as it is
    gem.register("turns", entry_point=trainers.for_gem())                         # GEM: a reward an answer
    inspect_ai.eval(trainers.for_inspect(), model="openai/...")                   # Inspect: a score a question
    trainers.for_reasoning_gym()                                                  # reasoning-gym: a score a question
"""

import gymnasium as gym

from stb_gym.text import TextEnv, TextGame

GAME = "stb_gym/ShutTheBox-v0"


def turns(game=GAME):
    """Return an environment of turns in words; see `TextEnv` for names drawn by a seed and other wordings."""
    return TextEnv(gym.make(game))


def for_trl(game=GAME):
    """Return an environment factory for `GRPOTrainer`; the column `seed` of a data set fixes the dice."""

    class Turns:
        def __init__(self):
            self._env = turns(game)
            self._over = True

        def reset(self, seed=None, **columns):
            question, self._info = self._env.reset(seed=seed)
            self._over = False
            return question

        def play(self, move: str) -> str:
            """Play a move.

            Args:
                move: the move, such as "shut 4,5"

            Returns:
                The next question, or that the turn is over.
            """
            if self._over:
                return "The turn is over."
            question, _, self._over, _, self._info = self._env.step(move)
            return question

        def get_reward(self):
            if not self._over:  # the model plays no more: the turn ends with the worst score
                self.play("")
            return 0.0 - self._info["regret"]

    return Turns


def for_skyrl_gym(game=GAME):
    """Return an environment class; `extras["seed"]`, a column of the data set, fixes the dice."""
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

    class Turns(BaseTextEnv):
        def __init__(self, env_config=None, extras=None):
            super().__init__()
            self.env = turns(game)
            self.seed = (extras or {}).get("seed")

        def init(self, prompt):
            question, info = self.env.reset(seed=self.seed)
            return [*prompt, {"role": "user", "content": question}], info

        def step(self, action):
            question, reward, done, _, info = self.env.step(action)
            asked = [] if done else [{"role": "user", "content": question}]
            return BaseTextEnvStepOutput(observations=asked, reward=reward, done=done, metadata=info)

    return Turns


def for_tinker_cookbook(game=GAME):
    """Return a class of message environments, each for the one turn with a seed."""
    from tinker_cookbook.rl.message_env import MessageEnv, MessageStepResult

    class Turn(MessageEnv):
        def __init__(self, seed):
            self.env = turns(game)
            self.messages = [{"role": "user", "content": self.env.reset(seed=seed)[0]}]

        async def initial_observation(self):
            return self.messages

        async def step(self, message):
            question, reward, done, _, info = self.env.step(message["content"])
            self.messages = [*self.messages, message, {"role": "user", "content": question}]
            return MessageStepResult(reward, done, self.messages, metrics={"regret": info["regret"]})

    return Turn


def for_gem(game=GAME):
    """Return an environment class; GEM passes seeds by position and to the constructor, which TextEnv does not take."""
    from gem import Env

    class Turns(Env):
        def __init__(self, seed=None):
            self.env = turns(game)
            self.env.reset(seed=seed)

        def reset(self, seed=None):
            return self.env.reset(seed=seed)

        def step(self, action):
            return self.env.step(action)

    return Turns


def for_inspect(game=GAME):
    """Return a task of all questions of a game; the score of an answer is minus its exact loss."""
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import Score, mean, scorer

    text = TextGame(gym.make(game))

    @scorer(metrics=[mean()])
    def minus_loss():
        async def score(state, target):
            return Score(value=0.0 - text.loss(state.sample_id, state.output.completion))

        return score

    asked = [Sample(id=row["id"], input=f"{row['rules']}\n\n{row['question']}") for row in text.questions()]
    return Task(dataset=asked, scorer=minus_loss())


def for_reasoning_gym(game=GAME):
    """Return a data set of all questions of a game; its scores are 1 for an optimal move and 0 for no legal one."""
    from reasoning_gym.dataset import ProceduralDataset

    text = TextGame(gym.make(game))
    rows = list(text.questions())

    class Questions(ProceduralDataset):
        def __getitem__(self, index):
            row = rows[index]
            asked = f"{row['rules']}\n\n{row['question']}"
            return {"question": asked, "answer": None, "metadata": {"id": row["id"], "source_dataset": "stb_gym"}}

        def score_answer(self, answer, entry):
            identity = entry["metadata"]["id"]
            return 1 - text.loss(identity, answer or "") / text.loss(identity, "")

    return Questions({}, seed=0, size=len(rows))
