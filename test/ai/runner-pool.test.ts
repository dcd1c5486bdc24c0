/** Runners in memory: bounded in number and bytes, the least recently used go first, those at work stay. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { Runner } from "../../src/ai/runner.js";
import { RunnerPool } from "../../src/ai/runner-pool.js";
import { folder } from "./bundle-copies.js";

/** A bundle that says to have so many bytes, and has. */
function bundle(name: string, bytes: number): string {
  const directory = join(folder, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "model.onnx"), Buffer.alloc(bytes));
  const files = [{ name: "model.onnx", bytes, sha256: "0".repeat(64) }];
  const facts = {
    id: name,
    kind: "embedding",
    revision: "1",
    licence: "MIT",
    required_capabilities: [],
    dimensions: 2,
  };
  const manifest = { ...facts, max_length: 8, tokenizer: "model.onnx", onnx: "model.onnx", files };
  writeFileSync(join(directory, "manifest.json"), JSON.stringify(manifest));
  return directory;
}

function pool(bounds: { runnersMax?: number; bytesMax?: number } = {}) {
  const events: string[] = [];
  const load = async (directory: string): Promise<Runner> => {
    const name = directory.split("/").at(-1)!;
    events.push(`+${name}`);
    return {
      form: "batch",
      bytes: 100,
      run: async () => ({ numbers: new Float32Array(1), tokens: 1 }),
      release: async () => void events.push(`-${name}`),
    };
  };
  return { pool: new RunnerPool({ runThreads: 1, runnersMax: 3, bytesMax: 1000, ...bounds, load }), events };
}

const nothing = async () => undefined;

t.test("each is loaded once, and released when it has not been used for a while", async (t) => {
  const { pool: one, events } = pool();
  const [a, b] = [bundle("a", 100), bundle("b", 100)];
  await Promise.all([one.use(a, nothing), one.use(a, nothing)]);
  await one.use(b, nothing);
  t.same(events, ["+a", "+b"]);
  t.equal(one.bytes, 200);
  await one.releaseUnused(60_000);
  t.equal(one.size, 2);
  await one.releaseUnused(0);
  t.same(events.slice(2).sort(), ["-a", "-b"]);
  t.equal(one.size, 0);
});

t.test("the least recently used makes room, by number and by bytes", async (t) => {
  const { pool: few, events } = pool({ runnersMax: 2 });
  const [a, b, c] = [bundle("a", 100), bundle("b", 100), bundle("c", 100)];
  await few.use(a, nothing);
  await few.use(b, nothing);
  await few.use(a, nothing);
  await few.use(c, nothing);
  t.same(events, ["+a", "+b", "-b", "+c"], "released before the next is loaded");
  const { pool: small, events: more } = pool({ bytesMax: 250 });
  await small.use(a, nothing);
  await small.use(b, nothing);
  await small.use(c, nothing);
  t.same(more, ["+a", "+b", "-a", "+c"]);
});

t.test("what is at work is not released; without room for another that is refused for now", async (t) => {
  const { pool: one, events } = pool({ runnersMax: 1 });
  const [a, b] = [bundle("a", 100), bundle("b", 100)];
  let end!: () => void;
  const working = one.use(a, () => new Promise<void>((resolve) => (end = resolve)));
  await t.rejects(one.use(b, nothing), { name: "PoolFullError" });
  await one.releaseUnused(0);
  t.same(events, ["+a"]);
  end();
  await working;
  await one.use(b, nothing);
  t.same(events, ["+a", "-a", "+b"]);
});

t.test("a bundle above the bound is refused for good, one that fails to load is tried again", async (t) => {
  const { pool: one } = pool({ bytesMax: 50 });
  await t.rejects(one.use(bundle("a", 100), nothing), { name: "BundleError", message: /needs 100 bytes/ });
  await t.rejects(one.use(join(folder, "none"), nothing), { name: "BundleError", message: /manifest is missing/ });
  let tries = 0;
  const load = async (): Promise<Runner> => Promise.reject(new Error(`try ${++tries}`));
  const failing = new RunnerPool({ runThreads: 1, runnersMax: 1, bytesMax: 1000, load });
  await t.rejects(failing.use(bundle("a", 100), nothing), { message: "try 1" });
  t.equal(failing.size, 0);
  await t.rejects(failing.use(bundle("a", 100), nothing), { message: "try 2" });
});
