/** Sounds of all forms as models of speech want them. The compressed ones: fixtures/make_fixtures.py. */
import { readFileSync } from "node:fs";
import t from "tap";
import { Resampler } from "../../src/ingest/audio/resampler.js";
import { SPEECH_RATE, type SpeechSound } from "../../src/ingest/audio/speech-sound.js";
import { speechSoundOf } from "../../src/ingest/media/speech-sound-of.js";
import { PROJECT } from "../../src/protocol/places.js";
import { wav } from "./wav-writer.js";

const sine = (hertz: number) => (at: number) => 0.5 * Math.sin(2 * Math.PI * hertz * at);
const fixture = (name: string) => readFileSync(new URL(`test/ingest/fixtures/${name}`, PROJECT));
const read = (bytes: Uint8Array, secondsMax = 600) => speechSoundOf({ bytes, ffmpeg: "no-such-program", secondsMax });

function samplesOf({ parts }: SpeechSound): number[] {
  return parts.flatMap((part) => [...part].map((x) => x / 0x8000));
}

/** How much of a tone is in a sound: its amplitude. Away from the ends, where filters and encoders begin and end. */
function amplitude(samples: ArrayLike<number>, hertz: number, rate = SPEECH_RATE): number {
  const [from, to] = [Math.round(0.1 * rate), Math.floor(samples.length / rate) * rate - Math.round(0.1 * rate)];
  let [re, im] = [0, 0];
  for (let i = from; i < to; i++) {
    re += samples[i]! * Math.cos((2 * Math.PI * hertz * i) / rate);
    im += samples[i]! * Math.sin((2 * Math.PI * hertz * i) / rate);
  }
  return (2 * Math.hypot(re, im)) / (to - from);
}

t.test("another rate, the same tone", async (t) => {
  for (const rate of [8000, 11_025, 22_050, 44_100, 48_000, 96_000]) {
    const resampler = new Resampler(rate, SPEECH_RATE);
    const old = Float32Array.from({ length: 2 * rate }, (_, i) => sine(1000)(i / rate));
    // In pieces of any size.
    const pieces = [old.subarray(0, 7), old.subarray(7, 1000), old.subarray(1000, 1001), old.subarray(1001)];
    const made = [...pieces.map((piece) => resampler.push(piece)), resampler.end()].flatMap((some) => [...some]);
    t.equal(made.length, 2 * SPEECH_RATE, `${rate}`);
    const middle = made.slice(1600, -1600);
    const worst = middle.reduce((most, x, i) => Math.max(most, Math.abs(x - sine(1000)((i + 1600) / SPEECH_RATE))), 0);
    t.ok(worst < 1e-3, `${rate}: differs by ${worst}`);
    const whole = new Resampler(rate, SPEECH_RATE);
    const again = [...whole.push(old), ...whole.end()];
    t.ok(again.length === made.length && again.every((x, i) => x === made[i]), "however it comes");
  }
  // 10 kHz is above what 16 kHz can hold: it must not come back as 6 kHz.
  const resampler = new Resampler(48_000, SPEECH_RATE);
  const high = Float32Array.from({ length: 96_000 }, (_, i) => sine(10_000)(i / 48_000));
  const made = [...resampler.push(high), ...resampler.end()];
  t.ok(amplitude(made, 6000) < 1e-3, "what is too high is filtered out");
});

t.test("each form", async (t) => {
  for (const name of ["tone.mp3", "tone.flac", "tone.ogg", "tone.opus"]) {
    const sound = await read(fixture(name));
    const samples = samplesOf(sound);
    t.equal(samples.length, sound.samples);
    t.notOk(sound.isCut);
    t.ok(Math.abs(samples.length / SPEECH_RATE - 1) < 0.1, `${name}: ${samples.length / SPEECH_RATE} s`);
    t.ok(
      Math.abs(amplitude(samples.concat(Array(SPEECH_RATE).fill(0)).slice(0, SPEECH_RATE), 1000) - 0.5) < 0.05,
      name,
    );
    for (const other of [500, 2000, 3000])
      t.ok(amplitude(samples.concat(Array(1600).fill(0)), other) < 0.01, `${name} ${other}`);
  }
  for (const form of [{ bits: 8 }, { bits: 24, rate: 44_100, channels: 2 }, { bits: 32, float: true, rate: 8000 }]) {
    const sound = await read(wav(sine(1000), 2, form));
    t.equal(sound.samples, 2 * SPEECH_RATE);
    t.ok(Math.abs(amplitude(samplesOf(sound), 1000) - 0.5) < 0.01, JSON.stringify(form));
    for (const part of sound.parts) t.ok(part.buffer instanceof SharedArrayBuffer);
  }
});

t.test("what is broken or cut off", async (t) => {
  for (const name of ["tone.mp3", "tone.flac", "tone.ogg", "tone.opus"]) {
    const whole = fixture(name);
    await t.rejects(read(whole.subarray(0, whole.length / 2)), { code: "file_corrupt" }, `${name}, cut off`);
    const noise = Buffer.from(whole);
    for (let i = 64; i < noise.length; i++) noise[i] = (i * 7919) & 0xff;
    await t.rejects(read(noise), { code: "file_corrupt" }, `${name}, overwritten`);
  }
  const cut = wav(sine(1000), 1);
  await t.rejects(read(cut.subarray(0, 1000)), { code: "file_corrupt", message: /cut off/ });
  await t.rejects(read(wav(sine(1000), 0)), { code: "file_corrupt" });
  await t.rejects(read(wav(sine(1000), 1, { rate: 1999 })), { code: "file_corrupt", message: /1999 samples/ });
  const other = [Buffer.from("FORM....AIFF nobody reads this"), wav(sine(1000), 1, { bits: 12 })];
  for (const bytes of other) {
    await t.rejects(read(bytes), { code: "program_not_installed", message: /ffmpeg/ });
  }
});

t.test("no more than is wanted is kept, however long it is", async (t) => {
  const rate = 8000;
  const long = await read(
    wav(() => 0.1, 200, { rate, bits: 8 }),
    70,
  );
  t.match(long, { samples: 70 * SPEECH_RATE, isCut: true });
  t.equal(long.parts.length, 2);
  t.match(
    await read(
      wav(() => 0.1, 70, { rate, bits: 8 }),
      70,
    ),
    { samples: 70 * SPEECH_RATE, isCut: false },
  );
  let looks = 0;
  const stop = new Error("enough");
  const checkTime = () => {
    if (++looks === 3) throw stop;
  };
  const job = { bytes: wav(() => 0.1, 200, { rate, bits: 8 }), ffmpeg: "", secondsMax: 600, checkTime };
  await t.rejects(speechSoundOf(job), stop);
});
