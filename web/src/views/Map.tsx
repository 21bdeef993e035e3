// The map of all positions, coloured by value, visits, loss of a player, or disagreement of two players.

import { useMemo } from "preact/hooks";
import { address, go } from "../address";
import type { Player } from "../data/game";
import { positionToWords } from "../data/positions";
import { goalToWords } from "../exact/goals";
import { visitsOfAfterstates } from "../exact/afterstates";
import { shadeOf, SHADES, strengthOf, ticksOf } from "../map/shades";
import { GoalPicker } from "../parts/GoalPicker";
import { Legend } from "../parts/Legend";
import { PlayerPicker } from "../parts/PlayerPicker";
import { AfterstateMap } from "../parts/AfterstateMap";
import { useSession } from "../session";

const IN_TABLE = 15;

export function Map() {
  const session = useSession();
  const { game } = session;
  const solved = session.solved.value;
  const { words } = address.value;
  const everybody = session.everybody(solved);
  const named = (name: string | undefined, usual: Player) => everybody.find((player) => player.name === name) ?? usual;
  const [player, other] = [named(words.player, everybody[1] ?? everybody[0]), named(words.other, everybody[0])];
  const by = Object.hasOwn(SHADES, words.by ?? "") ? (words.by as keyof typeof SHADES) : "value";
  const met = useMemo(() => visitsOfAfterstates(game, session.visits(solved.perfect)), [solved]);
  const shade = useMemo(() => shadeOf(session, solved, by, player, other), [solved, by, player, other]);
  const selected = game.over[session.position.value.afterstate] ? game.start : session.position.value.afterstate;
  const set = (changes: Record<string, string>, afterstate = selected) => {
    const asked = { by, player: player.name, other: other.name, ...changes };
    go(
      "map",
      { ...asked, ...positionToWords(game, { afterstate, roll: null }), ...goalToWords(game, solved.goal) },
      true,
    );
  };
  const unfinished = game.afterstates.map((_, afterstate) => afterstate).filter((afterstate) => !game.over[afterstate]);
  const ranked = unfinished.filter((afterstate) => shade.numbers[afterstate] > shade.smallest);
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
      <section class="card" aria-label="the map">
        <Legend hue={shade.hue} title={shade.words} ticks={ticksOf(shade, unfinished)} none={shade.none} />
        <AfterstateMap
          label="all positions; the arrows lead from one to the next"
          width={1104}
          strength={shade.numbers.map(strengthOf(shade, unfinished))}
          hue={shade.hue}
          order={met}
          selected={selected}
          select={(afterstate) => set({}, afterstate)}
          says={(afterstate) => shade.text(shade.numbers[afterstate])}
          goal={solved.goal}
        />
      </section>
      <section class="card" aria-label="the same as a table">
        <table class="words">
          <caption>
            {ranked.length > IN_TABLE ? `The first ${IN_TABLE} of ${ranked.length}` : `${ranked.length} positions`}:{" "}
            {shade.words}
          </caption>
          <tbody>
            {ranked.slice(0, IN_TABLE).map((afterstate) => (
              <tr>
                <th scope="row">
                  <button onClick={() => set({}, afterstate)}>{game.afterstates[afterstate]}</button>
                </th>
                <td class="number">{shade.text(shade.numbers[afterstate])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}
