// Trainings: a slider through the measurements, the mistakes that are left, and a map of where they lie.

import { useMemo } from "preact/hooks";
import { address, go, link } from "../address";
import { moveInWords, nodeInWords, positionOf, type Player, type Run } from "../data/game";
import { positionToWords } from "../data/positions";
import { goalFromWords, goalToWords, lossShown, unitOf } from "../exact/goals";
import { lossOf } from "../exact/sweep";
import { visitsOfStates } from "../exact/states";
import { Badge } from "../parts/Badge";
import { PlayerPicker } from "../parts/PlayerPicker";
import { RegretChart, regretShown, stepsShown } from "../parts/RegretChart";
import { StateMap } from "../parts/StateMap";
import { useSession } from "../session";

const LISTED = 8;
const DECADES = 5; // from the palest mistakes to the dearest of the beginning
const NOBODY = { name: "nothing", colour: "", dashes: [] };

export function Training() {
  const { game } = useSession();
  const { words } = address.value;
  const named = (name: string | undefined) => game.runs.find((run) => run.name === name);
  const run = named(words.run) ?? game.runs[0];
  const beside =
    named(words.beside) ?? (words.beside === undefined ? game.runs.find((other) => other !== run) : undefined);
  const runs = beside && beside !== run ? [run, beside] : [run];
  const share = Math.min(1, Math.max(0, Number(words.at ?? 0.3) || 0)); // how far through the trainings one looks
  const at = runs.map((each) => Math.round(share * (each.steps.length - 1)));
  const set = (changes: Record<string, string>) =>
    go("training", { run: run.name, beside: runs[1]?.name ?? NOBODY.name, at: `${share}`, ...changes }, true);
  return (
    <div class="main">
      <div class="fields">
        <PlayerPicker label="the training" players={game.runs} chosen={run} choose={(name) => set({ run: name })} />
        {game.runs.length > 1 && (
          <PlayerPicker
            label="beside"
            players={[NOBODY, ...game.runs.filter((other) => other !== run)]}
            chosen={runs[1] ?? NOBODY}
            choose={(name) => set({ beside: name })}
          />
        )}
      </div>
      <section class="card" aria-labelledby="regret">
        <h2 id="regret">How much is lost against perfect play</h2>
        {runs.map((each, place) => (
          <p class="told">
            <Badge look={each} /> loses <b>{regretShown(each.regret[at[place]])}</b> after{" "}
            {stepsShown(each.steps[at[place]])} steps
          </p>
        ))}
        <RegretChart runs={runs} at={at} />
        <label class="wide">
          <span>when</span>
          <input
            type="range"
            min="0"
            max={run.steps.length - 1}
            value={at[0]}
            aria-valuetext={`after ${stepsShown(run.steps[at[0]])} steps`}
            onInput={(event) =>
              set({ at: (Number(event.currentTarget.value) / Math.max(1, run.steps.length - 1)).toFixed(4) })
            }
          />
        </label>
      </section>
      <div class="columns even">
        {runs.map((each, place) => (
          <Mistakes key={each.name} run={each} at={at[place]} />
        ))}
      </div>
    </div>
  );
}

function Mistakes({ run, at }: { run: Run; at: number }) {
  const session = useSession();
  const { game } = session;
  const solved = session.solve(goalFromWords(game, { for: run.objective }));
  const player = run.player(at);
  const { mistakes } = session.judged(solved, player);
  const met = useMemo(() => visitsOfStates(game, session.visits(solved.perfect)), [solved]);
  const cost = costs(player);
  const most = Math.max(...costs(run.player(0)), 1e-12); // the same colour means the same throughout a training
  const strength = cost.map((lost) => (lost ? Math.min(1, Math.max(0.15, 1 + Math.log10(lost / most) / DECADES)) : 0));
  const to = (node: number) =>
    link("board", { ...positionToWords(game, positionOf(game, node)), ...goalToWords(game, solved.goal) });
  const lost = (state: number) =>
    `${game.states[state]}: ${cost[state] ? `costs ${lossShown(solved.goal, cost[state])}` : "no mistake"}`;
  const dearest = mistakes[0] ? game.nodeState[mistakes[0].node] : game.start;
  return (
    <section class="card" aria-label={`the mistakes of ${run.name}`}>
      <h3>
        <Badge look={run} /> <small>{mistakes.length} mistakes</small>
      </h3>
      <StateMap
        label={`where ${run.name} loses; the arrows lead from one position to the next`}
        strength={strength}
        colour="--choice"
        order={met}
        selected={session.position.value.state === game.start ? dearest : session.position.value.state}
        select={(state) =>
          go("training", { ...address.value.words, ...positionToWords(game, { state, roll: null }) }, true)
        }
        says={lost}
      />
      <table class="stacked words">
        <caption>The dearest, by what they cost in a turn ({unitOf(game, solved.goal)})</caption>
        <thead>
          <tr>
            <th scope="col">position</th>
            <th scope="col" class="number">
              costs
            </th>
            <th scope="col">it plays</th>
          </tr>
        </thead>
        <tbody>
          {mistakes.slice(0, LISTED).map(({ node, plays, best, cost: each }) => (
            <tr>
              <th scope="row">
                <a href={to(node)}>{nodeInWords(game, node)}</a>
              </th>
              <td class="number">{lossShown(solved.goal, each)}</td>
              <td class="below">
                {moveInWords(game, plays)}, not {moveInWords(game, best)}; <small>{learnt(node)}</small>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );

  function costs(who: Player): Float64Array {
    const sums = new Float64Array(game.states.length);
    for (const mistake of session.judged(solved, who).mistakes) sums[game.nodeState[mistake.node]] += mistake.cost;
    return sums;
  }

  // When the mistake was made for the last time.
  function learnt(node: number): string {
    let last = run.steps.length - 1;
    while (last >= 0 && right(run.player(last).edges![node], node)) last--;
    return last === run.steps.length - 1 ? "not learnt" : `learnt after ${stepsShown(run.steps[last + 1])} steps`;
  }

  function right(edge: number, node: number): boolean {
    return edge >= 0 && lossOf(game, solved.values, edge, node) === 0;
  }
}
