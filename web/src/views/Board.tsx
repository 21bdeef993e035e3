// The analysis board: any position, and what everybody would do there.

import { go } from "../address";
import { thrown, rollOf } from "../data/dice";
import { edgesOf, moveInWords, nodeInWords, nodeOf, rollsAt, type Position } from "../data/game";
import { positionToWords } from "../data/positions";
import { goalToWords, inWords, shown, unitOf } from "../exact/goals";
import { Everybody } from "../parts/Everybody";
import { Felt } from "../parts/Felt";
import { GoalPicker } from "../parts/GoalPicker";
import { Moves } from "../parts/Moves";
import { RollsTable } from "../parts/RollsTable";
import { useSession } from "../session";

const MOST_ROLLS = 36; // that are shown as buttons of their own

export function Board() {
  const session = useSession();
  const { game } = session;
  const position = session.position.value;
  const solved = session.solved.value;
  const { state, roll } = position;
  const node = roll === null ? null : nodeOf(game, state, roll);
  const show = (to: Position) => go("board", { ...positionToWords(game, to), ...goalToWords(game, solved.goal) });
  const over = game.over[state];
  const anyRoll = () => rollOf(game, state, thrown(game, state, Math.random));
  return (
    <div class="columns">
      <section class="side" aria-label="the position">
        <Felt position={position} change={show}>
          {!over && <button onClick={() => show({ state, roll: anyRoll() })}>throw</button>}
          {roll !== null && <button onClick={() => show({ state, roll: null })}>before the throw</button>}
          {state !== game.start && (
            <button onClick={() => show({ state: game.start, roll: null })}>from the start</button>
          )}
        </Felt>
        {!over && <RollButtons position={position} show={show} />}
        <GoalPicker />
      </section>
      <section class="main" aria-label="the moves">
        <Verdict position={position} node={node} />
        {node !== null && edgesOf(game, node).length > 0 && (
          <Moves
            node={node}
            solved={solved}
            players={session.everybody(solved)}
            take={(edge) => show({ state: game.next[edge], roll: null })}
          />
        )}
        {node === null && !over && (
          <div class="scroll">
            <RollsTable state={state} solved={solved} take={(at) => show({ state, roll: at })} />
          </div>
        )}
        <Everybody solved={solved} show={show} />
      </section>
    </div>
  );
}

function RollButtons({ position, show }: { position: Position; show: (position: Position) => void }) {
  const { game } = useSession();
  const { words } = rollsAt(game, position.state);
  if (words.length > MOST_ROLLS) return null;
  return (
    <div class="rolls" role="group" aria-label="roll" style={{ "--count": words.length }}>
      {words.map((text, roll) => (
        <button aria-pressed={roll === position.roll} onClick={() => show({ state: position.state, roll })}>
          {text}
        </button>
      ))}
    </div>
  );
}

function Verdict({ position: { state }, node }: { position: Position; node: number | null }) {
  const session = useSession();
  const { game } = session;
  const { goal, values, perfect } = session.solved.value;
  const worth = (utility: number) => (
    <>
      <b>{shown(game, goal, utility)}</b> {unitOf(game, goal)}
    </>
  );
  let headline = "Before the throw";
  let utility = values.state[state];
  if (node !== null) {
    const edge = perfect.edges![node];
    headline = edge < 0 ? game.end(node) : `Best: ${moveInWords(game, edge)}`;
    utility = values.node[node];
  } else if (game.over[state]) {
    headline = game.ended[game.score[state]];
  }
  return (
    <div class="verdict" aria-live="polite">
      <h2>{headline}</h2>
      <p>
        {worth(utility)}{" "}
        <small>
          {node === null ? game.states[state] : nodeInWords(game, node)}; playing for {inWords(game, goal)}
        </small>
      </p>
    </div>
  );
}
