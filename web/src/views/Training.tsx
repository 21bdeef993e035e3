// Trainings on one axis of steps: their regret, and their mistakes at the step of the slider.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, go, whole } from "../address";
import type { Run } from "../data/game";
import { goalFromWords, unitOf } from "../exact/goals";
import { Badge } from "../parts/Badge";
import { PlayerPicker } from "../parts/PlayerPicker";
import { latest, RegretChart, regretShown } from "../parts/RegretChart";
import { countShown } from "../parts/scales";
import { useSession } from "../session";
import { Mistakes } from "../training/Mistakes";

const NOBODY = { name: "nothing", colour: "", dashes: [] };
const FIRST_SHOWN = 0.3; // the measurement to begin with, as a share of all
const PAUSE = 600; // milliseconds between two measurements

export function Training() {
  const { game } = useSession();
  const { words } = address.value;
  const named = (name: string | undefined) => game.runs.find((run) => run.name === name);
  const run = named(words.run) ?? game.runs[0];
  const beside =
    named(words.beside) ?? (words.beside === undefined ? game.runs.find((other) => other !== run) : undefined);
  const runs = beside && beside !== run ? [run, beside] : [run];
  const all = [...new Set(runs.flatMap(({ steps }) => steps))].sort((one, other) => one - other);
  const asked = whole(words.step, all[Math.round(FIRST_SHOWN * (all.length - 1))]);
  const at = latest(all, asked);
  const step = all[at];
  const set = (changes: Record<string, string>) =>
    go("training", { run: run.name, beside: runs[1]?.name ?? NOBODY.name, step: `${step}`, ...changes }, true);
  const playing = useSignal(false);
  useEffect(() => {
    if (!playing.value) return;
    if (at === all.length - 1) playing.value = false;
    const timer = setTimeout(() => set({ step: `${all[at + 1]}` }), PAUSE);
    return () => clearTimeout(timer);
  }, [playing.value, step]);
  const play = () => {
    playing.value = !playing.value;
    if (at === all.length - 1) set({ step: `${all[0]}` });
  };
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
        {runs.map((each) => (
          <p class="summary">
            <Badge look={each} /> loses <b>{regretShown(each.regret[latest(each.steps, step)])}</b> after{" "}
            {countShown(each.steps[latest(each.steps, step)])} steps
          </p>
        ))}
        <RegretChart
          room={1060}
          lines={runs}
          cursor={step}
          pick={(steps) => set({ step: `${steps}` })}
          counted="steps"
          unit={unitsOf(runs)}
        />
        <div class="player">
          <button class="plain first" onClick={play}>
            {playing.value ? "pause" : "play"}
          </button>
          <span>
            after <b>{countShown(step)}</b> steps
          </span>
        </div>
      </section>
      <div class="columns even">
        {runs.map((each) => (
          <Mistakes key={each.name} run={each} at={latest(each.steps, step)} />
        ))}
      </div>
    </div>
  );

  function unitsOf(shown: Run[]): string {
    const units = shown.map(({ objective }) => unitOf(game, goalFromWords(game, { for: objective })));
    return [...new Set(units)].join("; ");
  }
}
