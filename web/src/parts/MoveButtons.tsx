// Buttons of the legal moves, without their values.

import { pairsOf, moveInWords } from "../data/game";
import { useSession } from "../session";
import { useLostFocus } from "./focus";

interface Props {
  state: number;
  meant?: number[]; // the pairs to choose from; by default all
  take: (pair: number) => void;
}

export function MoveButtons({ state, meant, take }: Props) {
  const { game } = useSession();
  const group = useLostFocus<HTMLDivElement>(`${state}`);
  return (
    <div class="choices moves" role="group" aria-label="your move" ref={group}>
      {(meant ?? pairsOf(game, state)).map((pair) => (
        <button class="plain first" onClick={() => take(pair)}>
          {moveInWords(game, pair)}
        </button>
      ))}
    </div>
  );
}
