// A short introduction of the game, and buttons for the kinds of games and the opponents to begin with.

import { lossShown } from "../exact/goals";
import { useSession } from "../session";
import { rowOf } from "../statistics";
import { anySeed, dayOf, seedOfToday, today, type Setup } from "./game";

export function Start({ setup, begin }: { setup: Setup; begin: (changes: Partial<Setup>) => void }) {
  const { game, statistics } = useSession();
  const dice = game.dice[game.start];
  const { days } = statistics.tally.value;
  const played = days.find(({ day }) => day === today());
  const row = rowOf(days, today());
  const kinds: [string, boolean, () => Partial<Setup>][] = [
    ["Any dice", setup.own === null && dayOf(setup.seed) === null, () => ({ own: null, seed: anySeed() })],
    [
      "Dice of the day",
      setup.own === null && setup.seed === seedOfToday(),
      () => ({ own: null, against: null, seed: seedOfToday() }),
    ],
    ["Your own dice", setup.own !== null, () => ({ own: [], seed: anySeed() })],
  ];
  return (
    <div class="start">
      <p>
        Roll {dice === 1 ? "1 die" : `${dice} dice`}, choose a move, roll again: end with the {game.best} points you
        can.
      </p>
      <div class="segments" role="group" aria-label="kind of game">
        {kinds.map(([words, on, changes]) => (
          <button aria-pressed={on} onClick={() => begin({ played: [], ...changes() })}>
            {words}
          </button>
        ))}
      </div>
      <Opponents against={setup.against} choose={(against) => begin({ played: [], against, seed: anySeed() })} />
      {row > 0 && (
        <p>
          <small>
            {played
              ? `You played the dice of today: ${played.points} points. `
              : "You did not play the dice of today. "}
            {row === 1 ? "1 day" : `${row} days`} in a row.
          </small>
        </p>
      )}
    </div>
  );
}

// The opponents: the weakest, a middling and the strongest of those that lose anything, and perfect play.
function Opponents({ against, choose }: { against: string | null; choose: (name: string | null) => void }) {
  const session = useSession();
  const { game } = session;
  const solved = session.solve({ kind: "score" });
  const worse = game.players
    .map((player) => ({ name: player.name, regret: session.judged(solved, player).regret }))
    .filter(({ regret }) => regret > 0)
    .sort((one, other) => other.regret - one.regret);
  const places = new Set([0, Math.floor((worse.length - 1) / 2), worse.length - 1]);
  const shown = [...worse.filter((_, place) => places.has(place)), { name: game.optimum.name, regret: 0 }];
  return (
    <div>
      <span class="label" aria-hidden="true">
        against
      </span>
      <div class="segments" role="group" aria-label="opponent">
        <button aria-pressed={against === null} onClick={() => choose(null)}>
          nobody
        </button>
        {shown.map(({ name, regret }) => (
          <button class="two" aria-pressed={against === name} onClick={() => choose(name)}>
            {name === game.optimum.name ? "perfect play" : name}{" "}
            <span>{regret ? `loses ${lossShown(solved.goal, regret)} a turn` : "loses nothing"}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
