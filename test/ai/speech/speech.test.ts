/** Bundles that write what is said, run in an inference thread: a model of tones that the test builds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import type { SoundItem } from "../../../src/ai/inference-messages.js";
import { parseManifest } from "../../../src/ai/manifest.js";
import type { Models } from "../../../src/ai/models.js";
import { modelsAt } from "../models-at.js";
import { makeSpeech, melody, type Tone } from "./tiny-speech.js";

const RATE = 16_000;
const root = mkdtempSync(join(tmpdir(), "tessera-speech-"));
t.teardown(() => rmSync(root, { recursive: true }));

/** In parts that do not end where windows do. */
function soundOf(tones: readonly (Tone | null)[], language: string | null = null): SoundItem {
  const sound = melody(tones);
  const samples = tones.length * 5 * RATE;
  const parts: Int16Array[] = [];
  for (let from = 0; from < samples; from += 70_001) {
    const part = new Int16Array(new SharedArrayBuffer(2 * Math.min(70_001, samples - from)));
    parts.push(part.map((_, i) => Math.round(sound((from + i) / RATE) * 0x7fff)));
  }
  return { parts, samples, language };
}

async function transcribe(models: Models, sound: SoundItem, name = "tiny-speech", signal?: AbortSignal) {
  const request = { messages: [], tokensMax: 1, temperature: 0, topP: 1, seed: null, stop: [], sound };
  const generation = models.generate(name, request, "tenant", signal);
  let text = "";
  for await (const piece of generation) text += piece;
  return { text, ...(await generation.ended) };
}

const TUNE = ["low", "high", null, "middle", "low", null, "high", "low", "middle"] as const;
const TUNE_SEGMENTS = [
  { start: 0, end: 5, text: "low" },
  { start: 5, end: 10, text: "high" },
  { start: 15, end: 20, text: "middle" },
  { start: 20, end: 25, text: "low" },
  { start: 30, end: 35, text: "high" },
  { start: 35, end: 40, text: "low" },
  { start: 40, end: 45, text: "middle" },
];

t.test("what is said in a sound, and when", async (t) => {
  const folder = join(root, "plain");
  makeSpeech(folder);
  makeSpeech(folder, { id: "with-cache", cache: true });
  const models = modelsAt(t, folder);
  t.equal(models.kindOf("tiny-speech"), "speech");
  for (const name of ["tiny-speech", "with-cache"]) {
    const written = await transcribe(models, soundOf(TUNE), name);
    t.equal(written.text, "low high middle low high low middle", name);
    t.same(written.segments, TUNE_SEGMENTS, name);
    t.match(written, { reason: "stop", language: "en" });
  }
  // A window of each: prompt of three, three tokens a stretch, the end.
  const { inputTokens, outputTokens } = await transcribe(models, soundOf(TUNE));
  t.same([inputTokens, outputTokens], [6, 38]);
  t.match(await transcribe(models, soundOf(["high", "low"])), { text: "high low", language: "de" });
  t.match(await transcribe(models, soundOf(["high", "low"], "en")), { text: "high low", language: "en" });
  const silence = await transcribe(models, soundOf(Array.from({ length: 60 }, () => null)));
  t.match(silence, { text: "", segments: [], outputTokens: 0 }, "no model is asked about silence");
  t.match(models.list(), [
    { kind: "speech", state: "ready" },
    { kind: "speech", state: "ready" },
  ]);
});

t.test("a window that ends in the middle of something is gone on with from there", async (t) => {
  const folder = join(root, "partly");
  makeSpeech(folder, { stretches: 5 });
  const models = modelsAt(t, folder);
  const { segments } = await transcribe(models, soundOf(TUNE));
  t.same(segments, TUNE_SEGMENTS);
});

t.test("cancelled between tokens", async (t) => {
  const folder = join(root, "plain");
  const models = modelsAt(t, folder);
  const stop = new AbortController();
  const running = transcribe(
    models,
    soundOf(Array.from({ length: 24 }, () => "low" as const)),
    "tiny-speech",
    stop.signal,
  );
  stop.abort();
  t.match(await running, { reason: "cancelled" });
});

t.test("a bundle that is not what it says", async (t) => {
  const folder = join(root, "wrong");
  const speech = { onnx: "encoder.onnx", mels: 80 };
  makeSpeech(folder, { id: "swapped", extra: { onnx: "encoder.onnx" } });
  makeSpeech(folder, { id: "other-bands", extra: { speech: { ...speech, mels: 128 } } });
  makeSpeech(folder, { id: "other-tokens", extra: { speech: { ...speech, no_timestamps_token_id: 100_000 } } });
  makeSpeech(folder, { id: "endless", extra: { generation: { start_token_id: 6 } } });
  const models = modelsAt(t, folder);
  for (const name of ["swapped", "other-bands", "other-tokens", "endless"]) {
    await t.rejects(transcribe(models, soundOf(["low"]), name), { code: "model_unavailable" }, name);
  }
  const manifest = { id: "a", kind: "speech", revision: "1", licence: "MIT", required_capabilities: ["speech"] };
  const files = [{ name: "tokenizer.json", bytes: 1, sha256: "0".repeat(64) }];
  const text = JSON.stringify({ ...manifest, max_length: 8, tokenizer: "tokenizer.json", files });
  t.throws(() => parseManifest(text), { message: /needs speech/ });
});
