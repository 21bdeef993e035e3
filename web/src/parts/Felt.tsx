// The board: the parts of a position and the dice on felt. With `change`, all of them are buttons.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { facesOf, rollOf, thrown } from "../data/dice";
import { rollsAt, type Part, type Position } from "../data/game";
import { alternatives, changed, everyValue } from "../data/positions";
import { useSession } from "../session";
import { Die } from "./Die";
import type { Keeping } from "./keeping";
import type { Picking } from "./picking";

export const TUMBLE_MS = 400;
const FACE_MS = 70; // until a tumbling die shows another face

interface Props {
  position: Position;
  faces?: number[]; // of the throw; by default the first throw of the roll
  change?: (position: Position) => void;
  tumbling?: boolean; // whether the dice are still rolling
  picking?: Picking | null; // makes the entries of a list, such as the open tiles, buttons that pick a move
  keeping?: Keeping | null; // makes the dice buttons that pick a move
  kept?: number[]; // the faces of the dice that earlier moves took
  children?: ComponentChildren; // more buttons below the dice
}

export function Felt({ position, faces, tumbling, change, picking, keeping, kept = [], children }: Props) {
  const { game } = useSession();
  const toAfterstate = (afterstate: number | null) => {
    if (afterstate !== null) change!({ afterstate, roll: null });
  };
  return (
    <div class="felt">
      {game.taken && <Tray kept={kept} />}
      {game.parts.map((part) =>
        part.listed ? (
          <Tiles part={part} afterstate={position.afterstate} toAfterstate={change && toAfterstate} picking={picking} />
        ) : (
          <Amount part={part} afterstate={position.afterstate} toAfterstate={change && toAfterstate} />
        ),
      )}
      {picking && (
        <p class="why" role="status">
          {picking.refused}
        </p>
      )}
      {!game.over[position.afterstate] && (
        <Dice position={position} faces={faces} tumbling={tumbling} change={change} keeping={keeping} />
      )}
      {children && <div class="buttons">{children}</div>}
    </div>
  );
}

// The dice that earlier moves of the turn took.
function Tray({ kept }: { kept: number[] }) {
  if (!kept.length) return null;
  return (
    <div class="tray" role="img" aria-label={`kept: ${kept.join(" ")}`}>
      {kept.map((face) => (
        <Die face={face} />
      ))}
    </div>
  );
}

interface PartProps {
  part: Part;
  afterstate: number;
  toAfterstate?: (afterstate: number | null) => void;
  picking?: Picking | null;
}

function Tiles({ part, afterstate, toAfterstate, picking }: PartProps) {
  const { game } = useSession();
  const here = part.of[afterstate] as number[];
  const tiles = everyValue(part);
  return (
    <div
      class={tiles.some((tile) => picking?.why(tile) === "") ? "tiles picking" : "tiles"}
      role="group"
      aria-label={part.words}
      style={{ "--count": tiles.length, "--narrow": tiles.length > 9 ? Math.ceil(tiles.length / 2) : tiles.length }}
    >
      {tiles.map((tile) => {
        const open = here.includes(tile);
        const other = open ? here.filter((each) => each !== tile) : [...here, tile].sort((a, b) => a - b);
        const looks = open ? "tile" : "tile shut";
        const name = `tile ${tile}, ${open ? "open" : "shut"}`;
        if (picking) {
          const idle = picking.why(tile) !== "";
          return (
            <button
              class={looks}
              aria-label={name}
              aria-disabled={idle}
              aria-pressed={open ? picking.picked.includes(tile) : undefined}
              tabIndex={idle ? -1 : 0}
              onClick={() => picking.pick(tile)}
            >
              {tile}
            </button>
          );
        }
        if (!toAfterstate) {
          return (
            <span class={looks} role="img" aria-label={name}>
              {tile}
            </span>
          );
        }
        return (
          <button
            class={looks}
            aria-pressed={open}
            onClick={() => toAfterstate(changed(game, afterstate, part, other))}
          >
            {tile}
          </button>
        );
      })}
    </div>
  );
}

function Amount({ part, afterstate, toAfterstate }: PartProps) {
  const { game } = useSession();
  const here = part.of[afterstate] as number;
  const values = everyValue(part);
  if (values.length < 2 || (part.name === "dice" && alternatives(game, part, afterstate).length < 2)) return null;
  const step = (by: number) => {
    const value = values[values.indexOf(here) + by];
    return value === undefined ? null : changed(game, afterstate, part, value);
  };
  return (
    <div class="amount" role="group" aria-label={part.words}>
      {toAfterstate && (
        <button aria-label={`fewer ${part.name}`} disabled={step(-1) === null} onClick={() => toAfterstate(step(-1))}>
          −
        </button>
      )}
      <span>
        <b>{here}</b> {part.name}
      </span>
      {toAfterstate && (
        <button aria-label={`more ${part.name}`} disabled={step(1) === null} onClick={() => toAfterstate(step(1))}>
          +
        </button>
      )}
    </div>
  );
}

function Dice({ position: { afterstate, roll }, faces, tumbling, change, keeping }: Props) {
  const { game } = useSession();
  const random = useSignal<number[]>([]);
  useEffect(() => {
    if (!tumbling) return;
    const turn = () => (random.value = thrown(game, afterstate, Math.random));
    turn();
    const timer = setInterval(turn, FACE_MS);
    return () => clearInterval(timer);
  }, [tumbling]);
  const shown = tumbling ? random.value : (faces ?? (roll === null ? null : facesOf(game, afterstate, roll)));
  const indices = Array.from({ length: game.dice[afterstate] }, (_, index) => index);
  const turned = (index: number) => {
    const before = shown ?? indices.map(() => 1);
    const after = before.map((face, at) => (at === index && shown ? (face % game.faces) + 1 : face));
    return { afterstate, roll: rollOf(game, afterstate, after) };
  };
  const says = (index: number) => (shown ? `die ${index + 1} shows ${shown[index]}` : `die ${index + 1}, not thrown`);
  if (keeping && shown) {
    return (
      <div class="dice" role="group" aria-label={`roll ${rollsAt(game, afterstate).words[roll!]}: which dice?`}>
        {indices.map((index) => (
          <button
            aria-label={says(index)}
            aria-pressed={keeping.picked.includes(index)}
            onClick={() => keeping.pick(index)}
          >
            <Die face={shown[index]} />
          </button>
        ))}
      </div>
    );
  }
  if (!change) {
    return (
      <div
        class={tumbling ? "dice tumbling" : "dice"}
        role="img"
        aria-label={
          tumbling
            ? "the dice roll"
            : roll === null
              ? "dice not thrown"
              : `roll ${rollsAt(game, afterstate).words[roll]}`
        }
      >
        {indices.map((index) => (
          <Die face={shown?.[index] ?? null} />
        ))}
      </div>
    );
  }
  return (
    <div class="dice" role="group" aria-label="dice">
      {indices.map((index) => (
        <button aria-label={says(index)} onClick={() => change(turned(index))}>
          <Die face={shown?.[index] ?? null} />
        </button>
      ))}
    </div>
  );
}
