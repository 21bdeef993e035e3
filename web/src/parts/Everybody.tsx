// The regret of every player and its costliest mistake, with a link to the position.

import { stateInWords, positionOf, type Position } from "../data/game";
import { lossShown, unitOf } from "../exact/goals";
import type { Solved } from "../exact/solved";
import { useSession } from "../session";
import { Badge } from "./Badge";
import { Head } from "./Head";

export function Everybody({ solved, show }: { solved: Solved; show: (position: Position) => void }) {
  const session = useSession();
  const { game } = session;
  const players = session.everybody(solved).slice(1);
  const rows = players.map((player) => ({ player, ...session.judged(solved, player) }));
  rows.sort((one, other) => one.regret - other.regret);
  return (
    <section class="card" aria-labelledby="everybody">
      <h3 id="everybody">How far is everybody from perfect play?</h3>
      <table class="stacked">
        <caption>Lost in a turn on average ({unitOf(game, solved.goal)}), and the mistake that adds most to it</caption>
        <Head columns={[["player"], ["loses", "number"], ["costliest mistake"]]} />
        <tbody>
          {rows.map(({ player, regret, mistakes: [costliest] }) => (
            <tr>
              <th scope="row" title={player.how}>
                <Badge look={player} />
              </th>
              <td class="number">{lossShown(solved.goal, regret)}</td>
              <td class="below">
                {costliest ? (
                  <button class="link" onClick={() => show(positionOf(game, costliest.state))}>
                    {stateInWords(game, costliest.state)}
                  </button>
                ) : (
                  "none"
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
