// A short introduction of the game, and buttons for the kinds of games to begin.

import { useSession } from "../session";
import { anySeed, dayOf, seedOfToday, type Setup } from "./game";

export function Start({ setup, begin }: { setup: Setup; begin: (changes: Partial<Setup>) => void }) {
  const { game } = useSession();
  const dice = game.dice[game.start];
  const { optimum } = game;
  const alone = { against: null, own: null };
  const kinds: [string, boolean, () => Partial<Setup>][] = [
    [
      "Play alone",
      setup.against === null && setup.own === null && dayOf(setup.seed) === null,
      () => ({ ...alone, seed: anySeed() }),
    ],
    [
      "Beat the perfect player",
      setup.against === optimum.name,
      () => ({ ...alone, against: optimum.name, second: false, seed: anySeed() }),
    ],
    ["Dice of the day", setup.seed === seedOfToday(), () => ({ ...alone, seed: seedOfToday() })],
    ["Your own dice", setup.own !== null, () => ({ own: [], seed: anySeed() })],
  ];
  return (
    <div class="start">
      <p>
        Roll {dice === 1 ? "1 die" : `${dice} dice`}, choose a move, roll again: end with the {game.best} points you
        can. The game is solved: every number here is exact.
      </p>
      <div class="segments" role="group" aria-label="kind of game">
        {kinds.map(([words, on, changes]) => (
          <button aria-pressed={on} onClick={() => begin({ played: [], ...changes() })}>
            {words}
          </button>
        ))}
      </div>
    </div>
  );
}
