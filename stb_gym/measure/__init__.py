"""Measure agents against the exact optimum.

- `meter`: the regret of any agent. `wrapped` shows positions to an agent as its environment does, and `agents` asks it
  and checks its answers (`sb3_models`, `tensors`). `play` lets it play turns, which `sampled` measures.
- `recording`: wrappers that record the exact loss of every action while anything plays.
- `diagnosis`: the parts of an agent's regret; `visits`: wrappers that count what it visited. `critics`: the errors of
  its critic; `policy_gradients`: the exact gradient of its policy.
- `policy_files`: policies as files, and those that come with the package.
- `hardness`: what makes a game hard for agents that learn by playing.
- `mistakes`: the costliest mistakes of a policy; `comparison`: two score distributions; `simulation`: sampled turns
  beside the exact value.
"""

from stb_gym.measure.comparison import Comparison, compare
from stb_gym.measure.critics import CriticErrors
from stb_gym.measure.diagnosis import Diagnosis, diagnose
from stb_gym.measure.hardness import Hardness, hardness
from stb_gym.measure.meter import RegretMeter
from stb_gym.measure.mistakes import mistakes_in_json, pocket_card
from stb_gym.measure.policy_gradients import policy_gradient
from stb_gym.measure.policy_files import (
    SavedPolicy,
    is_policy,
    bundled_policies,
    load_policies,
    load_policy,
    read_policy,
    save_policies,
    save_policy,
)
from stb_gym.measure.recording import RecordRegret, VectorRecordRegret
from stb_gym.measure.sampled import SampledEvaluation
from stb_gym.measure.simulation import Simulation, simulate
from stb_gym.measure.visits import RecordVisits, VectorRecordVisits, Visits

__all__ = [
    "Comparison",
    "CriticErrors",
    "Diagnosis",
    "Hardness",
    "RecordRegret",
    "RecordVisits",
    "RegretMeter",
    "SampledEvaluation",
    "SavedPolicy",
    "Simulation",
    "VectorRecordRegret",
    "VectorRecordVisits",
    "Visits",
    "bundled_policies",
    "compare",
    "diagnose",
    "hardness",
    "is_policy",
    "load_policies",
    "load_policy",
    "mistakes_in_json",
    "pocket_card",
    "policy_gradient",
    "read_policy",
    "save_policies",
    "save_policy",
    "simulate",
]  # fmt: skip
