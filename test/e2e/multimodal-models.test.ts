/** /v1/multimodal over the socket, with small real models that see. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { DIMENSIONS, makeCaptioner, makeDualEncoder } from "../ai/vision/tiny-vision.js";
import { wav } from "../ingest/wav-writer.js";
import { picture, post, started } from "./multimodal-fixture.js";

const folder = mkdtempSync(join(tmpdir(), "tessera-multimodal-"));
t.teardown(() => rmSync(folder, { recursive: true }));

t.test("with models that see", async (t) => {
  const models = join(folder, "models");
  makeDualEncoder(models);
  makeCaptioner(models);
  const ffmpeg = fakeFfmpeg();
  const server = await started(t, { TESSERA_AI_MODEL_ROOT: models, TESSERA_MULTIMODAL_FFMPEG: ffmpeg });
  const [red, blue] = [await picture("#e01010"), await picture("#1010e0")];

  await t.test("an image in words", async (t) => {
    const { body } = await post(server, "describe", { prompt: "what is it?", image: red });
    t.match(body.data, { text: "red picture", model: "tiny-captions", provider: "native", finish_reason: "stop" });
    t.match(body.data.usage, { input_tokens: 1, output_tokens: 3, total_tokens: 4 });
    const named = await post(server, "describe", { prompt: "?", image: blue, model: "tiny-captions" });
    t.equal(named.body.data.text, "blue picture");
    t.equal((await post(server, "describe", { prompt: "?", image: blue, model: "tiny-clip" })).status, 404);
  });

  await t.test("words find images that nobody described", async (t) => {
    for (const [id, image] of [
      ["one", red],
      ["two", blue],
      ["three", await picture("#10e010")],
    ] as const) {
      const { status, body } = await post(server, "images", { id, image, ocr: false });
      t.equal(status, 201, JSON.stringify(body));
      t.same(body.data.models, ["tessera-visual-1", "tiny-clip"]);
    }
    for (const [text, id] of [
      ["red", "one"],
      ["blue", "two"],
      ["green", "three"],
    ] as const) {
      const { data } = (await post(server, "search", { query: { text }, modalities: ["image"], limit: 1 })).body;
      t.match(data, { results: [{ id, modality: "image" }], model: "tiny-clip" });
      t.ok(data.methods.includes("dual_encoder"));
    }
    const { data } = (await post(server, "search", { query: { image: blue } })).body;
    t.match(data, { results: [{ id: "two", method: "dual_encoder" }], methods: ["dual_encoder"], model: "tiny-clip" });
    const text = (await post(server, "embed", { input: { text: "red" } })).body.data;
    t.match(text, { model: "tiny-clip", dimensions: DIMENSIONS, method: "dual_encoder" });
    const image = (await post(server, "embed", { input: { image: red }, model: "tiny-clip" })).body.data;
    const likeness = (one: number[], other: number[]) => one.reduce((sum, x, i) => sum + x * other[i]!, 0);
    t.ok(likeness(text.embedding, image.embedding) > 0.8);
    t.match((await post(server, "embed", { input: { text: "red" }, model: "tessera-embed-384" })).body.data, {
      dimensions: 384,
    });
  });

  await t.test("videos and other sounds, by the program that reads them", async (t) => {
    const video = Buffer.from("a video of blue").toString("base64");
    const felt = (await post(server, "embed", { input: { video }, model: "tessera-visual-1" })).body.data;
    t.match(felt, { modality: "video", dimensions: 192, method: "visual_feature" });
    const seen = (await post(server, "embed", { input: { video } })).body.data;
    const word = (await post(server, "embed", { input: { text: "blue" } })).body.data;
    t.match(seen, { modality: "video", model: "tiny-clip" });
    t.ok(seen.embedding.reduce((sum: number, x: number, i: number) => sum + x * word.embedding[i], 0) > 0.8);
    const sound = (await post(server, "embed", { input: { audio: video } })).body.data;
    t.match(sound, { modality: "audio", dimensions: 64, method: "audio_feature" });
    const broken = await post(server, "embed", { input: { video: Buffer.from("nothing").toString("base64") } });
    t.match(broken.body.error, {
      code: "invalid_request",
      message: /^input.video: ffmpeg cannot read it \(input: Invalid data/,
    });
  });
});

/** Stands for ffmpeg, which is not everywhere: reads what it is given as a file, and writes frames or a WAV file. */
function fakeFfmpeg(): string {
  const path = join(folder, "ffmpeg.mjs");
  const sound = wav((at) => 0.5 * Math.sin(3000 * at), 0.5).toString("base64");
  writeFileSync(
    path,
    `#!${process.execPath}
import { readFileSync } from "node:fs";
const args = process.argv.slice(2);
const input = args[args.indexOf("-i") + 1];
const content = readFileSync(input, "utf8");
if (args.at(-1) !== "pipe:1" || args[args.indexOf("-protocol_whitelist") + 1] !== "file,pipe") process.exit(9);
if (!content.startsWith("a video")) {
  console.error(input + ": Invalid data found when processing input");
  process.exit(1);
}
if (args.includes("-vn")) process.stdout.write(Buffer.from("${sound}", "base64"));
else {
  const side = Number(/scale=(\\d+)/.exec(args[args.indexOf("-vf") + 1])[1]);
  const frame = Buffer.alloc(side * side * 3).map((_, i) => [10, 10, 240][i % 3]);
  process.stdout.write(Buffer.concat([frame, frame, frame]));
}
`,
    { mode: 0o755 },
  );
  return path;
}
