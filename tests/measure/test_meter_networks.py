"""Test the meter with torch modules, and with functions that return tensors or distributions."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from stb_gym import MaskInObservation, RegretMeter, ShutTheBox, evaluate
from stb_gym.envs import TurnEnv
from stb_gym.solver import compile_game

pytestmark = pytest.mark.slow

GAME = ShutTheBox(tiles=6)
TABLES = compile_game(GAME)
SEEN, ACTIONS = TABLES.observation.shape[1], TABLES.num_actions
METER = RegretMeter(GAME)


def network():
    return nn.Sequential(nn.Linear(SEEN, 32), nn.Tanh(), nn.Dropout(0.5), nn.Linear(32, ACTIONS))


def scores_of(net):
    """Return the scores [S, A] of a network, one state at a time."""
    net.eval()
    with torch.no_grad():
        return np.stack([net(torch.tensor(row).float()).numpy() for row in TABLES.observation])


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_masked_module_plays_the_greatest_legal_score_or_samples_by_the_softmax(deterministic):
    net = network()
    scores, policy = scores_of(net), METER.policy(net, deterministic, masked=True)
    for state in TABLES.decisions:
        legal = TABLES.legal[state]
        if deterministic:
            assert legal[policy[state]]
            assert scores[state, policy[state]] == pytest.approx(scores[state, legal].max(), abs=1e-6)
        else:
            chances = torch.softmax(torch.from_numpy(scores[state, legal]), 0).numpy()
            assert policy[state, legal] == pytest.approx(chances, abs=1e-5)
            assert not policy[state, ~legal].any()
    evaluation = METER(net, deterministic, masked=True)
    assert evaluation.regret == evaluate(GAME, policy).regret > 0
    assert evaluation.illegal_mass == 0


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_module_that_chooses_illegal_actions_needs_masked(deterministic):
    net = network()
    with pytest.raises(ValueError, match=r"chooses illegal actions at \d+ of 389 positions: say masked=True"):
        METER(net, deterministic)
    masked, unmasked = (METER(net, deterministic, masked) for masked in (True, False))
    assert (masked.illegal_mass, masked.summary()["masked"]) == (0, True)
    assert unmasked.summary()["masked"] is False
    assert unmasked.illegal_mass > 0.5
    assert unmasked.regret > masked.regret


def test_a_module_that_takes_masks_may_sample_if_illegal_actions_have_no_probability():
    class Scores(nn.Module):
        def forward(self, seen, masks):
            return torch.where(masks, 0.0, self.of_illegal)

    module = Scores()
    module.of_illegal = -1.0
    assert METER(module).illegal_mass == 0
    with pytest.raises(ValueError, match="illegal actions at 389 of 389"):
        METER(module, deterministic=False)
    module.of_illegal = -1e9
    assert METER(module, deterministic=False).normalised_score == pytest.approx(0, abs=1e-12)


def test_a_module_without_forward_is_refused():
    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor = network()

    with pytest.raises(TypeError, match=r"^Agent has no forward: pass the module inside it that scores the actions"):
        METER(Agent())
    assert METER(Agent().actor, masked=True).regret > 0


def test_a_network_is_left_as_it_was():
    net = network()
    net[1].eval()
    assert METER(net, masked=True).regret == METER(net, masked=True).regret
    fails = nn.Sequential(net, nn.Linear(1, 1))
    with pytest.raises(TypeError, match=r"fails on observations of shape \(389, 17\) \(mat1 and mat2 shapes"):
        METER(fails)
    assert [part.training for part in fails.modules()] == [True, True, True, False, True, True, True]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_observations_have_the_dtype_of_the_weights(dtype):
    class Typed(nn.Linear):
        def forward(self, observations):
            assert observations.dtype == self.weight.dtype
            assert not torch.is_grad_enabled()
            return super().forward(observations)

    assert METER(Typed(SEEN, ACTIONS, dtype=dtype), masked=True).illegal_mass == 0


def test_a_module_may_take_a_dictionary_and_return_a_distribution():
    class Distributes(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = network().double()

        def forward(self, seen, state=None):
            assert seen["action_mask"].dtype == torch.float64
            assert state is None
            return Categorical(logits=self.net(seen["observation"]) - 1e9 * (1 - seen["action_mask"]))

    module, meter = Distributes(), RegretMeter(MaskInObservation(TurnEnv(GAME)))
    for deterministic in (True, False):
        plain = METER(module.net, deterministic, masked=True)
        assert meter(module, deterministic, masked=True).regret == pytest.approx(plain.regret)


@pytest.mark.parametrize("width", [1, ACTIONS + 1])
def test_scores_of_another_shape_are_refused(width):
    message = rf"a torch module must return scores of shape \(\d+, {ACTIONS}\), not \(\d+, {width}\)"
    with pytest.raises(ValueError, match=message):
        METER(nn.Linear(SEEN, width))
    with pytest.raises(TypeError, match=r"the module returned a tuple, not scores \[B, A\]"):
        METER(nn.LSTM(SEEN, width))


@pytest.mark.parametrize("where", [..., int(TABLES.legal[TABLES.decisions[-1]].argmin())])
def test_scores_that_are_not_numbers_are_refused(where):
    """Test NaN and infinity for all scores of an observation, and for one of an illegal action."""

    class NotANumber(nn.Linear):
        def forward(self, observations):
            scores = super().forward(observations)
            scores[-1, where] = np.nan
            return scores

    with pytest.raises(ValueError, match="a torch module returned scores that are not a number"):
        METER(NotANumber(SEEN, ACTIONS), masked=True)


@pytest.mark.parametrize("form", [lambda chances: chances, Categorical])
def test_functions_may_return_tensors_and_distributions(form):
    net = network().eval()

    def probabilities(observations, masks):
        logits = net(torch.from_numpy(observations).float())
        return form(torch.softmax(logits.masked_fill(~torch.from_numpy(masks), -torch.inf), 1))

    regret = METER(probabilities).regret
    assert METER(net, deterministic=False, masked=True).regret == pytest.approx(regret, abs=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_probabilities_of_half_precision_are_normalised(dtype):
    def uniform(observations, masks):
        return torch.from_numpy(masks / masks.sum(axis=1, keepdims=True))

    regret = METER(lambda observations, masks: uniform(observations, masks).to(dtype)).regret
    assert regret == pytest.approx(METER(uniform).regret, abs=1e-3)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_compiled_networks_are_measured():
    net = nn.Linear(SEEN, ACTIONS)
    regret = METER(net, masked=True).regret
    for compiled in (torch.jit.trace(net, torch.zeros(1, SEEN)), torch.jit.script(net), nn.DataParallel(net)):
        assert METER(compiled, masked=True).regret == pytest.approx(regret)
