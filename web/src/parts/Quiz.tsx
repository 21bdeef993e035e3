// A quiz of positions: choose a move, then see the values of all moves. It counts right answers and the loss.

import { useSignal } from "@preact/signals";
import { facesOf } from "../data/dice";
import { moveInWords, stateInWords, positionOf } from "../data/game";
import { lossShown } from "../exact/goals";
import type { Solved } from "../exact/solved";
import { lossOf } from "../exact/sweep";
import { useSession } from "../session";
import { Felt } from "./Felt";
import { MoveButtons } from "./MoveButtons";
import { Moves } from "./Moves";
import { usePicking } from "./picking";

interface Props {
  solved: Solved;
  draw: (asked: number) => number | null; // returns the state of a question, null after the last one
  answered?: (right: boolean) => void;
}

export function Quiz({ solved, draw, answered }: Props) {
  const session = useSession();
  const { game } = session;
  const asked = useSignal(0);
  const chosen = useSignal<number | null>(null);
  const score = useSignal({ right: 0, lost: 0 });
  const state = draw(asked.value);
  const total = asked.value + (chosen.value === null ? 0 : 1);
  const tally = total > 0 && (
    <p class="tally">
      <b>
        {score.value.right} of {total}
      </b>{" "}
      right, {lossShown(solved.goal, score.value.lost)} lost
    </p>
  );
  const answer = (pair: number) => {
    const lost = lossOf(game, solved.values, pair, state!);
    score.value = { right: score.value.right + (lost === 0 ? 1 : 0), lost: score.value.lost + lost };
    chosen.value = pair;
    answered?.(lost === 0);
  };
  const next = () => {
    asked.value += 1;
    chosen.value = null;
  };
  const choice = usePicking(
    state === null ? game.start : game.stateOrigin[state],
    chosen.value === null ? state : null,
    "You have chosen: see what every move is worth, then go on.",
    answer,
  );
  if (state === null) return <div class="card">{tally || "Nobody loses anything here."}</div>;
  const { afterstate, roll } = positionOf(game, state);
  const lost = chosen.value === null ? 0 : lossOf(game, solved.values, chosen.value, state);
  return (
    <div class="columns">
      <div class="side">
        <Felt position={{ afterstate, roll }} faces={facesOf(game, afterstate, roll!)} picking={choice} />
        {tally}
      </div>
      <div class="main" aria-live="polite">
        {chosen.value === null ? (
          <>
            <div class="verdict">
              <h2>What is your move?</h2>
              <p>
                <small>{stateInWords(game, state)}</small>
              </p>
            </div>
            <MoveButtons state={state} meant={choice?.meant} take={answer} />
          </>
        ) : (
          <>
            <div class="verdict">
              <h2>
                {lost === 0 ? "Right" : `${moveInWords(game, chosen.value)} loses ${lossShown(solved.goal, lost)}`}
              </h2>
            </div>
            <Moves state={state} solved={solved} players={session.everybody(solved)} chosen={chosen.value} />
            <div class="choices">
              <button class="plain first" onClick={next}>
                next
              </button>
            </div>
          </>
        )}
      </div>
    </div>
  );
}
