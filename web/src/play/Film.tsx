// A turn, shown throw by throw: of an opponent, or of a game that is replayed.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { moveInWords, rollsAt, takenBy, type Game, type Position } from "../data/game";
import { Felt, TUMBLE_MS } from "../parts/Felt";
import { still } from "../parts/screen";
import { useSession } from "../session";
import type { Step, Turn } from "./game";

// Every step has three frames: the dice tumble, the dice have fallen, and the move is made.
const [FRAMES, LIE, MADE] = [3, 1, 2];
const PAUSE_MS = [TUMBLE_MS, 800, 900];

interface Reel {
  frame: number;
  last: number;
  show: (frame: number) => void;
}

// Advance through the frames of a turn while `running`.
export function useReel({ steps }: Turn, from: number, running: boolean, ended: () => void): Reel {
  const at = useSignal(from);
  const last = FRAMES * steps.length;
  const frame = Math.min(at.value, last); // `from` may be beyond the last
  useEffect(() => {
    if (!running) return;
    if (frame === last) return ended();
    const next = still.value && frame % FRAMES === MADE ? frame + FRAMES - MADE + LIE : frame + 1;
    const timer = setTimeout(() => (at.value = Math.min(next, last)), PAUSE_MS[frame % FRAMES]);
    return () => clearTimeout(timer);
  }, [frame, running]);
  return { frame, last, show: (wanted) => (at.value = Math.max(LIE, Math.min(last, wanted))) };
}

interface FilmProps {
  title: string;
  turn: Turn;
  frame: number;
  note?: (step: Step) => ComponentChildren;
  buttons: ComponentChildren;
  children?: ComponentChildren;
}

export function Film({ title, turn, frame, note, buttons, children }: FilmProps) {
  const { game } = useSession();
  const { steps, end } = turn;
  const index = Math.floor(frame / FRAMES);
  const step = steps[index];
  const made = step !== undefined && frame % FRAMES === MADE && step.pair >= 0;
  const position: Position = { afterstate: end, roll: null };
  if (step) position.afterstate = made ? game.next[step.pair] : step.afterstate;
  if (step && !made) position.roll = step.state - game.stateStart[step.afterstate];
  const tumbling = step !== undefined && frame % FRAMES === 0 && !still.value;
  return (
    <div class="columns">
      <section class="side" aria-label="the board">
        <Felt
          position={position}
          faces={position.roll === null ? undefined : step?.faces}
          tumbling={tumbling}
          kept={steps.slice(0, made ? index + 1 : index).flatMap(({ pair }) => takenBy(game, pair))}
        >
          {buttons}
        </Felt>
      </section>
      <section class="main" aria-label="the turn">
        <div class="verdict">
          <h2>{title}</h2>
        </div>
        <Steps steps={steps} shown={frame} note={note} />
        {children}
      </section>
    </div>
  );
}

// A list of the throws and moves of a turn up to the frame `shown`.
export function Steps({ steps, shown = Infinity, note }: { steps: Step[]; shown?: number; note?: FilmProps["note"] }) {
  const { game } = useSession();
  return (
    <ol class="steps" aria-live="polite">
      {steps.map((step, index) => {
        const frame = shown - FRAMES * index;
        if (frame < LIE) return null;
        return (
          <li>
            {rollInWords(game, step)}
            {frame >= MADE && (
              <>
                : <b>{step.pair >= 0 ? moveInWords(game, step.pair) : game.end(step.state)}</b> {note?.(step)}
              </>
            )}
          </li>
        );
      })}
    </ol>
  );
}

export function rollInWords(game: Game, { afterstate, state }: Step): string {
  return `roll ${rollsAt(game, afterstate).words[state - game.stateStart[afterstate]]}`;
}
