// The map of all positions: what each is worth, how often it is met, what a player loses there, where two disagree.

import { useMemo } from "preact/hooks";
import { address, go, link } from "../address";
import type { Player } from "../data/game";
import { positionToWords } from "../data/positions";
import { goalToWords, lossShown, percent, shown, unitOf } from "../exact/goals";
import { differ, expectedOfStates, visitsOfStates } from "../exact/states";
import { GoalPicker } from "../parts/GoalPicker";
import { PlayerPicker } from "../parts/PlayerPicker";
import { StateMap } from "../parts/StateMap";
import { useSession } from "../session";

interface Shade {
  words: string;
  colour: string;
  numbers: Float64Array;
  power: number; // of the share of the greatest number; less than 1 shows small ones, too
  least: number; // what is palest
  text: (number: number) => string;
}

const SHADES = {
  value: "what it is worth",
  visits: "how often it is met",
  loss: "what is lost there",
  differ: "where two disagree",
};
const IN_TABLE = 15;

export function Map() {
  const session = useSession();
  const { game } = session;
  const solved = session.solved.value;
  const { words } = address.value;
  const everybody = session.everybody(solved);
  const named = (name: string | undefined, usual: Player) => everybody.find((player) => player.name === name) ?? usual;
  const [player, other] = [named(words.player, everybody[1] ?? everybody[0]), named(words.other, everybody[0])];
  const by = words.by in SHADES ? (words.by as keyof typeof SHADES) : "value";
  const met = useMemo(() => visitsOfStates(game, session.visits(solved.perfect)), [solved]);
  const shade = useMemo(() => shadeOf(), [solved, by, player, other]);
  const selected = game.over[session.position.value.state] ? game.start : session.position.value.state;
  const set = (changes: Record<string, string>, state = selected) => {
    const asked = { by, player: player.name, other: other.name, ...changes };
    go("map", { ...asked, ...positionToWords(game, { state, roll: null }), ...goalToWords(game, solved.goal) }, true);
  };
  const most = game.states.reduce(
    (high, _, state) => (game.over[state] ? high : Math.max(high, shade.numbers[state])),
    -Infinity,
  );
  const strength = shade.numbers.map(
    (number) => Math.max(0, (number - shade.least) / (most - shade.least || 1)) ** shade.power,
  );
  const says = (state: number) => `${game.states[state]}: ${shade.text(shade.numbers[state])}`;
  const ranked = game.states
    .map((_, state) => state)
    .filter((state) => !game.over[state] && shade.numbers[state] > shade.least);
  ranked.sort((one, another) => shade.numbers[another] - shade.numbers[one]);
  return (
    <div class="main">
      <h2>All positions before a throw</h2>
      <div class="fields">
        <div class="segments" role="group" aria-label="coloured by">
          {Object.entries(SHADES).map(([name, text]) => (
            <button aria-pressed={name === by} onClick={() => set({ by: name })}>
              {text}
            </button>
          ))}
        </div>
        {by !== "value" && (
          <PlayerPicker
            label={by === "differ" ? "of" : "by"}
            players={everybody}
            chosen={player}
            choose={(name) => set({ player: name })}
          />
        )}
        {by === "differ" && (
          <PlayerPicker label="and" players={everybody} chosen={other} choose={(name) => set({ other: name })} />
        )}
      </div>
      <GoalPicker />
      <div class="columns wide">
        <section class="card" aria-label="the map">
          <p class="caption">
            {shade.words}: the stronger the colour, the {by === "value" ? "better" : "more"}. A column for every number
            of points so far, from {game.points[0]} to {game.points.at(-1)}; the lower, the more often perfect play
            comes there.
          </p>
          <StateMap
            label="all positions; the arrows lead from one to the next"
            strength={strength}
            colour={shade.colour}
            order={met}
            selected={selected}
            select={(state) => set({}, state)}
            says={says}
          />
          <p class="picked" aria-live="polite">
            <b>{game.states[selected]}</b> {shade.text(shade.numbers[selected])}{" "}
            <a
              href={link("board", {
                ...positionToWords(game, { state: selected, roll: null }),
                ...goalToWords(game, solved.goal),
              })}
            >
              look at it
            </a>
          </p>
        </section>
        <section class="card" aria-label="the same as a table">
          <table class="words">
            <caption>
              {ranked.length > IN_TABLE ? `The first ${IN_TABLE} of ${ranked.length}` : `${ranked.length} positions`}:{" "}
              {shade.words}
            </caption>
            <tbody>
              {ranked.slice(0, IN_TABLE).map((state) => (
                <tr>
                  <th scope="row">
                    <button onClick={() => set({}, state)}>{game.states[state]}</button>
                  </th>
                  <td class="number">{shade.text(shade.numbers[state])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </div>
    </div>
  );

  function shadeOf(): Shade {
    const { goal, values } = solved;
    const losses = session.losses(solved, player);
    switch (by) {
      case "value": {
        const least = Math.min(...values.state.filter((_, state) => !game.over[state]));
        return {
          words: unitOf(game, goal),
          colour: "--accent",
          numbers: values.state,
          power: 1,
          least,
          text: (value) => shown(game, goal, value),
        };
      }
      case "visits": {
        const numbers = visitsOfStates(game, session.visits(player));
        return {
          words: `met in a turn of ${player.name}`,
          colour: "--luck",
          numbers,
          power: 0.3,
          least: 0,
          text: percent,
        };
      }
      case "loss": {
        const numbers = expectedOfStates(game, (node) => losses[node]);
        const text = (loss: number) => (loss ? `loses ${lossShown(goal, loss)}` : "loses nothing");
        return {
          words: `lost by ${player.name} with the next throw`,
          colour: "--choice",
          numbers,
          power: 0.5,
          least: 0,
          text,
        };
      }
      case "differ": {
        const numbers = expectedOfStates(game, differ(game, player, other));
        return {
          words: `the chance that ${player.name} and ${other.name} move differently`,
          colour: "--luck",
          numbers,
          power: 0.6,
          least: 0,
          text: percent,
        };
      }
    }
  }
}
