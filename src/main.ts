/**
 * The program. It starts the thread of the first actor before it loads anything else, if there is going to be one: the
 * two load side by side. command-line.ts is the rest.
 */
import { setFlagsFromString } from "node:v8";
import { startActorThread } from "./actor-thread.js";
import { compileGrammar, grammarIsPlain } from "./sql/parse/grammar-code.js";

// ONNX Runtime 1.29 and later reports its use to its makers, and keeps an identity and what it could not send in the
// user's home. Tessera sends nothing that nobody asked for. Set here since native code sees only what the main thread
// sets.
process.env.ORT_DISABLE_TELEMETRY ??= "1";

const [command] = process.argv.slice(2);
const serves = command === "serve" || command?.startsWith("--config");
// Takes 6 ms, and no other thread may load code meanwhile.
if (serves) compileGrammar();
const firstActor = serves ? startActorThread(0) : null;

async function run(): Promise<void> {
  const { runCommandLine } = await import("./command-line.js");
  await runCommandLine(firstActor);
  // V8 puts objects of places in the code whose objects lived long for a while straight among the old ones. Here that
  // hits what requests are made of: they stay until a full collection, with all that they refer to (2 of 17 µs of a
  // point read). Set when the server has started: after a change of flags V8 takes none of the code that node keeps
  // compiled, in any thread (a tenth of the start).
  setFlagsFromString("--no-allocation-site-pretenuring");
  // A full collection is due when old objects and the memory of typed arrays have grown by so many percent. V8 takes a
  // tenth where old objects come slowly, although bulk work makes typed arrays fast: it collected five times a second.
  setFlagsFromString("--heap-growing-percent=200");
  grammarIsPlain();
}

void run();
