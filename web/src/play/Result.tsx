// What perfect play makes of the dice of a finished game, and how the game compares with all turns of perfect play.

import type { Goal } from "../exact/goals";
import { isChance, lossShown } from "../exact/goals";
import { scoreChances } from "../exact/sweep";
import { useSession } from "../session";
import { totals, type Event } from "./events";
import type { Played } from "./game";

export function Result({ played: { mine, ideal, solved } }: { played: Played }) {
  const session = useSession();
  const { game } = session;
  const score = game.scoreIndex[mine.end];
  const chances = scoreChances(game, session.visits(solved.perfect));
  const worse = chances.subarray(score + 1).reduce((sum, chance) => sum + chance, 0);
  return (
    <p>
      {!ideal.waiting && (
        <>
          With your dice perfect play got <b>{game.points[game.scoreIndex[ideal.end]]}</b>.{" "}
        </>
      )}
      {game.points[score]} is better than <b>{Number((100 * worse).toPrecision(2))}%</b> of perfect turns.
    </p>
  );
}

// Return the loss of a game's choices: "lost 6.55 points".
export function lossInWords(goal: Goal, events: Event[]): string {
  const { choice } = totals(events);
  return choice === 0 ? "lost nothing" : `lost ${lossShown(goal, -choice)}${isChance(goal) ? "" : " points"}`;
}
