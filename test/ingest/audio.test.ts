/** WAV files, well and badly formed, and what the classical feature makes of sounds. */
import { test } from "tap";
import { AUDIO_DIMENSIONS, audioFeature } from "../../src/ingest/audio/audio-feature.js";
import { isWav, readWav, SoundError } from "../../src/ingest/audio/wav.js";
import { type WavForm, wav } from "./wav-writer.js";

const SECONDS = 1;
const tone =
  (hertz: number, loud = 0.5) =>
  (at: number) =>
    loud * Math.sin(2 * Math.PI * hertz * at);
/** Overtones up to 4 kHz, so that it is the same at every rate. */
const buzz =
  (hertz: number, loud = 0.4) =>
  (at: number) => {
    let sum = 0;
    for (let n = 1; n * hertz < 4000; n++) sum += Math.sin(2 * Math.PI * n * hertz * at) / n;
    return (loud * sum) / 2;
  };
let state = 1;
const hiss = () => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return 0.3 * (state / 2 ** 31 - 1);
};

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
const featureOf = (sound: (at: number) => number, form: WavForm = {}) =>
  audioFeature(readWav(wav(sound, SECONDS, form)));

test("all forms of PCM are the same sound", (t) => {
  const expected = readWav(wav(tone(440), SECONDS, { bits: 32, float: true }));
  t.equal(expected.samples.length, 16_000);
  for (const form of [
    { bits: 8 },
    { bits: 16 },
    { bits: 24 },
    { bits: 32 },
    { bits: 64, float: true },
    { bits: 16, channels: 2 },
    { bits: 16, extensible: true },
  ]) {
    const bytes = wav(tone(440), SECONDS, form);
    t.ok(isWav(bytes));
    const { rate, samples } = readWav(bytes);
    t.equal(rate, 16_000);
    const worst = samples.reduce((most, x, i) => Math.max(most, Math.abs(x - expected.samples[i]!)), 0);
    t.ok(worst < (form.bits === 8 ? 0.01 : 1e-4), `${JSON.stringify(form)} differs by ${worst}`);
  }
  t.end();
});

test("what is no sound", (t) => {
  const good = wav(tone(440), SECONDS);
  const cases: [Uint8Array, RegExp][] = [
    [good.subarray(0, 40), /cut off|no sound/],
    [good.subarray(0, good.length - 100), /cut off/],
    [wav(tone(440), 0), /empty/],
    [wav(tone(440), SECONDS, { bits: 12 }), /12 bits/],
    [wav(tone(440), SECONDS, { channels: 0 }), /0 channels/],
    [wav(tone(440), 601, { rate: 1000, bits: 8 }), /longer than 600/],
  ];
  for (const [bytes, expected] of cases) {
    try {
      readWav(bytes);
      t.fail("it was read");
    } catch (error) {
      t.ok(error instanceof SoundError);
      t.match((error as Error).message, expected);
    }
  }
  t.notOk(isWav(Buffer.from("RIFFxxxxAVI ")));
  t.end();
});

test("near vectors are like sounds", (t) => {
  const first = featureOf(buzz(120));
  t.equal(first.length, AUDIO_DIMENSIONS);
  t.ok(Math.abs(cosine(first, first) - 1) < 1e-5, "of length 1");
  const others = {
    quieter: featureOf(buzz(120, 0.1)),
    "at 44.1 kHz": featureOf(buzz(120), { rate: 44_100 }),
    "a little higher": featureOf(buzz(130)),
  };
  const [whistle, noise] = [featureOf(tone(2500)), featureOf(hiss)];
  const far = Math.max(cosine(first, whistle), cosine(first, noise));
  for (const [name, other] of Object.entries(others)) {
    t.ok(cosine(first, other) > far + 0.15, `${name}: ${cosine(first, other)}, others ${far}`);
  }
  const silence = featureOf(() => 0);
  t.ok(silence.every(Number.isFinite));
  t.end();
});
