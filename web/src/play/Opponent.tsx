// A replay of the opponent's turn.

import type { Turn } from "./game";
import { Film, useReel } from "./Film";

export function Opponent({ name, turn, ended }: { name: string; turn: Turn; ended: () => void }) {
  const { frame } = useReel(turn, 0, true, ended);
  return (
    <Film
      title={`${name} plays`}
      turn={turn}
      frame={frame}
      buttons={
        <button class="first" onClick={ended}>
          skip
        </button>
      }
    />
  );
}
