// The moves there are, as buttons, without a word of how good they are.

import { edgesOf, moveInWords } from "../data/game";
import { useSession } from "../session";
import { useLostFocus } from "./focus";

interface Props {
  node: number;
  meant?: number[]; // the edges to choose from; by default all
  take: (edge: number) => void;
}

export function MoveButtons({ node, meant, take }: Props) {
  const { game } = useSession();
  const group = useLostFocus<HTMLDivElement>(`${node}`);
  return (
    <div class="choices moves" role="group" aria-label="your move" ref={group}>
      {(meant ?? edgesOf(game, node)).map((edge) => (
        <button class="plain first" onClick={() => take(edge)}>
          {moveInWords(game, edge)}
        </button>
      ))}
    </div>
  );
}
