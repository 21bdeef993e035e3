// A table of a player's costliest mistakes, with links to the positions in the analysis.

import { link } from "../address";
import { moveInWords, stateInWords, positionOf } from "../data/game";
import { positionToWords } from "../data/positions";
import { goalToWords, lossShown, unitOf } from "../exact/goals";
import type { Mistake } from "../exact/judging";
import type { Solved } from "../exact/solved";
import { useSession } from "../session";
import { Head } from "./Head";

const LISTED = 8;

interface Props {
  mistakes: Mistake[];
  solved: Solved;
  note?: (state: number) => string;
}

export function MistakeTable({ mistakes, solved: { goal }, note }: Props) {
  const { game } = useSession();
  const to = (state: number) =>
    link("board", { ...positionToWords(game, positionOf(game, state)), ...goalToWords(game, goal) });
  return (
    <table class="stacked words">
      <caption>The costliest, by what they cost in a turn ({unitOf(game, goal)})</caption>
      <Head columns={[["position"], ["costs", "number"], ["it plays"]]} />
      <tbody>
        {mistakes.slice(0, LISTED).map(({ state, plays, best, cost }) => (
          <tr>
            <th scope="row">
              <a href={to(state)}>{stateInWords(game, state)}</a>
            </th>
            <td class="number">{lossShown(goal, cost)}</td>
            <td class="below">
              {moveInWords(game, plays)}, not {moveInWords(game, best)}
              {note && <small>; {note(state)}</small>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
