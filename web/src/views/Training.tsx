// Trainings: a slider through the measurements, the mistakes that are left, and a map of where they lie.

import { address, go } from "../address";
import { Badge } from "../parts/Badge";
import { PlayerPicker } from "../parts/PlayerPicker";
import { useSession } from "../session";
import { Mistakes } from "../training/Mistakes";
import { RegretChart, regretShown, stepsShown } from "../training/RegretChart";

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
