"""Train PPO and MaskablePPO, and print their exact regret while they learn.

PPO of stable-baselines3 must learn which actions are legal; MaskablePPO of sb3-contrib gets the action mask. Settings
are the defaults, except for eight environments with `n_steps=256`, so that a rollout still has 2,048 steps. The best
policy of each algorithm is saved to a file of a few kilobytes and measured again.

    python docs/tutorials/with_stable_baselines3.py --steps 50000
"""

import argparse
from pathlib import Path

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO

import stb_gym
from stb_gym.sb3 import RegretCallback, TurnVecEnv


def main(steps, seed=0, folder="runs/tutorial"):
    """Train both algorithms for `steps` steps and print their regret."""
    torch.set_num_threads(1)  # small networks are faster with one thread
    Path(folder).mkdir(parents=True, exist_ok=True)
    for algorithm in (PPO, MaskablePPO):
        # Eight turns at once. Environments of `gym.make` and of stable-baselines3's `make_vec_env` work, too.
        env = TurnVecEnv("stb_gym/ShutTheBox-v0", num_envs=8)
        meter = stb_gym.RegretMeter(env)
        best = Path(folder) / f"{algorithm.__name__}.npz"
        callback = RegretCallback(meter, every=10_000, save_path=best, verbose=1)
        print(f"{algorithm.__name__}, measured every {callback.every:,} steps")
        algorithm("MlpPolicy", env, n_steps=256, seed=seed, device="cpu").learn(steps, callback)

        saved = meter.optimum.evaluate(stb_gym.load_policy(best, meter.game, illegal="end"), illegal="end")
        print(f"  {best}: regret {saved.regret:.4f}, {saved.illegal_mass:.2%} of the turns end with an illegal move;")
        [costliest] = saved.mistakes(1)
        print(f"  the costliest mistake, at {costliest.position}, loses {costliest.cost:.4f} points per turn")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000)
    main(parser.parse_args().steps)
