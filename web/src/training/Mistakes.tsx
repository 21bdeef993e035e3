// The mistakes of a training at one measurement: a map of them, the costliest, and when the training unlearns each.

import { useMemo } from "preact/hooks";
import { address, go } from "../address";
import type { Run } from "../data/game";
import { positionToWords } from "../data/positions";
import { goalFromWords, lossShown, clamped } from "../exact/goals";
import { costsOfAfterstates, visitsOfAfterstates } from "../exact/afterstates";
import { Badge } from "../parts/Badge";
import { Legend } from "../parts/Legend";
import { MistakeTable } from "../parts/MistakeTable";
import { countShown, roundBetween, tickShown } from "../parts/scales";
import { AfterstateMap } from "../parts/AfterstateMap";
import { useSession } from "../session";
import { learnt } from "./learnt";

const DECADES = 5; // from the cost of the palest colour to the largest cost at the first measurement

export function Mistakes({ run, at }: { run: Run; at: number }) {
  const session = useSession();
  const { game } = session;
  const solved = session.solve(goalFromWords(game, { for: run.objective }));
  const player = run.player(at);
  const { mistakes } = session.judged(solved, player);
  const met = useMemo(() => visitsOfAfterstates(game, session.visits(solved.perfect)), [solved]);
  const cost = costsOfAfterstates(game, mistakes);
  const first = costsOfAfterstates(game, session.judged(solved, run.player(0)).mistakes);
  const largest = Math.max(...first, Number.MIN_VALUE); // of the first measurement: one scale for the whole training
  const ramp = (lost: number) => (lost ? clamped(0, 1 + Math.log10(lost / largest) / DECADES, 1) : NaN);
  const learntInWords = (state: number) => {
    const step = learnt(game, solved, run, state);
    return step === null ? "not learnt" : `learnt after ${countShown(step)} steps`;
  };
  const costliest = mistakes[0] ? game.stateOrigin[mistakes[0].state] : game.start;
  return (
    <section class="card" aria-label={`the mistakes of ${run.name}`}>
      <h3>
        <Badge look={run} /> <small>{mistakes.length} mistakes</small>
      </h3>
      <Legend
        hue="lost"
        title="costs"
        ticks={roundBetween(largest / 10 ** DECADES, largest, [1]).map((lost) => ({
          at: ramp(lost),
          words: tickShown(lost),
        }))}
        none="no mistake"
      />
      <AfterstateMap
        label={`where ${run.name} loses; the arrows lead from one position to the next`}
        width={500}
        strength={cost.map(ramp)}
        hue="lost"
        order={met}
        selected={session.position.value.afterstate === game.start ? costliest : session.position.value.afterstate}
        select={(afterstate) =>
          go("training", { ...address.value.words, ...positionToWords(game, { afterstate, roll: null }) }, true)
        }
        says={(afterstate) => (cost[afterstate] ? `costs ${lossShown(solved.goal, cost[afterstate])}` : "no mistake")}
        goal={solved.goal}
      />
      <MistakeTable mistakes={mistakes} solved={solved} note={learntInWords} />
    </section>
  );
}
