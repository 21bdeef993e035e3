// The account of a game: the sums of luck and choices, every step, and the number of mistakes of each grade.

import { AccountChart } from "./AccountChart";
import { GRADES, shown, signed, unitOf, type Goal, type Grade } from "../exact/goals";
import { Head } from "../parts/Head";
import { useSession } from "../session";
import { inWordsOf, mistakesOf, type Event } from "./events";

const CALLED: Record<Grade, [string, string]> = {
  best: ["best move", "best moves"],
  slight: ["slight mistake", "slight mistakes"],
  mistake: ["mistake", "mistakes"],
  blunder: ["blunder", "blunders"],
};

export function Account({ events, goal }: { events: Event[]; goal: Goal }) {
  const { game } = useSession();
  const [dice, choices] = inWordsOf(goal, events, "you", "your");
  const counts = GRADES.map((grade) => [grade, events.filter((event) => event.grade === grade).length] as const);
  return (
    <section class="card account" aria-labelledby="account">
      <h3 id="account">What luck and your choices were worth</h3>
      <p>
        The game began at {shown(game, goal, events[0].before)} {unitOf(game, goal)}.{" "}
        <span class="key luck">{dice}</span>, <span class="key choice">{choices}</span>.
      </p>
      <AccountChart events={events} goal={goal} />
      <p>
        {counts
          .filter(([, count]) => count > 0)
          .map(([grade, count]) => `${count} ${count === 1 ? CALLED[grade][0] : CALLED[grade][1]}`)
          .join(", ")}
        {counts[0][1] > 1 && mistakesOf(events).length === 0 && ": perfect play"}
      </p>
      <details>
        <summary>Step by step</summary>
        <table class="words">
          <Head columns={[["step"], ["luck", "number"], ["choice", "number"], ["worth after", "number"]]} />
          <tbody>
            {events.map(({ kind, words, before, after, grade }) => (
              <tr class={grade}>
                <th scope="row">{words}</th>
                <td class="number">{kind === "luck" ? signed(goal, after - before) : ""}</td>
                <td class="number">
                  {kind === "choice" ? (after === before ? "best" : signed(goal, after - before)) : ""}
                </td>
                <td class="number">{shown(game, goal, after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}
