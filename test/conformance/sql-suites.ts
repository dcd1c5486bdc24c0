/**
 * Runs sqllogictest suites against the engine in process, or against a server by PostgreSQL's protocol, and holds the
 * failures against the committed lists in test/conformance/known. Both doors have the same lists. `make
 * conformance-sql` runs all of them (UPDATE=1 rewrites the lists, DOOR=postgres takes the protocol), the test a sample.
 * The suites lie beside the checkout (or where TESSERA_SUITES says) and are not part of the project.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "./sql-adapter.js";

const ROOT = new URL("../../../", import.meta.url).pathname;
export const SUITES = process.env.TESSERA_SUITES ?? join(ROOT, "../shared/suites");
export const FOLDERS = ["sqlite", "duckdb", "risingwave", "params", "pg-regress"] as const;

/** A session of an empty database, as the runner wants it. */
export interface SuiteDatabase {
  exec(sql: string, params?: readonly unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

/** Where the statements go. */
export interface Door {
  open(): Promise<SuiteDatabase>;
  stop(): Promise<void>;
}

export function inProcess(inTurns = IN_TURNS): Door {
  return { open: () => open(undefined, inTurns), stop: async () => undefined };
}

interface FileResult {
  readonly pass: number;
  readonly fail: number;
  readonly codeSame: number;
  readonly codeKnown: number;
  readonly failures: readonly { readonly line: number; readonly why: string; readonly sql?: string }[];
}

interface Runner {
  listFiles(paths: readonly string[]): string[];
  runFile(file: string, database: unknown, options: object): Promise<FileResult>;
}

export interface SuiteResult {
  readonly folder: string;
  readonly files: number;
  readonly pass: number;
  readonly fail: number;
  readonly codeSame: number;
  readonly codeKnown: number;
  /** "file:line" → why. */
  readonly failures: ReadonlyMap<string, string>;
}

export function suitesPresent(): boolean {
  return existsSync(join(SUITES, "slt/runner.mjs"));
}

/** IN_TURNS=1: every statement is run as those that took long without giving way are run again. */
export const IN_TURNS = process.env.IN_TURNS === "1";

/** `chosen`: whether to run the file of that name, without its folder, the i-th of them; absent: all. */
export async function runSuite(
  folder: string,
  chosen: (name: string, i: number) => boolean = () => true,
  door: Door = inProcess(),
): Promise<SuiteResult> {
  const { listFiles, runFile } = (await import(pathToFileURL(join(SUITES, "slt/runner.mjs")).href)) as Runner;
  const root = join(SUITES, "sql", folder);
  const files = listFiles([root]).filter((file, i) => chosen(relative(root, file), i));
  const failures = new Map<string, string>();
  const total = { pass: 0, fail: 0, codeSame: 0, codeKnown: 0 };
  for (const file of files) {
    const database = await door.open();
    const result = await runFile(file, database, { engine: "postgresql" });
    await database.close();
    for (const name of ["pass", "fail", "codeSame", "codeKnown"] as const) total[name] += result[name];
    for (const { line, why } of result.failures) failures.set(`${relative(root, file)}:${line}`, oneLine(why));
  }
  return { folder, files: files.length, ...total, failures };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function listOf(folder: string): string {
  return join(ROOT, "test/conformance/known", `${folder}.txt`);
}

/** Records that are known to fail, "file:line". */
export function knownFailures(folder: string): ReadonlySet<string> {
  const path = listOf(folder);
  if (!existsSync(path)) return new Set();
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  return new Set(lines.map((line) => line.slice(0, line.indexOf(" "))));
}

export function writeKnownFailures(result: SuiteResult): void {
  const lines = [...result.failures].map(([record, why]) => `${record} ${why}`);
  const head = `# Records of ${result.folder} that fail, with the reason. Written by: make conformance-sql UPDATE=1`;
  writeFileSync(listOf(result.folder), `${[head, ...lines].join("\n")}\n`);
}
