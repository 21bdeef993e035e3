"""Play turns perfectly by a client of the server: the oracle, whose rewards are the maximum, 0.

Start the server first, then run `python docs/tutorials/openenv/oracle.py --url http://localhost:8000 --turns 10`.
"""

import argparse

import gymnasium as gym
from openenv import GenericEnvClient

import stb_gym
from stb_gym.text import TextEnv


def main(url="http://localhost:8000", turns=10):
    """Play turns with the seeds 0, 1, ...; return the rewards and the answers of each."""
    policy = stb_gym.solve(stb_gym.ShutTheBox()).policy
    twin = TextEnv(gym.make("stb_gym/ShutTheBox-v0"))  # the dice of a seed are the same everywhere
    rewards, answers = [], []
    with GenericEnvClient(base_url=url).sync() as client:
        for seed in range(turns):
            result = client.reset(seed=seed)
            twin.reset(seed=seed)
            rewards.append([])
            answers.append([])
            while not result.done:
                answer = f"Answer: {twin.text.answer(int(policy[twin.unwrapped.state]))}"
                result = client.step({"text": answer})
                twin.step(answer)
                rewards[-1].append(result.reward)
                answers[-1].append(answer)
    print(f"The rewards of {turns} turns add up to {sum(map(sum, rewards))}.")
    return rewards, answers


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://localhost:8000")
    parser.add_argument("--turns", type=int, default=10)
    main(**vars(parser.parse_args()))
