// The player's statistics of this game.

import { lossShown } from "../exact/goals";
import { Head } from "../parts/Head";
import { useSession } from "../session";
import { rowOf } from "../statistics";
import { today } from "./game";

const LISTED = 14; // days

export function StatisticsPanel() {
  const { game, statistics } = useSession();
  const { turns, points, perfect, coached, luck, lost, rounds, won, asked, streak, longest, answers, days } =
    statistics.tally.value;
  if (turns + asked === 0) return null;
  const rows: [string, string | number][] = [];
  if (turns > 0) rows.push(["turns", turns], ["mean score", (points / turns).toFixed(2)], ["perfect scores", perfect]);
  if (coached > 0) rows.push(["luck in a turn", mean(luck, coached)], ["choices in a turn", mean(-lost, coached)]);
  if (rounds > 0) rows.push(["won against others", `${won} of ${rounds}`]);
  if (days.length > 0) rows.push(["dice of the day in a row", rowOf(days, today())]);
  if (asked > 0) {
    const right = answers.reduce((sum, answer) => sum + answer, 0);
    const rating = `${Math.round((100 * right) / answers.length)}% of the last ${answers.length}`;
    rows.push(["drill: right", rating], ["drill: right in a row", `${streak}, at most ${longest}`]);
  }
  return (
    <section class="card statistics" aria-labelledby="statistics">
      <h3 id="statistics">Your statistics</h3>
      <dl>
        {rows.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {days.length > 0 && (
        <details>
          <summary>Dice of the day: {days.length === 1 ? "1 day" : `${days.length} days`}</summary>
          <table>
            <Head columns={[["day"], ["points", "number"], ["choices cost", "number"]]} />
            <tbody>
              {days
                .slice(-LISTED)
                .reverse()
                .map(({ day, points, lost }) => (
                  <tr>
                    <th scope="row">{day}</th>
                    <td class="number">{points}</td>
                    <td class="number">{lossShown({ kind: "score" }, lost)}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </details>
      )}
      <p>
        <small>
          Plus is good for you. {coached > 0 && "Luck and choices are in points. "}They are kept in this browser only.
        </small>{" "}
        <button
          class="link"
          onClick={() => {
            if (confirm(`Delete your statistics of ${game.introduction}?`)) statistics.reset();
          }}
        >
          reset
        </button>
      </p>
    </section>
  );
}

function mean(sum: number, turns: number): string {
  const text = (sum / turns).toFixed(2);
  return Number(text) > 0 ? `+${text}` : text.replace("-", Number(text) < 0 ? "−" : "");
}
