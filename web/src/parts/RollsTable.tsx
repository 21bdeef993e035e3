// A table of the rolls that may come next, with their chances, values and best moves.

import { moveInWords, stateOf, rollsAt } from "../data/game";
import { percent, shown, unitOf } from "../exact/goals";
import type { Solved } from "../exact/solved";
import { useSession } from "../session";
import { Head } from "./Head";

const FEW = 36; // rolls that stay in their own order; more are sorted by value

interface Props {
  afterstate: number;
  solved: Solved;
  take: (roll: number) => void;
}

export function RollsTable({ afterstate, solved, take }: Props) {
  const { game } = useSession();
  const { words, counts, total } = rollsAt(game, afterstate);
  const { goal, values, perfect } = solved;
  const valueOf = (roll: number) => values.state[stateOf(game, afterstate, roll)];
  const rolls = words.map((_, roll) => roll);
  if (words.length > FEW) rolls.sort((one, other) => valueOf(other) - valueOf(one));
  return (
    <table>
      <caption>
        What every roll would be worth: {unitOf(game, goal)}
        {words.length > FEW && ", the best first"}
      </caption>
      <Head columns={[["roll"], ["chance", "number"], ["worth", "number"], ["best move"]]} />
      <tbody>
        {rolls.map((at) => {
          const state = stateOf(game, afterstate, at);
          return (
            <tr>
              <th scope="row">
                <button onClick={() => take(at)}>{words[at]}</button>
              </th>
              <td class="number">{percent(counts[at] / total)}</td>
              <td class="number">{shown(game, goal, values.state[state])}</td>
              <td>{perfect.pairs![state] < 0 ? game.end(state) : moveInWords(game, perfect.pairs![state])}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
