/** Models that ONNX Runtime runs, in a thread of their own: here the bundled model without its table for actors. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type MessagePort, Worker } from "node:worker_threads";
import t, { type Test } from "tap";
import type { LaneOptions } from "../../src/ai/inference-lane.js";
import type { InferenceThread } from "../../src/ai/inference-messages.js";
import { Models } from "../../src/ai/models.js";
import { startInferenceThread } from "../../src/inference-thread.js";
import { connectInference } from "../../workers/connect-inference.js";
import { sized } from "../lengths.js";
import { BUNDLED, editManifest, ID, rootWith } from "./bundle-copies.js";

const TENANT = "tenant";
/** In which tenants ask several models at once. */
const ROUNDS = sized(2, 4);

const onnxOnly = (bundle: string) => editManifest(bundle, ({ static: _, ...manifest }) => manifest);

interface Running {
  readonly models: Models;
  readonly runs: readonly number[];
  readonly threads: readonly InferenceThread[];
}

/** `runs`: how many texts went to the thread at a time. */
function running(t: Test, root: string | readonly string[], bounds: Partial<LaneOptions> = {}): Running {
  const runs: number[] = [];
  const threads: InferenceThread[] = [];
  const start = (): InferenceThread => {
    const thread = connectInference((port) => startInferenceThread(port, (error) => t.fail(error.message)));
    threads.push(thread);
    const { post } = thread;
    thread.post = (message) => {
      if (message.kind === "batch") runs.push(message.items.length);
      post(message);
    };
    return thread;
  };
  const usual = { runThreads: 1, idleMs: 1000, sessionsMax: 4, bytesMax: 1e9, waitingMax: 4096, generationsMax: 4 };
  const inference = { start, ...usual, ...bounds };
  const models = new Models({ roots: [root].flat(), embeddingModel: ID, warn: () => undefined, inference });
  t.teardown(() => models.close());
  return { models, runs, threads };
}

t.test("gives what the static runtime gives", async (t) => {
  const { models } = running(t, rootWith(onnxOnly));
  const bundled = new Models({ roots: [BUNDLED], embeddingModel: ID, warn: () => undefined, inference: null });
  t.match(models.list(), [{ runtime: "onnx", state: "installed" }]);
  t.equal(models.embedNow("a text", null, TENANT), null, "it has to be waited for");
  const texts = ["a", "", "a dog runs in the park", "one two three ".repeat(300), "a"];
  const vectors = await models.embedSome(texts, null, TENANT);
  for (const [i, text] of texts.entries()) {
    const expected = bundled.embedNow(text, null, TENANT)!;
    t.ok(Math.max(...expected.map((x, k) => Math.abs(x - vectors[i]![k]!))) < 2e-6, JSON.stringify(text.slice(0, 20)));
  }
  t.same(await models.embedSome(texts, null, TENANT), vectors, "and the same every time");
  t.match(models.list(), [{ state: "ready" }]);
  t.same(
    [...models.usage.values()],
    [{ tenant: TENANT, texts: 10, pairs: 0, generatedTokens: 0, tokens: 2 * bundled.usage.get(TENANT)!.tokens + 2 }],
  );
});

t.test("what is asked for at about the same time shares a run", async (t) => {
  const { models, runs } = running(t, rootWith(onnxOnly));
  await models.embedSome(["first"], null, TENANT);
  const texts = Array.from({ length: 100 }, (_, i) => `text ${i}`);
  const vectors = await Promise.all(texts.map((text) => models.embedSome([text], null, TENANT)));
  t.equal(
    runs.reduce((a, b) => a + b),
    101,
  );
  t.ok(runs.length <= 4, runs.join());
  t.same(vectors[42], await models.embedSome(["text 42"], null, TENANT), "each gets its own");
});

t.test("more texts than may wait are refused, the others are served", async (t) => {
  const { models } = running(t, rootWith(onnxOnly), { waitingMax: 128 });
  const some = Array.from({ length: 32 }, (_, i) => `text ${i}`);
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => models.embedSome(some, null, TENANT)));
  const refused = results.filter((result) => result.status === "rejected");
  t.ok(refused.length >= 3 && refused.length <= 6, `${refused.length} of 10 refused`);
  for (const { reason } of refused) t.match(reason, { code: "overloaded", details: { retry_after_seconds: 1 } });
});

