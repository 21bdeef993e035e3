"""skrl 2.1.1: by default, the return of an episode that a time limit cuts counts the rewards of the next episode."""

import torch
from skrl.agents.torch.ppo.ppo import compute_gae

zeros = torch.zeros(2, 1)
ends = {"terminated": torch.tensor([[False], [True]]), "truncated": torch.tensor([[True], [False]])}
for later in (0.0, 9.0):  # the reward of the second episode
    reward = torch.tensor([[0.0], [later]])
    returns, _ = compute_gae(rewards=reward, values=zeros, last_values=zeros[0], **ends)
    print(f"return of the first episode: {returns[0].item():.2f}")
