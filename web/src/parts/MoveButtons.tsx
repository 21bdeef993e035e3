// The moves there are, as buttons, without a word of how good they are.

import { edgesOf, moveInWords } from "../data/game";
import { useSession } from "../session";

export function MoveButtons({ node, take }: { node: number; take: (edge: number, place: number) => void }) {
  const { game } = useSession();
  return (
    <div class="choices" role="group" aria-label="your move">
      {edgesOf(game, node).map((edge, place) => (
        <button class="plain first" onClick={() => take(edge, place)}>
          {moveInWords(game, edge)}
        </button>
      ))}
    </div>
  );
}