t.test("many tenants and four models at once, in the memory of two", async (t) => {
  const names = ["a", "b", "c", "d"].map((name) => `model-${name}`);
  const roots = names.map((id) =>
    rootWith((bundle) => editManifest(bundle, (m) => ({ ...m, static: undefined, alias: undefined, id }))),
  );
  const bytes =
    2.5 * new Models({ roots, embeddingModel: ID, warn: () => undefined, inference: null }).list()[0]!.bytes;
  const { models, threads } = running(t, roots, { bytesMax: bytes, waitingMax: 100_000 });
  const held: { readonly sessions: number; readonly bytes: number }[] = [];
  const tenants = Array.from({ length: sized(10, 40) }, (_, i) => `tenant ${i}`);
  const before = process.memoryUsage().rss;
  const work = tenants.map(async (tenant, i) => {
    for (let round = 0; round < ROUNDS; round++) {
      const texts = Array.from({ length: 16 }, (_, k) => `${tenant} says ${k} in round ${round}`);
      const vectors = await models.embedSome(texts, names[(i + round) % names.length]!, tenant);
      t.ok(vectors.length === 16 && vectors.every(({ length }) => length === 384));
    }
  });
  const { onMessage } = threads[0]!;
  threads[0]!.onMessage = (message) => {
    if (message.kind === "sessions") held.push(message);
    onMessage(message);
  };
  await Promise.all(work);
  t.ok(
    held.some((one) => one.sessions === 2),
    "two models at a time",
  );
  t.ok(held.every((one) => one.sessions <= 2 && one.bytes <= bytes));
  t.ok(process.memoryUsage().rss - before < 400e6);
  t.equal(models.usage.size, tenants.length);
  for (const usage of models.usage.values()) t.equal(usage.texts, 16 * ROUNDS);
});

t.test("a graph that cannot be loaded makes the model failed, and no more", async (t) => {
  const root = rootWith((bundle) => {
    const bytes = Buffer.from("this is no graph");
    writeFileSync(join(bundle, "model.onnx"), bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    editManifest(bundle, ({ static: _, files, ...manifest }) => ({
      ...manifest,
      files: files.map((file) => (file.name === "model.onnx" ? { ...file, bytes: bytes.length, sha256 } : file)),
    }));
  });
  const { models } = running(t, root);
  await t.rejects(models.embedSome(["a"], null, TENANT), { code: "model_unavailable", message: /cannot be loaded/ });
  t.match(models.list(), [{ state: "failed", problem: /model.onnx cannot be loaded/ }]);
});

t.test("a changed byte is refused by the thread as well", async (t) => {
  const root = rootWith((bundle) => {
    onnxOnly(bundle);
    const bytes = readFileSync(join(bundle, "weights.bin"));
    bytes[77]! ^= 1;
    writeFileSync(join(bundle, "weights.bin"), bytes);
  });
  const { models } = running(t, root);
  await t.rejects(models.embedSome(["a"], null, TENANT), { message: /weights.bin was changed/ });
});

t.test("closing waits for what runs", async (t) => {
  const { models } = running(t, rootWith(onnxOnly));
  const long = Array.from({ length: 64 }, (_, i) => `${i} many words `.repeat(200));
  const pending = models.embedSome(long, null, TENANT);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await models.close();
  t.equal((await pending).length, 64);
});

t.test("an actor that ends in the middle of a run takes nothing else down", async (t) => {
  const directory = join(rootWith(onnxOnly), ID);
  for (let round = 0; round < sized(1, 3); round++) {
    const actor = new Worker(new URL("./ending-actor.js", import.meta.url), { workerData: { directory } });
    actor.once("message", (port: MessagePort) => startInferenceThread(port, (error) => t.fail(error.message)));
    const [code] = await once(actor, "exit");
    t.equal(code, 1);
  }
});

t.test("a thread that has ended is replaced", async (t) => {
  const { models, threads } = running(t, rootWith(onnxOnly));
  const [before] = await models.embedSome(["a"], null, TENANT);
  const ended = new Promise<void>((resolve) => {
    const { onEnd } = threads[0]!;
    threads[0]!.onEnd = () => {
      onEnd();
      resolve();
    };
  });
  threads[0]!.post({ kind: "close" });
  await ended;
  t.same((await models.embedSome(["a"], null, TENANT))[0], before);
  t.equal(threads.length, 2);
});
