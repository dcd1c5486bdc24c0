/**
 * The first file of every thread and process of the bundled program (dist/server/<entry>.cjs, made by
 * scripts/bundle.mjs). It runs the entry's script with the code that V8 compiled when the program was built, where
 * there is such code for this V8 and its flags. Without it V8 compiles the script, which takes as long as all else in a
 * start. See docs/decisions/code-cache.md.
 */
import { createHash } from "node:crypto";
import { channel } from "node:diagnostics_channel";
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { debuglog } from "node:util";
import { Script } from "node:vm";
import { threadId } from "node:worker_threads";

/** The entry's script, beside this file: its name has a hash of its text. The bundler puts it here. */
declare const SCRIPT: string;

/** Of V8's own head of code: its magic number, its version, the source's length and its flags. */
const HEAD_BYTES = 16;
const DIGEST_BYTES = 32;

/**
 * What the script is: a function, so that its variables are not global. It does not use `import()`, which code of a
 * cache cannot.
 */
type Program = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  filename: string,
  dirname: string,
  url: string,
  load: (name: string) => Promise<unknown>,
) => void;

/** To which the build listens. */
export interface LoadedScript {
  readonly name: string;
  /** Keeps the code of the functions that have run. */
  readonly save: () => void;
}

const say = debuglog("tessera");
const path = join(__dirname, SCRIPT);

/**
 * Code that another V8, or this one with other flags, has made has another name. V8 tells by the head of its code, and
 * one that refuses a code has compiled the script for nothing.
 */
function codePath(): string {
  const head = new Script("0").createCachedData().subarray(0, HEAD_BYTES);
  return `${path}.${createHash("sha256").update(process.arch).update(head).digest("hex").slice(0, 12)}.code`;
}

/** V8 does not check the code: it ends the process, or runs anything. */
function digestOf(code: Uint8Array): Buffer {
  return createHash("sha256").update(SCRIPT).update(code).digest();
}

function readCode(): Buffer | undefined {
  try {
    const file = readFileSync(codePath());
    const code = file.subarray(DIGEST_BYTES);
    if (digestOf(code).equals(file.subarray(0, DIGEST_BYTES))) return code;
    say("%s: the code is damaged", SCRIPT);
  } catch (error) {
    say("%s: no code: %s", SCRIPT, (error as Error).message);
  }
  return undefined;
}

/** Of several threads that run the script, the code of the one that has run most of it is kept. */
function saveCode(script: Script): void {
  const [place, code] = [codePath(), script.createCachedData()];
  const kept = statSync(place, { throwIfNoEntry: false })?.size ?? 0;
  if (kept >= DIGEST_BYTES + code.length) return;
  // Threads of one script may save at the same time.
  const own = `${place}.${threadId}.new`;
  writeFileSync(own, Buffer.concat([digestOf(code), code]));
  renameSync(own, place);
}

function compiled(): Program {
  const cachedData = readCode();
  // The bundler writes ASCII.
  const script = new Script(readFileSync(path, "latin1"), { filename: path, ...(cachedData && { cachedData }) });
  if (cachedData !== undefined) say("%s: the code is %s", SCRIPT, script.cachedDataRejected ? "refused" : "used");
  const program = script.runInThisContext() as Program;
  const loaded: LoadedScript = { name: SCRIPT, save: () => saveCode(script) };
  channel("tessera.script").publish(loaded);
  return program;
}

/** Only files that node loads by itself get their source maps. */
function withSourceMaps(): Program {
  require(path);
  return (globalThis as unknown as Record<symbol, Program>)[Symbol.for("tessera.program")]!;
}

function run(): object {
  const module = { exports: {} };
  const program = process.sourceMapsEnabled ? withSourceMaps() : compiled();
  const load = (name: string): Promise<unknown> => import(name);
  program(module.exports, require, module, path, __dirname, pathToFileURL(path).href, load);
  return module.exports;
}

export const program = run();
