// Every move at a node: what it is worth and loses, what chance of perfection it leaves, and who makes it.

import { edgesOf, moveInWords, type Player } from "../data/game";
import { gradeOf, isChance, lossShown, percent, shown, unitOf } from "../exact/goals";
import { lossOf, playedAt } from "../exact/sweep";
import type { Solved } from "../exact/solved";
import { useSession } from "../session";
import { Badge } from "./Badge";
import { Head } from "./Head";

interface Props {
  node: number;
  solved: Solved;
  players: Player[];
  chosen?: number; // the edge that the player chose
  take?: (edge: number) => void;
}

export function Moves({ node, solved, players, chosen, take }: Props) {
  const { game } = useSession();
  const { goal, values } = solved;
  const loss = (edge: number) => lossOf(game, values, edge, node);
  const edges = edgesOf(game, node).sort((one, other) => loss(one) - loss(other) || one - other);
  const most = Math.max(...edges.map(loss), 1e-12);
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
        {edges.map((edge) => {
          const next = game.next[edge];
          return (
            <tr class={gradeOf(goal, loss(edge))} data-edge={edge}>
              <th scope="row">
                {take ? <button onClick={() => take(edge)}>{moveInWords(game, edge)}</button> : moveInWords(game, edge)}
                {chosen === edge && <small> your move</small>}
              </th>
              <td class="number worth">{shown(game, goal, values.state[next])}</td>
              <td class="number loss">
                {loss(edge) === 0 ? "best" : lossShown(goal, loss(edge))}
                <i style={{ width: `${(100 * loss(edge)) / most}%` }} />
              </td>
              <td class="number chance" data-label={game.perfection}>
                {percent(solved.perfection[next])}
              </td>
              <td class="below">
                <Who node={node} edge={edge} players={players} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Who({ node, edge, players }: { node: number; edge: number; players: Player[] }) {
  const { game } = useSession();
  const often = players.map((player) => playedAt(game, player, node).get(edge) ?? 0);
  if (players.length > 2 && often.every((chance) => chance === 1)) return <span class="badge">everybody</span>;
  return (
    <>
      {players.map((player, at) =>
        often[at] > 0 ? <Badge look={player} note={often[at] < 1 ? percent(often[at]) : undefined} /> : null,
      )}
    </>
  );
}
