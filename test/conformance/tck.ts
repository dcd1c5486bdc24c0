/**
 * Runs openCypher's TCK against the engine in process, or a server by Bolt (DOOR=bolt), and holds the failures against
 * the committed list (test/conformance/known/tck.txt). The TCK lies beside the checkout and is no part of the project.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { IN_TURNS, SUITES } from "./sql-suites.js";

const ROOT = new URL("../../../", import.meta.url).pathname;
export const TCK = join(SUITES, "tck");

interface ScenarioResult {
  readonly file: string;
  readonly name: string;
  readonly status: "pass" | "fail" | "skip";
  readonly why: string;
}

interface Runner {
  features(folder: string): string[];
  runTck(options: {
    readonly adapter: unknown;
    readonly tck: string;
    readonly files: readonly string[];
    readonly strictErrors: boolean;
    readonly needEffects: boolean;
  }): Promise<{ readonly results: readonly ScenarioResult[] }>;
}

export interface TckResult {
  readonly pass: number;
  readonly fail: number;
  /** Scenarios that cannot be run by this door. */
  readonly skipped: number;
  /** By folder of features: how many pass, of how many. */
  readonly folders: ReadonlyMap<string, { pass: number; of: number }>;
  /** "file | scenario | how often that name came before" → why. */
  readonly failures: ReadonlyMap<string, string>;
}

export function tckPresent(): boolean {
  return existsSync(join(TCK, "runner.mjs"));
}

interface TckSample {
  /** Beginnings of paths within the TCK; absent: all features. */
  readonly under?: readonly string[];
  /** Of those files every so many-th. */
  readonly every?: number;
  /** Absent: the engine in process. */
  readonly door?: "bolt";
}

/** Error kinds, phases and side effects are compared. Bolt does not tell kinds and phases as the TCK names them. */
export async function runTck({ under = [""], every = 1, door }: TckSample = {}): Promise<TckResult> {
  process.env.TCK_MODULES ??= join(ROOT, "package.json");
  const runner = (await import(pathToFileURL(join(TCK, "runner.mjs")).href)) as Runner;
  const root = join(TCK, "features");
  const files = runner
    .features(root)
    .filter((file) => under.some((prefix) => file.slice(root.length + 1).startsWith(prefix)))
    .filter((_, i) => i % every === 0);
  const isBolt = door === "bolt";
  const adapter = isBolt ? await import("./tck-bolt-adapter.js") : await inProcess();
  const { results } = await runner.runTck({ adapter, tck: TCK, files, strictErrors: !isBolt, needEffects: true });
  const folders = new Map<string, { pass: number; of: number }>();
  const failures = new Map<string, string>();
  const seen = new Map<string, number>();
  let pass = 0;
  let skipped = 0;
  for (const { file, name, status, why } of results) {
    const folder = file.slice("features/".length, file.lastIndexOf("/"));
    const counts = folders.get(folder) ?? { pass: 0, of: 0 };
    folders.set(folder, counts);
    counts.of++;
    const title = `${file.slice("features/".length)} | ${name}`;
    const nth = seen.get(title) ?? 0;
    seen.set(title, nth + 1);
    if (status === "skip" && isBolt) {
      skipped++;
      counts.of--;
    } else if (status === "pass") {
      counts.pass++;
      pass++;
    } else failures.set(`${title} | ${nth}`, why.replace(/\s+/g, " ").slice(0, 200));
  }
  return { pass, fail: results.length - pass - skipped, skipped, folders, failures };
}

async function inProcess(): Promise<object> {
  const { open } = await import("./tck-adapter.js");
  return { open: () => open(IN_TURNS) };
}
