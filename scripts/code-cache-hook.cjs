/**
 * Loaded into the server that scripts/code-cache.mjs starts, in all of its threads. When the parent process says so,
 * each thread keeps the code of its script, under the flags of V8 that threads have which start with the server, and
 * under those that it sets later.
 */
const { channel } = require("node:diagnostics_channel");
const { setFlagsFromString } = require("node:v8");
const { BroadcastChannel, isMainThread } = require("node:worker_threads");

/** Threads that have not answered then are given up. */
const PATIENCE_MS = 60_000;

const threads = new BroadcastChannel("code cache");
threads.unref();
/** In the main thread: the scripts that threads run. */
const running = new Set();
/** Told of each thread that has kept its code under a flag. */
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

/** Every thread keeps its code under the flag. */
async function saveAll(flag) {
  setFlagsFromString(flag);
  own.save();
  const missing = new Set(running);
  missing.delete(own.name);
  await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no answer from ${[...missing].join(", ")}`)), PATIENCE_MS);
    const end = (name) => {
      missing.delete(name);
      if (missing.size > 0) return;
      clearTimeout(late);
      resolve();
    };
    saved.set(flag, end);
    threads.postMessage({ save: flag });
    end(null);
  });
}

if (isMainThread && process.send !== undefined) {
  process.once("message", async () => {
    try {
      await saveAll("--allocation-site-pretenuring");
      await saveAll("--no-allocation-site-pretenuring");
      process.send({ saved: [...running] });
    } catch (error) {
      process.send({ failed: error.message });
    }
    process.disconnect();
  });
  process.channel.unref();
}
