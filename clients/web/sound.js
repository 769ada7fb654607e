// A short sound with every ply, made here: no file is loaded.

import { settings } from "./settings.js";

/** @type {AudioContext | null} */
let audio = null;

/** A click, if the person wants sounds. Browsers allow it once something on the page was pressed. */
export function tick() {
  if (!settings.sound) return;
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume().catch(() => {});
  const now = audio.currentTime;
  const [tone, loudness] = [audio.createOscillator(), audio.createGain()];
  tone.frequency.value = 420;
  loudness.gain.setValueAtTime(0.12, now);
  loudness.gain.exponentialRampToValueAtTime(0.001, now + 0.09);
  tone.connect(loudness).connect(audio.destination);
  tone.start(now);
  tone.stop(now + 0.1);
}
