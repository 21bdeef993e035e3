// An episode on the board, with the value of every position before and after its correction.

import { facesOf } from "../data/dice";
import { positionOf } from "../data/game";
import { shown, type Goal } from "../exact/goals";
import { still } from "../parts/screen";
import { Film, useReel } from "../play/Film";
import { useSession } from "../session";
import type { Correction } from "./learner";

export function Episode({ corrections, goal }: { corrections: Correction[]; goal: Goal }) {
  const { game } = useSession();
  const steps = corrections.map(({ afterstate, state, pair }) => ({
    afterstate,
    state,
    pair,
    faces: facesOf(game, afterstate, positionOf(game, state).roll!),
  }));
  const last = corrections.at(-1)!;
  const turn = { steps, waiting: null, end: last.afterstate };
  const { frame, last: end, show } = useReel(turn, still.value ? Infinity : 0, true, () => {});
  const value = (utility: number) => shown(game, goal, utility);
  return (
    <Film
      title="One episode"
      turn={turn}
      frame={frame}
      note={(step) => {
        const { afterstate, before, after } = corrections[steps.indexOf(step as (typeof steps)[number])];
        return (
          <small>
            {game.afterstates[afterstate]}: {value(before)} → {value(after)}
          </small>
        );
      }}
      buttons={frame < end && <button onClick={() => show(end)}>skip</button>}
    />
  );
}
