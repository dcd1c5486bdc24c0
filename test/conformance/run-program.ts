/**
 * Runs programs that use a client and print what they did, line by line; installs their packages. Called by make's
 * conformance targets.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Outcome {
  readonly what: string;
  readonly result: "passed" | "failed" | "skipped";
  readonly message: string;
}

export interface Program {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Until it is ended; absent: 60. */
  readonly seconds?: number;
}

const SECONDS = 60;
const INSTALL_MS = 600_000;
const MESSAGE_CHARACTERS = 400;
/** What the programs print: one line for each thing that they did. */
const STEP = /^(ok|not ok|skip) - (.*?)(?: # (.*))?$/;
const RESULTS = { ok: "passed", "not ok": "failed", skip: "skipped" } as const;

interface Ended {
  readonly code: number | null;
  readonly late: boolean;
  readonly output: string;
  readonly errors: string;
}

/** Runs it in the folder, to its end; its output is also there afterwards, as NAME.log. */
export async function runProgram(
  folder: string,
  program: Program,
  env: NodeJS.ProcessEnv,
): Promise<readonly Outcome[]> {
  return outcomesOf(await ended(folder, program, env), folder, program);
}

function ended(cwd: string, { command, seconds }: Program, env: NodeJS.ProcessEnv): Promise<Ended> {
  const [program, ...rest] = command;
  // In a group of its own: what the program started ends with it.
  const child = spawn(program, rest, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const text = { output: "", errors: "" };
  child.stdout.on("data", (data: Buffer) => (text.output += data.toString()));
  child.stderr.on("data", (data: Buffer) => (text.errors += data.toString()));
  let late = false;
  const timer = setTimeout(
    () => {
      late = true;
      endGroup(child);
    },
    (seconds ?? SECONDS) * 1000,
  );
  return new Promise((resolve) => {
    child.once("error", (error) => (text.errors += error.message));
    child.once("exit", () => endGroup(child));
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code, late, ...text });
    });
  });
}

function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function outcomesOf({ code, late, output, errors }: Ended, folder: string, client: Program): readonly Outcome[] {
  writeFileSync(join(folder, `${client.name}.log`), `${output}\n${errors}`);
  const outcomes = output.split("\n").flatMap((line): Outcome[] => {
    const match = STEP.exec(line);
    if (match === null) return [];
    const message = (match[3] ?? "").slice(0, MESSAGE_CHARACTERS);
    return [{ what: match[2]!, result: RESULTS[match[1] as keyof typeof RESULTS], message }];
  });
  if (late || code !== 0 || outcomes.length === 0) {
    const end = late ? `not done after ${client.seconds ?? SECONDS} s` : `ended with code ${code}`;
    const last = errors.trim().split("\n").at(-1)!.slice(0, MESSAGE_CHARACTERS);
    outcomes.push({ what: "the program ends", result: "failed", message: `${end}; ${last}` });
  }
  return outcomes;
}

/** Installs only when the lock file changed since the last time. */
export function installFromNpm(folder: string): void {
  const [lock, installed] = ["package-lock.json", "node_modules/.installed"].map((name) => join(folder, name));
  if (existsSync(installed!) && readFileSync(installed!, "utf8") === readFileSync(lock!, "utf8")) return;
  const arguments_ = ["ci", "--no-audit", "--no-fund", "--legacy-peer-deps", "--ignore-scripts"];
  const { status, stderr } = spawnSync("npm", arguments_, { cwd: folder, encoding: "utf8", timeout: INSTALL_MS });
  if (status !== 0) throw new Error(`npm ci failed in ${folder}:\n${stderr}`);
  cpSync(lock!, installed!);
}

/**
 * Node programs of a folder, with their packages, which lie beside the compiled tests so that `make clean` removes
 * them.
 */
export interface NodePrograms {
  readonly folder: string;
  readonly names: readonly string[];
}

/**
 * Those of test/conformance/SOURCES, or what the command line names of them. `packages`: further ones, by name with
 * their folders.
 */
export function nodePrograms(
  sources: string,
  target: string,
  packages: Readonly<Record<string, string>> = {},
): NodePrograms {
  const root = new URL("../../../", import.meta.url).pathname;
  const from = `${root}test/conformance/${sources}`;
  const folder = new URL(`../../${target}/`, import.meta.url).pathname;
  cpSync(from, folder, { recursive: true });
  cpSync(`${root}test/conformance/clients/steps.mjs`, `${folder}steps.mjs`);
  installFromNpm(folder);
  for (const [name, path] of Object.entries(packages)) {
    cpSync(root + path, `${folder}node_modules/${name}`, { recursive: true });
  }
  const all = readdirSync(from)
    .filter((name) => name.endsWith(".mjs"))
    .map((name) => name.slice(0, -".mjs".length));
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(", ")}; there are ${all.join(", ")}`);
  return { folder, names: all.filter((name) => wanted.length === 0 || wanted.includes(name)) };
}

/** Runs each and prints what it did. */
export async function runPrograms(
  { folder, names }: NodePrograms,
  environmentOf: (name: string) => NodeJS.ProcessEnv | Promise<NodeJS.ProcessEnv>,
  seconds = SECONDS,
): Promise<void> {
  const width = Math.max(...names.map(({ length }) => length));
  for (const name of names) {
    const environment = { PATH: process.env.PATH ?? "", HOME: folder, ...(await environmentOf(name)) };
    const program = { name, command: [process.execPath, `${name}.mjs`] as const, seconds };
    print(name, width, await runProgram(folder, program, environment));
  }
}

const counts = { passed: 0, failed: 0, skipped: 0 };

/** The lines of one program in the table that the target prints. */
export function print(name: string, width: number, outcomes: readonly Outcome[]): void {
  for (const [i, { what, result, message }] of outcomes.entries()) {
    counts[result] += 1;
    console.log(`${(i === 0 ? name : "").padEnd(width)}  ${result.padEnd(7)}  ${what}`);
    if (message !== "") console.log(`${" ".repeat(width + 11)}${message}`);
  }
}

/** The table's last line; the process ends with 1 where something failed. */
export function printCounts(): void {
  console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
}
