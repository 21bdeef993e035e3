"""The meter with torch modules, and with functions that return what torch makes."""

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
def test_the_scores_of_legal_actions_count(deterministic):
    """The action of the greatest score is played, or any by the softmax over the scores."""
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
def test_the_meter_asks_whether_a_network_is_masked_where_it_matters(deterministic):
    net = network()
    with pytest.raises(ValueError, match=r"chooses illegal actions at \d+ of 389 positions: say masked=True"):
        METER(net, deterministic)
    masked, unmasked = (METER(net, deterministic, masked) for masked in (True, False))
    assert (masked.illegal_mass, masked.summary()["masked"]) == (0, True)
    assert unmasked.summary()["masked"] is False
    assert unmasked.illegal_mass > 0.5
    assert unmasked.regret > masked.regret

    def without_masks(seen):
        scores = net.eval()(torch.from_numpy(seen).float()).detach()
        return scores.argmax(1) if deterministic else torch.softmax(scores, 1)

    assert METER(without_masks).regret == pytest.approx(unmasked.regret)
    assert METER(without_masks).masked is False


def test_a_network_that_only_prefers_legal_actions_may_not_sample():
    class Prefers(nn.Module):
        def forward(self, seen, masks):
            return masks.float()

    METER(Prefers())
    with pytest.raises(ValueError, match="illegal actions at 389 of 389"):
        METER(Prefers(), False)


def test_a_network_that_masks_itself_needs_no_answer():
    class Masks(nn.Module):
        def forward(self, seen, masks):
            return torch.where(masks, 0.0, -1e9)

    assert {METER(Masks(), masked=masked).regret for masked in (None, True, False)} == {METER(TakesMasks()).regret}


def test_a_module_without_forward_is_refused_in_words():
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
    with pytest.raises(RuntimeError, match="shapes"):
        METER(fails)
    assert [part.training for part in fails.modules()] == [True, True, True, False, True, True, True]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_observations_are_of_the_type_of_the_weights(dtype):
    class Typed(nn.Linear):
        def forward(self, observations):
            assert observations.dtype == self.weight.dtype
            assert not torch.is_grad_enabled()
            return super().forward(observations)

    assert METER(Typed(SEEN, ACTIONS, dtype=dtype), masked=True).illegal_mass == 0


class TakesMasks(nn.Module):
    """Without weights."""

    def forward(self, observations, masks):
        assert observations.dtype == torch.float32
        return masks.float() / masks.sum(1, keepdim=True)


class TakesState(nn.Module):
    def forward(self, observations, state=None, info=None):
        assert state is None
        return torch.zeros(len(observations), ACTIONS)


class TakesDictionary(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = network().double()

    def forward(self, seen):
        assert seen["action_mask"].dtype == torch.float64
        return self.net(seen["observation"]) - 1e9 * (1 - seen["action_mask"])


class Distributes(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = network()

    def forward(self, observations):
        return Categorical(logits=self.net(observations))


def test_networks_of_other_forms():
    first = METER(lambda observations, masks: masks.argmax(axis=1)).regret
    assert METER(TakesMasks()).regret == METER(TakesState(), masked=True).regret == first
    random = METER(TakesState(), deterministic=False, masked=True)
    assert random.normalised_score == pytest.approx(0, abs=1e-12)
    net = TakesDictionary()
    assert RegretMeter(MaskInObservation(TurnEnv(GAME)))(net, masked=True).regret == pytest.approx(
        METER(net.net.float(), masked=True).regret
    )
    net = Distributes()
    for deterministic in (True, False):
        assert METER(net, deterministic, True).regret == pytest.approx(METER(net.net, deterministic, True).regret)


def test_scores_that_are_none_are_refused():
    net = network()
    for width in (1, ACTIONS - 1, ACTIONS + 1):
        message = rf"a torch module must return scores of shape \(\d+, {ACTIONS}\), not \(\d+, {width}\)"
        with pytest.raises(ValueError, match=message):
            METER(nn.Linear(SEEN, width))
    with pytest.raises(TypeError, match="a tuple of 2"):
        METER(nn.LSTM(SEEN, ACTIONS))

    class NotANumber(nn.Linear):
        def forward(self, observations):
            scores = super().forward(observations)
            scores[-1, self.where] = np.nan
            return scores

    broken = NotANumber(SEEN, ACTIONS)
    for broken.where in (..., -1):  # all scores of an observation, and one of them
        with pytest.raises(ValueError, match="a torch module returned scores that are not a number"):
            METER(broken, masked=True)
    with torch.no_grad():
        net[0].weight[3, 2] = torch.inf
    with pytest.raises(ValueError, match="the agent has weights that are infinite or not a number"):
        METER(net, masked=True)


def test_functions_may_return_tensors_and_distributions():
    net = network().eval()

    def probabilities(observations, masks):
        logits = net(torch.from_numpy(observations).float())
        return torch.softmax(logits.masked_fill(~torch.from_numpy(masks), -torch.inf), 1)

    with pytest.raises(TypeError, match=r"requires gradients: return it under torch.no_grad\(\) or detached"):
        METER(probabilities)
    with pytest.raises(TypeError, match="requires gradients"):
        METER(lambda observations, masks: Categorical(probabilities(observations, masks)))
    with torch.no_grad():
        soft = METER(probabilities).regret
        assert METER(lambda seen, masks: Categorical(probabilities(seen, masks))).regret == pytest.approx(soft)
        best = METER(lambda seen, masks: probabilities(seen, masks).argmax(1)).regret
    assert METER(net, deterministic=False, masked=True).regret == pytest.approx(soft, abs=1e-6)
    assert METER(net, masked=True).regret == best


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_compiled_networks_are_networks():
    net = nn.Linear(SEEN, ACTIONS)
    regret = METER(net, masked=True).regret
    for compiled in (torch.jit.trace(net, torch.zeros(1, SEEN)), torch.jit.script(net), nn.DataParallel(net)):
        assert METER(compiled, masked=True).regret == pytest.approx(regret)


@pytest.mark.parametrize("deterministic", [True, False])
def test_sampled_turns_of_a_network_tell_its_exact_regret(deterministic):
    net = network()
    exact, sampled = METER(net, deterministic, True), METER.sample(net, 20_000, 1, deterministic, True)
    assert abs(sampled.regret - exact.regret) <= 4 * sampled.standard_error > 0
