// Every roll that may come next, with its chance, its worth and the best move.

import { moveInWords, nodeOf, rollsAt } from "../data/game";
import { percent, shown, unitOf } from "../exact/goals";
import type { Solved } from "../exact/solved";
import { useSession } from "../session";
import { Head } from "./Head";

const FEW = 36; // rolls are told in their own order, more by what they are worth

interface Props {
  state: number;
  solved: Solved;
  take: (roll: number) => void;
}

export function RollsTable({ state, solved, take }: Props) {
  const { game } = useSession();
  const { words, counts, total } = rollsAt(game, state);
  const { goal, values, perfect } = solved;
  const worth = (roll: number) => values.node[nodeOf(game, state, roll)];
  const rolls = words.map((_, roll) => roll);
  if (words.length > FEW) rolls.sort((one, other) => worth(other) - worth(one));
  return (
    <table>
      <caption>
        What every roll would be worth: {unitOf(game, goal)}
        {words.length > FEW && ", the best first"}
      </caption>
      <Head columns={[["roll"], ["chance", "number"], ["worth", "number"], ["best move"]]} />
      <tbody>
        {rolls.map((at) => {
          const node = nodeOf(game, state, at);
          return (
            <tr>
              <th scope="row">
                <button onClick={() => take(at)}>{words[at]}</button>
              </th>
              <td class="number">{percent(counts[at] / total)}</td>
              <td class="number">{shown(game, goal, values.node[node])}</td>
              <td>{perfect.edges![node] < 0 ? game.end(node) : moveInWords(game, perfect.edges![node])}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
