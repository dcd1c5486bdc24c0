/** Bundles that see, run in an inference thread: a dual encoder and a captioner that the test builds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import type { ImageItem } from "../../../src/ai/inference-messages.js";
import { parseManifest } from "../../../src/ai/manifest.js";
import { modelsAt } from "../models-at.js";
import { DIMENSIONS, makeCaptioner, makeDualEncoder, SIZE } from "./tiny-vision.js";

const root = mkdtempSync(join(tmpdir(), "tessera-vision-"));
t.teardown(() => rmSync(root, { recursive: true }));

function plain(r: number, g: number, b: number, size = SIZE): ImageItem {
  const rgb = new Uint8Array(size * size * 3).map((_, i) => [r, g, b][i % 3]!);
  return { width: size, height: size, rgb };
}

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

t.test("words and images in one space", async (t) => {
  const folder = join(root, "both");
  makeDualEncoder(folder);
  const models = modelsAt(t, folder);
  t.match(models.firstOf("dual_encoder"), { name: "tiny-clip", manifest: { dimensions: DIMENSIONS } });
  t.equal(models.firstOf("vision"), null);
  t.equal(models.kindOf("tiny-clip"), "dual_encoder");
  const images = [plain(250, 10, 10), plain(10, 250, 10), plain(10, 10, 250)];
  const words = ["red", "green", "blue"];
  // Mixed, in any order.
  const items = [words[0]!, images[0]!, images[1]!, words[1]!, words[2]!, images[2]!];
  const [red, redImage, greenImage, green, blue, blueImage] = await models.embedInto(items, "tiny-clip", "tenant");
  for (const vector of [red, redImage, blueImage]) t.ok(Math.abs(cosine(vector!, vector!) - 1) < 1e-5, "of length 1");
  for (const [word, own, others] of [
    [red, redImage, [greenImage, blueImage]],
    [green, greenImage, [redImage, blueImage]],
    [blue, blueImage, [redImage, greenImage]],
  ] as const) {
    t.ok(others.every((other) => cosine(word!, own!) > cosine(word!, other!) + 0.5));
  }
  const many = await models.embedInto(
    Array.from({ length: 20 }, (_, i) => plain(i * 12, 0, 255 - i * 12)),
    "tiny-clip",
    "tenant",
  );
  t.equal(many.length, 20);
  const [alone] = await models.embedInto([plain(19 * 12, 0, 255 - 19 * 12)], "tiny-clip", "tenant");
  t.ok(cosine(alone!, many[19]!) > 0.9999, "whichever run it was in");
  await t.rejects(models.embedInto([plain(1, 2, 3, 9)], "tiny-clip", "tenant"), {
    code: "internal_error",
    message: /8 × 8/,
  });
  await t.rejects(models.embedSome(["red"], "tiny-clip", "tenant"), { code: "model_not_found" });
  t.match(models.list(), [{ kind: "dual_encoder", runtime: "onnx", state: "ready" }]);
});

t.test("a bundle that is not what it says", async (t) => {
  const folder = join(root, "wrong");
  makeDualEncoder(folder, "wrong-size", { dimensions: 7 });
  makeDualEncoder(folder, "swapped", { onnx: "image.onnx" });
  const models = modelsAt(t, folder);
  for (const name of ["wrong-size", "swapped"]) {
    await t.rejects(models.embedInto(["red"], name, "tenant"), { code: "model_unavailable" }, name);
  }
  const manifest = {
    id: "a",
    kind: "dual_encoder",
    revision: "1",
    licence: "MIT",
    required_capabilities: ["dual_encoder"],
  };
  const files = [{ name: "tokenizer.json", bytes: 1, sha256: "0".repeat(64) }];
  const text = JSON.stringify({ ...manifest, max_length: 8, tokenizer: "tokenizer.json", files });
  t.throws(() => parseManifest(text), { message: /needs image/ });
});

t.test("an image in words", async (t) => {
  const folder = join(root, "captions");
  makeCaptioner(folder);
  const models = modelsAt(t, folder);
  const request = { messages: [], tokensMax: 10, temperature: 0, topP: 1, seed: null, stop: [] };
  const describe = async (image: ImageItem, more: object = {}) => {
    const generation = models.generate("tiny-captions", { ...request, image, ...more }, "tenant");
    let text = "";
    for await (const piece of generation) text += piece;
    return { text, ...(await generation.ended) };
  };
  t.same(await describe(plain(250, 10, 10)), { text: "red picture", reason: "stop", inputTokens: 1, outputTokens: 3 });
  t.equal((await describe(plain(10, 10, 250))).text, "blue picture");
  t.match(await describe(plain(10, 250, 10), { tokensMax: 1 }), { text: "green", reason: "length" });
  const several = await Promise.all(
    [plain(250, 0, 0), plain(0, 250, 0), plain(0, 0, 250)].map((image) => describe(image)),
  );
  t.same(
    several.map(({ text }) => text),
    ["red picture", "green picture", "blue picture"],
  );
  t.throws(() => models.generate("tiny-captions", request, "tenant"), { code: "model_not_found" });
});
