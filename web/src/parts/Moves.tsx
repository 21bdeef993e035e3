// A table of the moves at a state: the value and the loss of each, its chance of perfection, and who makes it.

import { pairsOf, moveInWords, type Player } from "../data/game";
import { gradeOf, isChance, lossShown, percent, shown, unitOf } from "../exact/goals";
import { lossOf, playedAt } from "../exact/sweep";
import type { Solved } from "../exact/solved";
import { useSession } from "../session";
import { Badge } from "./Badge";
import { Head } from "./Head";

interface Props {
  state: number;
  solved: Solved;
  players: Player[];
  chosen?: number; // the player's pair
  take?: (pair: number) => void;
}

export function Moves({ state, solved, players, chosen, take }: Props) {
  const { game } = useSession();
  const { goal, values } = solved;
  const loss = (pair: number) => lossOf(game, values, pair, state);
  const pairs = pairsOf(game, state).sort((one, other) => loss(one) - loss(other) || one - other);
  const largest = Math.max(...pairs.map(loss), 1e-12);
  return (
    <table class="stacked">
      <caption>What every move is worth: {unitOf(game, goal)}</caption>
      <Head
        columns={[
          ["move"],
          [isChance(goal) ? "chance" : "worth", "number"],
          ["loses", "number"],
          [game.perfection, "number"],
          ["who plays it"],
        ]}
      />
      <tbody>
        {pairs.map((pair) => {
          const next = game.next[pair];
          return (
            <tr class={gradeOf(goal, loss(pair))} data-pair={pair}>
              <th scope="row">
                {take ? <button onClick={() => take(pair)}>{moveInWords(game, pair)}</button> : moveInWords(game, pair)}
                {chosen === pair && <small> your move</small>}
              </th>
              <td class="number">{shown(game, goal, values.afterstate[next])}</td>
              <td class="number loss">
                {loss(pair) === 0 ? "best" : lossShown(goal, loss(pair))}
                <i style={{ width: `${(100 * loss(pair)) / largest}%` }} />
              </td>
              <td class="number chance" data-label={game.perfection}>
                {percent(solved.perfection[next])}
              </td>
              <td class="below">
                <Who state={state} pair={pair} players={players} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Who({ state, pair, players }: { state: number; pair: number; players: Player[] }) {
  const { game } = useSession();
  const often = players.map((player) => playedAt(game, player, state).get(pair) ?? 0);
  if (players.length > 2 && often.every((chance) => chance === 1)) return <span class="badge">everybody</span>;
  return (
    <>
      {players.map((player, at) =>
        often[at] > 0 ? <Badge look={player} note={often[at] < 1 ? percent(often[at]) : undefined} /> : null,
      )}
    </>
  );
}
