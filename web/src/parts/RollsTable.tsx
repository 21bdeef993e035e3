// A table of the rolls that may come next, with their chances, values and best moves; with `sum`, written as a sum.

import { moveInWords, stateOf, rollsAt } from "../data/game";
import { percent, shown, unitOf } from "../exact/goals";
import type { Solved } from "../exact/solved";
import { useSession } from "../session";
import { Head } from "./Head";

export const FEW = 36; // rolls that stay in their own order; more are sorted by value

interface Props {
  afterstate: number;
  solved: Solved;
  sum?: boolean; // whether to show the products of chances and values, and their sum
  take: (roll: number) => void;
}

export function RollsTable({ afterstate, solved, sum, take }: Props) {
  const { game } = useSession();
  const { words, counts, total } = rollsAt(game, afterstate);
  const { goal, values, perfect } = solved;
  const valueOf = (roll: number) => values.state[stateOf(game, afterstate, roll)];
  const rolls = words.map((_, roll) => roll);
  if (words.length > FEW) rolls.sort((one, other) => valueOf(other) - valueOf(one));
  const chance = (roll: number) => (sum ? `${counts[roll]}/${total}` : percent(counts[roll] / total));
  const worth = (roll: number) => shown(game, goal, valueOf(roll));
  return (
    <table class={sum ? "stacked" : undefined}>
      <caption>
        What every roll would be worth: {unitOf(game, goal)}
        {words.length > FEW && ", the best first"}
      </caption>
      <Head
        columns={[
          ["roll"],
          ...((sum
            ? [
                ["chance × worth", "number"],
                ["adds", "number"],
              ]
            : [
                ["chance", "number"],
                ["worth", "number"],
              ]) as [string, "number"][]),
          ["best move"],
        ]}
      />
      <tbody>
        {rolls.map((at) => {
          const state = stateOf(game, afterstate, at);
          return (
            <tr>
              <th scope="row">
                <button onClick={() => take(at)}>{words[at]}</button>
              </th>
              <td class="number">{sum ? `${chance(at)} × ${worth(at)}` : chance(at)}</td>
              <td class="number">{sum ? shown(game, goal, (counts[at] / total) * values.state[state]) : worth(at)}</td>
              <td class="below">
                {perfect.pairs![state] < 0 ? game.end(state) : moveInWords(game, perfect.pairs![state])}
              </td>
            </tr>
          );
        })}
      </tbody>
      {sum && (
        <tfoot>
          <tr>
            <th scope="row">sum</th>
            <td />
            <td class="number">
              <b>{shown(game, goal, values.afterstate[afterstate])}</b>
            </td>
            <td class="below" />
          </tr>
        </tfoot>
      )}
    </table>
  );
}
