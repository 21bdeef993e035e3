"""skrl 2.1.1: by default, the sum of rewards runs on over a time limit.

So the return of an episode that a limit cuts counts the next episode's rewards.
"""

import torch
from skrl.agents.torch.ppo.ppo import compute_gae

zeros = torch.zeros(2, 1)
terminated = torch.tensor([[False], [True]])
truncated = torch.tensor([[True], [False]])
for later in (0.0, 9.0):  # the reward of the second episode
    returns, _ = compute_gae(
        rewards=torch.tensor([[0.0], [later]]),
        terminated=terminated,
        truncated=truncated,
        values=zeros,
        last_values=zeros[0],
    )
    print(f"return of the first episode: {returns[0].item():.2f}")
