// Play a game, alone or against an opponent, with a coach. The account shows the effect of luck and of choices.

import { signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { address, go, type Words } from "../address";
import { pairsOf, moveInWords, takenBy, type Game } from "../data/game";
import { everyValue } from "../data/positions";
import { goalToWords, inWords, lossShown, perfectIndex } from "../exact/goals";
import { Felt, TUMBLE_MS } from "../parts/Felt";
import { useLostFocus } from "../parts/focus";
import { GoalPicker } from "../parts/GoalPicker";
import { MoveButtons } from "../parts/MoveButtons";
import { useKeeping } from "../parts/keeping";
import { usePicking } from "../parts/picking";
import { Quiz } from "../parts/Quiz";
import { still } from "../parts/screen";
import { Account } from "../play/Account";
import { eventsOf, mistakesOf, resultOf, type Event } from "../play/events";
import { Confetti } from "../play/Confetti";
import { rollInWords, Steps } from "../play/Film";
import {
  anySeed,
  dayOf,
  isEntered,
  nameOf,
  play,
  seedOfToday,
  setupFromWords,
  setupToWords,
  share,
  today,
  type Played,
  type Setup,
} from "../play/game";
import { Keys } from "../play/Keys";
import { Opponent } from "../play/Opponent";
import { OwnDice } from "../play/OwnDice";
import { Replay } from "../play/Replay";
import { lossInWords, Result } from "../play/Result";
import { SetupForm } from "../play/SetupForm";
import { Share } from "../play/Share";
import { Start } from "../play/Start";
import { rattle, sound, switchSound } from "../play/sound";
import { StatisticsPanel } from "../play/StatisticsPanel";
import { useSession } from "../session";
import { countGame } from "../statistics";

const current = signal<Words>({}); // the address of the game, for the way back from other views

export function Play() {
  const session = useSession();
  const { game } = session;
  const words = address.value.words.seed ? address.value.words : { ...current.value, ...address.value.words };
  const otherwise = useMemo(anySeed, [words.seed === undefined]);
  const asked = setupFromWords(game, words, otherwise);
  // A replay of the dice of today is a challenge until they are played.
  const spoils =
    asked.seed === seedOfToday() && !session.statistics.tally.value.days.some(({ day }) => day === today());
  const replaying = words.replay && !(spoils && asked.own === null);
  if (words.replay && !replaying) Object.assign(asked, { challenge: asked.played, played: [] });
  const { seed, against, second, coach } = asked;
  const own = isEntered(asked) ? asked.own : null;
  const name = [seed, against, second, asked.own !== null].join(); // identifies the game, without its moves
  const thrown = useSignal({ name: "", throws: 0 });
  const tumbling = useSignal(false);
  const faces = useSignal<number[]>([]); // entered so far of the player's own dice
  const hinted = useSignal<string | null>(null);
  const helped = useSignal<string | null>(null); // the game in which the player had a hint or took a move back
  const retried = useSignal<string | null>(null);
  const watched = useSignal<string | null>(null);
  const compared = useSignal<string | null>(null); // the game after which that of the challenger is shown

  const thrownSoFar = thrown.value.name === name ? thrown.value.throws : 0;
  const fallen = tumbling.value ? thrownSoFar - 1 : thrownSoFar; // tumbling dice show nothing yet
  const throws = replaying ? Infinity : Math.max(fallen, asked.played.length);
  const played = play(session, asked, words, throws);
  const { mine, theirs, over, solved } = played;
  const events = eventsOf(game, played, second);
  const mistakes = mistakesOf(events);
  const other = asked.challenge && play(session, { ...asked, played: asked.challenge }, words);
  const others = other && eventsOf(game, other, second);
  const last = mine.steps.at(-1);
  const chosen = asked.played.slice(0, mine.steps.filter(({ pair }) => pair >= 0).length);
  const setup = { ...asked, played: chosen };
  const here = `${name} ${chosen.join(".")}`;

  const asWords = (asked: Setup) => ({
    ...setupToWords(asked),
    ...(asked.against === null ? goalToWords(game, session.goal.value) : {}),
  });
  const set = (changes: Partial<Setup>, quietly = false) => {
    current.value = setupToWords({ ...setup, ...changes });
    go("play", asWords({ ...setup, ...changes }), quietly);
  };
  const act = (changes: Partial<Setup>, allowed: number) => {
    const asked = { ...setup, ...changes };
    const next = play(session, asked, words, allowed);
    thrown.value = { name, throws: allowed };
    faces.value = [];
    if (next.over && helped.value !== name) {
      const day = seed === seedOfToday() && asked.own === null && against === null ? today() : null;
      countGame(session.statistics, own ? here : name, resultOf(game, next, second, day));
    }
    set(changes, changes.played === undefined);
  };
  const begin = (changes: Partial<Setup>) => {
    thrown.value = { name: "", throws: 0 };
    set(changes);
  };
  const tumble = () => {
    rattle();
    tumbling.value = !still.value;
    setTimeout(() => (tumbling.value = false), TUMBLE_MS);
  };
  const roll = () => {
    if (tumbling.value) return;
    act({}, chosen.length + 1);
    tumble();
  };
  const enter = (face: number) => {
    if (face > game.faces) return;
    faces.value = [...faces.value, face];
    if (faces.value.length === game.dice[mine.end]) act({ own: [...own!.slice(0, chosen.length), faces.value] }, 0);
  };
  const take = (pair: number) => act({ played: [...chosen, pair - game.pairStart[last!.state]] }, chosen.length + 1);
  const enteredLast = own?.length === chosen.length + 1; // whether the last entry is a throw, not a move
  const takeBack = () => {
    if (faces.value.length) return void (faces.value = faces.value.slice(0, -1));
    if (enteredLast) return set({ own: own!.slice(0, chosen.length) });
    helped.value = name;
    thrown.value = { name, throws: chosen.length };
    set({ played: chosen.slice(0, -1) });
  };
  const again = () => begin({ played: [] });
  const another = () => begin({ played: [], challenge: null, seed: anySeed(), own: own && [] });
  const hint = () => {
    helped.value = name;
    hinted.value = here;
  };

  const titleOf = ({ mine, over }: Played) =>
    `Replay: ${over ? game.points[game.scoreIndex[mine.end]] : "a game that was not finished"}`;
  const choosing = mine.waiting === "choice";
  const begun = second ? chosen.length === 0 : over;
  const watching = theirs && begun && watched.value !== here && !still.value && !replaying;
  const mayRoll = mine.waiting === "throw" && own === null && !watching;
  const mayTakeBack = chosen.length + faces.value.length > 0 || enteredLast;
  const asleep = mine.waiting === "throw" ? "Roll the dice first." : "The turn is over.";
  const tiles = game.parts.filter(({ listed }) => listed).flatMap(everyValue);
  const picking = usePicking(mine.end, choosing ? last!.state : null, asleep, take);
  const keeping = useKeeping(choosing ? last!.state : null, last?.faces ?? []);
  const rollButton = useLostFocus<HTMLButtonElement>(mayRoll && here);

  const notice = chosen.length < asked.played.length && (
    <p class="notice" role="status">
      This link names a move that the game does not have: played={words.played}; shown is the game up to it.
    </p>
  );

  if (retried.value === here) {
    return (
      <section aria-label="your mistakes again">
        <p>
          <button class="link" onClick={() => (retried.value = null)}>
            back to the game
          </button>
        </p>
        <Quiz solved={solved} draw={(asked) => mistakes[asked]?.state ?? null} />
      </section>
    );
  }
  if (watching) {
    return <Opponent name={nameOf(game, against!)} turn={theirs!} ended={() => (watched.value = here)} />;
  }
  if (other && compared.value === here) {
    const leave = () => (compared.value = null);
    return <Replay title={titleOf(other)} played={other} events={others!} leaving="back to your game" leave={leave} />;
  }
  if (replaying) {
    const leave = (seen: boolean) => {
      if (seen) helped.value = name;
      again();
    };
    return (
      <>
        {notice}
        <Replay
          title={titleOf(played)}
          played={played}
          events={events}
          leaving="play these dice yourself"
          leave={leave}
        />
      </>
    );
  }
  const unplayed = last === undefined;
  const moveButtons = choosing ? ((picking ?? keeping)?.meant ?? pairsOf(game, last!.state)) : [];
  const onTable = last !== undefined && mine.end === last.afterstate; // whether no move followed the last throw
  const position = { afterstate: mine.end, roll: onTable ? last.state - game.stateStart[last.afterstate] : null };
  const perfect = over && game.scoreIndex[mine.end] <= perfectIndex(game);
  return (
    <div class="columns three">
      <section class={perfect ? "side perfect" : "side"} aria-label="the game">
        <Felt
          position={position}
          faces={onTable ? last.faces : faces.value}
          tumbling={tumbling.value}
          picking={picking}
          keeping={keeping}
          kept={mine.steps.flatMap(({ pair }) => takenBy(game, pair))}
        >
          {mayRoll && (
            <button class="roll" ref={rollButton} aria-disabled={tumbling.value} onClick={roll}>
              Roll
            </button>
          )}
          {choosing && <button onClick={hint}>hint</button>}
          {mayTakeBack && <button onClick={takeBack}>take back</button>}
        </Felt>
        {perfect && <Confetti />}
      </section>
      <section class="main" aria-label="your move">
        {notice}
        <Headline
          setup={setup}
          played={played}
          tumbling={tumbling.value}
          challenge={others && chosen.length === 0 ? lossInWords(other!.solved.goal, others) : null}
        />
        {over && <Result played={played} />}
        {over && others && (
          <p>
            You <b>{lossInWords(solved.goal, events)}</b>, the challenger {lossInWords(other!.solved.goal, others)}.
          </p>
        )}
        {coach === "during" && <Comment events={events} played={played} />}
        {own && mine.waiting === "throw" && <OwnDice dice={game.dice[mine.end]} entered={faces.value} enter={enter} />}
        {choosing && <MoveButtons state={last!.state} meant={moveButtons} take={take} />}
        {choosing && hinted.value === here && (
          <p aria-live="polite">
            Hint: <b>{moveInWords(game, solved.perfect.pairs![last!.state])}</b> is best.
          </p>
        )}
        {over && (
          <div class="choices">
            <button class="plain first" onClick={another}>
              new game
            </button>
            <button class="plain" onClick={again}>
              same dice again
            </button>
            {others && (
              <button class="plain" onClick={() => (compared.value = here)}>
                watch the challenger
              </button>
            )}
            <Share
              setup={setup}
              played={played}
              events={events}
              words={asWords({ ...setup, played: [], challenge: chosen })}
            />
            {coach !== "never" && mistakes.length > 0 && (
              <button class="plain" onClick={() => (retried.value = here)}>
                retry my mistakes
              </button>
            )}
          </div>
        )}
        {over && helped.value === name && (
          <p>
            <small>
              It does not count in your statistics: you had a hint, took a move back or saw these dice before.
            </small>
          </p>
        )}
        {unplayed && !other && <Start setup={setup} begin={begin} />}
        {coach !== "never" && (over || (coach === "during" && chosen.length > 0)) && (
          <Account events={events} goal={solved.goal} />
        )}
        {theirs && (
          <details open={over || unplayed}>
            <summary>{nameOf(game, against!)}, throw by throw</summary>
            <Steps steps={theirs.steps} />
          </details>
        )}
      </section>
      <section class="side" aria-label="what is played">
        <details>
          <summary>Opponent, coach, goal and seed</summary>
          <div class="side">
            <SetupForm setup={setup} set={(changes) => (changes.played ? begin(changes) : set(changes))} />
            {against === null && <GoalPicker />}
          </div>
        </details>
        {chosen.length > 0 && !over && (
          <p>
            <button class="link" onClick={another}>
              new game
            </button>
          </p>
        )}
        <Keys
          keys={[
            { key: "r", words: "roll", press: mayRoll ? roll : undefined },
            {
              key: "Enter",
              words: "make the move that is left",
              press: moveButtons.length === 1 ? () => take(moveButtons[0]) : undefined,
            },
            { key: "u", words: "take back", press: mayTakeBack ? takeBack : undefined },
            { key: "h", words: "hint", press: choosing ? hint : undefined },
            { key: "n", words: "new game", press: chosen.length > 0 || over ? another : undefined },
          ]}
          number={picking ? `pick a tile${tiles.length > 9 ? "; A is 10, B is 11, C is 12" : ""}` : "go to a move"}
          enterNumber={(number) => {
            if (own && mine.waiting === "throw") enter(number);
            else if (tiles.includes(number)) picking!.pick(number);
            else document.querySelectorAll<HTMLElement>(".moves button")[number - 1]?.focus();
          }}
        />
        <label>
          <input type="checkbox" checked={sound.value} onChange={() => switchSound(!sound.value)} /> sound of dice
        </label>
        <StatisticsPanel />
      </section>
    </div>
  );
}

interface HeadlineProps {
  setup: Setup;
  played: Played;
  tumbling: boolean;
  challenge: string | null; // what the challenger lost, before the first move
}

function Headline({ setup, played, tumbling, challenge }: HeadlineProps) {
  const { seed, own, against } = setup;
  const { game } = useSession();
  const { mine, theirs, over, solved } = played;
  const ended = useLostFocus<HTMLHeadingElement>(over);
  const last = mine.steps.at(-1);
  const day = own ? null : dayOf(seed);
  let words = last ? "Roll again" : "Your turn";
  if (challenge) words = `${challenge[0].toUpperCase()}${challenge.slice(1)} with these dice. You?`;
  if (tumbling) words = "Rolling …";
  else if (over) words = outcome(game, played);
  else if (isEntered(setup) && mine.waiting === "throw") words = "Your own dice";
  else if (last && mine.waiting === "choice") words = `You ${rollInWords(game, last).replace("roll", "rolled")}`;
  return (
    <div class="verdict" aria-live="polite">
      <h2 ref={ended} tabIndex={-1}>
        {words}
      </h2>
      <p>
        <small>
          {challenge && "A challenge: you get the same dice, and see the other game after yours. "}
          {day && `Dice of the day ${day}. `}
          {over && theirs && `${game.ended[game.scoreIndex[mine.end]]} `}
          {theirs && `${nameOf(game, against!)} ended with ${game.points[game.scoreIndex[theirs.end]]}. `}
          {!over && `You play ${against === null ? `for ${inWords(game, solved.goal)}` : "to win"}.`}
          {over && last && !game.over[mine.end] && game.end(last.state)}
        </small>
      </p>
    </div>
  );
}

function outcome(game: Game, { mine, theirs }: Played): string {
  if (!theirs) return game.ended[game.scoreIndex[mine.end]];
  return { 1: "You win", 0.5: "A tie", 0: "You lose" }[share(game, mine, theirs)]!;
}

// The coach's comment on the last choice.
function Comment({ events, played: { solved } }: { events: Event[]; played: Played }) {
  const { game } = useSession();
  const choice = events.filter(({ kind }) => kind === "choice").at(-1);
  if (!choice) return null;
  const lost = choice.before - choice.after;
  return (
    <p class={`comment ${choice.grade}`} aria-live="polite">
      {choice.words}:{" "}
      {lost === 0
        ? "best"
        : `loses ${lossShown(solved.goal, lost)}; best was ${moveInWords(game, solved.perfect.pairs![choice.state!])}`}
    </p>
  );
}
