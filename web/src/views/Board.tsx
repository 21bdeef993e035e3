// The analysis board: a position that can be changed, and the moves of all players there.

import { go } from "../address";
import { thrown, rollOf } from "../data/dice";
import { pairsOf, moveInWords, stateInWords, stateOf, rollsAt, type Position } from "../data/game";
import { positionToWords } from "../data/positions";
import { goalToWords, inWords, shown, unitOf } from "../exact/goals";
import { Everybody } from "../parts/Everybody";
import { Felt } from "../parts/Felt";
import { GoalPicker } from "../parts/GoalPicker";
import { Moves } from "../parts/Moves";
import { RollsTable } from "../parts/RollsTable";
import { narrow } from "../parts/screen";
import { useSession } from "../session";

const MOST_ROLLS = 36; // rolls that have a button each

export function Board() {
  const session = useSession();
  const { game } = session;
  const position = session.position.value;
  const solved = session.solved.value;
  const { afterstate, roll } = position;
  const state = roll === null ? null : stateOf(game, afterstate, roll);
  const show = (to: Position) => go("board", { ...positionToWords(game, to), ...goalToWords(game, solved.goal) });
  const over = game.over[afterstate];
  const anyRoll = () => rollOf(game, afterstate, thrown(game, afterstate, Math.random));
  const verdict = <Verdict position={position} state={state} />;
  return (
    <div class="columns">
      {narrow.value && verdict}
      <section class="side" aria-label="the position">
        <Felt position={position} change={show}>
          {!over && <button onClick={() => show({ afterstate, roll: anyRoll() })}>throw</button>}
          {roll !== null && <button onClick={() => show({ afterstate, roll: null })}>before the throw</button>}
          {afterstate !== game.start && (
            <button onClick={() => show({ afterstate: game.start, roll: null })}>from the start</button>
          )}
        </Felt>
        {!over && <RollButtons position={position} show={show} />}
        <GoalPicker />
      </section>
      <section class="main" aria-label="the moves">
        {!narrow.value && verdict}
        {state !== null && pairsOf(game, state).length > 0 && (
          <Moves
            state={state}
            solved={solved}
            players={session.everybody(solved)}
            take={(pair) => show({ afterstate: game.next[pair], roll: null })}
          />
        )}
        {state === null && !over && (
          <div class="scroll">
            <RollsTable afterstate={afterstate} solved={solved} take={(at) => show({ afterstate, roll: at })} />
          </div>
        )}
        <Everybody solved={solved} show={show} />
      </section>
    </div>
  );
}

function RollButtons({ position, show }: { position: Position; show: (position: Position) => void }) {
  const { game } = useSession();
  const { words } = rollsAt(game, position.afterstate);
  if (words.length > MOST_ROLLS) return null;
  return (
    <div class="rolls" role="group" aria-label="roll" style={{ "--count": words.length }}>
      {words.map((text, roll) => (
        <button aria-pressed={roll === position.roll} onClick={() => show({ afterstate: position.afterstate, roll })}>
          {text}
        </button>
      ))}
    </div>
  );
}

function Verdict({ position: { afterstate }, state }: { position: Position; state: number | null }) {
  const session = useSession();
  const { game } = session;
  const { goal, values, perfect } = session.solved.value;
  const valueShown = (utility: number) => (
    <>
      <b>{shown(game, goal, utility)}</b> {unitOf(game, goal)}
    </>
  );
  let headline = "Before the throw";
  let utility = values.afterstate[afterstate];
  if (state !== null) {
    const pair = perfect.pairs![state];
    headline = pair < 0 ? game.end(state) : `Best: ${moveInWords(game, pair)}`;
    utility = values.state[state];
  } else if (game.over[afterstate]) {
    headline = game.ended[game.scoreIndex[afterstate]];
  }
  return (
    <div class="verdict" aria-live="polite">
      <h2>{headline}</h2>
      <p>
        {valueShown(utility)}{" "}
        <small>
          {state === null ? game.afterstates[afterstate] : stateInWords(game, state)}; playing for {inWords(game, goal)}
        </small>
      </p>
    </div>
  );
}
