"""Stock PPO and MaskablePPO of stable-baselines3, with nothing changed but a callback: how far from perfect play?

One sees the exact regret of both while they learn, and what masks do for it: PPO must learn which moves there are,
MaskablePPO is told. The best policy of each is kept as a file of some kilobytes, which is measured again.

    python docs/tutorials/with_stable_baselines3.py --steps 50000
"""

import argparse
from pathlib import Path

import gymnasium as gym
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO

import stb_gym
from stb_gym.sb3 import RegretCallback, TurnVecEnv


def main(steps, seed=0, folder="runs/tutorial"):
    """Learn with each algorithm for some steps, and print the curves."""
    torch.set_num_threads(1)  # networks as small as these are faster so
    Path(folder).mkdir(parents=True, exist_ok=True)
    for algorithm in (PPO, MaskablePPO):
        # The package's own eight games at once; `gym.make` and stable-baselines3's `make_vec_env` will do as well.
        env = TurnVecEnv(gym.make_vec("stb_gym/ShutTheBox-v0", num_envs=8, autoreset_mode="SameStep"))
        meter = stb_gym.RegretMeter(env)
        best = Path(folder) / f"{algorithm.__name__}.npz"
        callback = RegretCallback(meter, every=10_000, save_path=best, verbose=1)
        print(f"{algorithm.__name__}, measured every {callback.every:,} steps")
        algorithm("MlpPolicy", env, n_steps=256, seed=seed, device="cpu").learn(steps, callback)

        kept = meter.optimum.evaluate(stb_gym.load_policy(best, meter.game, illegal="end"), illegal="end")
        print(f"  {best}: regret {kept.regret:.4f}, {kept.illegal_mass:.2%} of the turns end with an illegal move;")
        [dearest] = kept.mistakes(1)
        print(f"  the dearest mistake, at {dearest.position}, costs {dearest.cost:.4f} points a turn")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000)
    main(parser.parse_args().steps)
