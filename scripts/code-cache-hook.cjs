/**
 * Loaded into the server that scripts/code-cache.mjs starts, in all of its threads. When the parent process says so,
 * each thread keeps the code of its script, under the flags of V8 that threads have which start with the server, and
 * under those that it sets later.
 */
const { channel } = require("node:diagnostics_channel");
const { setFlagsFromString } = require("node:v8");
const { BroadcastChannel, isMainThread } = require("node:worker_threads");

/** Threads that must have code and have not answered then are given up. */
const PATIENCE_MS = 60_000;
/** How long the others are waited for: they may have ended. */
const OTHERS_MS = 1_000;

const threads = new BroadcastChannel("code cache");
threads.unref();
/** In the main thread: the scripts that threads run. */
const running = new Set();
/** Told of each thread that has kept its code under some flags. */
const saved = new Map();
let own = null;

channel("tessera.script").subscribe((script) => {
  own = script;
  if (isMainThread) running.add(script.name);
  else threads.postMessage({ runs: script.name });
});

threads.onmessage = ({ data }) => {
  if (data.save !== undefined && own !== null) {
    own.save();
    threads.postMessage({ saved: own.name, order: data.save });
  }
  if (!isMainThread) return;
  if (data.runs !== undefined) running.add(data.runs);
  if (data.saved !== undefined) saved.get(data.order)?.(data.saved);
};

/** Every thread keeps its code under the flags; threads of these kinds must. */
async function saveAll(kinds, ...flags) {
  for (const flag of flags) setFlagsFromString(flag);
  const order = flags.join(" ");
  own.save();
  const missing = new Set(running);
  const needed = () => [...missing].filter((name) => kinds.some((kind) => name.startsWith(`${kind}-`)));
  await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no answer from ${needed().join(", ")}`)), PATIENCE_MS);
    const end = (name) => {
      missing.delete(name);
      if (needed().length > 0) return;
      clearTimeout(late);
      if (missing.size === 0) resolve();
      else setTimeout(resolve, OTHERS_MS);
    };
    saved.set(order, end);
    threads.postMessage({ save: order });
    end(own.name);
  });
}

if (isMainThread && process.send !== undefined) {
  process.once("message", async ({ kinds }) => {
    try {
      await saveAll(kinds, "--allocation-site-pretenuring", "--heap-growing-percent=0", "--wasm-tier-up");
      await saveAll(kinds, "--no-allocation-site-pretenuring", "--heap-growing-percent=200", "--no-wasm-tier-up");
      process.send({ saved: [...running] });
    } catch (error) {
      process.send({ failed: error.message });
    }
    process.disconnect();
  });
  process.channel.unref();
}
