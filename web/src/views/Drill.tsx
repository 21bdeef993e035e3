// Positions to practise, sampled in proportion to the loss of the players there.

import { useMemo } from "preact/hooks";
import { address, go, whole } from "../address";
import { fractions } from "../data/dice";
import { goalToWords, inWords } from "../exact/goals";
import { GoalPicker } from "../parts/GoalPicker";
import { Quiz } from "../parts/Quiz";
import { StatisticsPanel } from "../play/StatisticsPanel";
import { useSession } from "../session";
import { countAnswer } from "../statistics";

export function Drill() {
  const session = useSession();
  const { game } = session;
  const solved = session.solved.value;
  const seed = whole(address.value.words.seed, 1);
  const draw = useMemo(() => {
    const met = session.visits(solved.perfect);
    const typical = game.players.map((player) => session.losses(solved, player));
    const costs = met.map((often, state) => often * typical.reduce((sum, losses) => sum + losses[state], 0));
    const total = costs.reduce((sum, cost) => sum + cost, 0);
    return (asked: number) => {
      let left = total * fractions(seed, asked)();
      const state = costs.findIndex((cost) => (left -= cost) < 0);
      return state < 0 ? null : state; // null if nobody loses anything anywhere
    };
  }, [solved, seed]);
  return (
    <div class="main">
      <div>
        <h2>Drill</h2>
        <p>
          Positions are drawn by how much rules of thumb and learners lose there, playing for{" "}
          {inWords(game, solved.goal)}.{" "}
          <button class="link" onClick={() => go("drill", { seed: `${seed + 1}`, ...goalToWords(game, solved.goal) })}>
            other positions
          </button>
        </p>
      </div>
      <Quiz
        key={`${seed} ${JSON.stringify(goalToWords(game, solved.goal))}`}
        solved={solved}
        draw={draw}
        answered={(right) => countAnswer(session.statistics, right)}
      />
      <GoalPicker />
      <StatisticsPanel />
    </div>
  );
}
