/** What the bands of a window are, compared with another program's (fixtures/make_fixtures.py). */
import { readFileSync } from "node:fs";
import t from "tap";
import { LogMel, RATE, WINDOW_FRAMES } from "../../../src/ai/speech/log-mel.js";
import { PROJECT } from "../../../src/protocol/places.js";

interface Fixture {
  readonly cases: readonly {
    readonly seconds: number;
    readonly frames: readonly { readonly frame: number; readonly values: readonly number[] }[];
  }[];
}

const BANDS = 80;

function sound(seconds: number): Float32Array {
  return Float32Array.from({ length: seconds * RATE }, (_, i) => {
    const at = i / RATE;
    const rising = 0.2 * Math.sin(2 * Math.PI * (200 + 50 * at) * at);
    return 0.4 * Math.sin(2 * Math.PI * 440 * at) + rising + 0.05 * Math.sin(2 * Math.PI * 5000 * at + 1);
  });
}

t.test("as another program computes them", async (t) => {
  const text = readFileSync(new URL("test/ai/speech/fixtures/log-mel.json", PROJECT), "utf8");
  const mel = new LogMel(BANDS);
  for (const { seconds, frames } of (JSON.parse(text) as Fixture).cases) {
    const features = mel.of(sound(seconds));
    t.equal(features.length, BANDS * WINDOW_FRAMES);
    for (const { frame, values } of frames) {
      const differences = values.map((value, band) => Math.abs(value - features[band * WINDOW_FRAMES + frame]!));
      const worst = Math.max(...differences);
      t.ok(worst < 1e-3, `${seconds} s, frame ${frame}: differs by ${worst}`);
    }
  }
});

t.test("silence, and what is shorter than a frame", async (t) => {
  const mel = new LogMel(BANDS);
  for (const length of [0, 1, 100, 400]) {
    const features = mel.of(new Float32Array(length));
    t.ok(features.every((x) => x === features[0]));
    t.ok(mel.of(new Float32Array(length).fill(0.5)).every(Number.isFinite));
  }
});
