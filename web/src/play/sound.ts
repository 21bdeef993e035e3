// The sound of dice: knocks that get rarer and softer. It is off until the visitor switches it on.

import { signal } from "@preact/signals";
import { stored } from "../statistics";

const KEY = "stb-gym:sound";
const KNOCKS_MS = [0, 50, 110, 190, 300];
const [LENGTH_S, FADES_PER_S] = [0.05, 120];

export const sound = signal(stored((storage) => storage.getItem(KEY)) === "on");
let context: AudioContext | undefined; // which browsers allow only after a click

export function switchSound(on: boolean) {
  sound.value = on;
  stored((storage) => storage.setItem(KEY, on ? "on" : "off"));
}

export function rattle() {
  if (!sound.value) return;
  context ??= new AudioContext();
  const rate = context.sampleRate;
  const knock = context.createBuffer(1, LENGTH_S * rate, rate);
  const wave = knock.getChannelData(0);
  for (let at = 0; at < wave.length; at++) wave[at] = (2 * Math.random() - 1) * Math.exp((-FADES_PER_S * at) / rate);
  KNOCKS_MS.forEach((delay, number) => {
    const [source, volume] = [context!.createBufferSource(), context!.createGain()];
    source.buffer = knock;
    volume.gain.value = 0.4 / (1 + number);
    source.connect(volume).connect(context!.destination);
    source.start(context!.currentTime + delay / 1000);
  });
}
