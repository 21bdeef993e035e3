// A replay of a game, step by step, with the coach's comment on every move.

import { useSignal } from "@preact/signals";
import { moveInWords } from "../data/game";
import { lossShown, signed } from "../exact/goals";
import { useSession } from "../session";
import { Account } from "./Account";
import type { Event } from "./events";
import { Film, useReel } from "./Film";
import type { Played, Step } from "./game";

interface Props {
  title: string;
  played: Played;
  events: Event[];
  leaving: string; // the words of the button that leaves
  leave: (seen: boolean) => void; // whether more than the first throw was shown
}

export function Replay({ title, played: { mine, solved }, events, leaving, leave }: Props) {
  const { game } = useSession();
  const running = useSignal(false);
  const { frame, last, show } = useReel(mine, 1, running.value, () => (running.value = false));
  const toggle = () => {
    if (frame === last) show(1);
    running.value = !running.value;
  };
  const by = (frames: number) => {
    running.value = false;
    show(frame + frames);
  };
  const note = (step: Step) => {
    const indices = events.flatMap(({ state }, at) => (state === step.state ? [at] : []));
    const choice = events[indices[0]];
    if (!choice) return null;
    const lost = choice.before - choice.after;
    const best = moveInWords(game, solved.perfect.pairs![step.state]);
    const luck = events[indices[0] - 1];
    return (
      <small class={choice.grade}>
        luck {signed(solved.goal, luck.after - luck.before)};{" "}
        {lost === 0 ? "best" : `loses ${lossShown(solved.goal, lost)}, best was ${best}`}
      </small>
    );
  };
  return (
    <Film
      title={title}
      turn={mine}
      frame={frame}
      note={note}
      buttons={
        <>
          <button disabled={frame <= 1} onClick={() => by(frame % 3 === 1 ? -2 : -1)}>
            back
          </button>
          <button class="first" onClick={toggle}>
            {running.value ? "pause" : "play"}
          </button>
          <button disabled={frame === last} onClick={() => by(frame % 3 === 2 ? 2 : 1)}>
            step
          </button>
        </>
      }
    >
      <div class="choices">
        <button class="plain" onClick={() => leave(frame > 1)}>
          {leaving}
        </button>
      </div>
      {frame === last && events.length > 0 && <Account events={events} goal={solved.goal} />}
    </Film>
  );
}
