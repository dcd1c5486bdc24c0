/**
 * `make soak MINUTES=60 RATE=200`: a server under mixed work over all models at a steady rate, looked at every second.
 * Writes bench/results/soak.json and soak.svg (RESULT names them otherwise), prints what grew, slowed down or failed,
 * and exits with 1 if anything did. ACTORS (1) and SECONDS (in place of minutes) for short ones.
 */
import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describeMachine, type Machine } from "../report/machine.js";
import { post, ROOT, type Running, removeDirectory, startTessera, temporaryDirectory } from "../servers.js";
import { type Census, takeCensus } from "./census.js";
import { chart } from "./chart.js";
import type { LoadMessage, SoakLoad, WindowReport } from "./load.js";
import { type Sample, takeSample } from "./samples.js";
import { judge, quantile, type Verdict } from "./verdict.js";

const PASSWORD = "a password for the soak";
const MIB = 2 ** 20;
const MEMTABLE_BYTES = 16 * MIB;
const SEGMENT_BYTES = 2 * MIB;
/**
 * What else fills up first: logs that are cut soon, so that their growth to the usual bounds is not taken for a leak.
 */
const ENVIRONMENT = {
  TESSERA_NLI_ENABLED: "true",
  TESSERA_STORAGE_MEMTABLE_BYTES: String(MEMTABLE_BYTES),
  // Caches that are full early: with the defaults they still fill after an hour, which looks like a leak.
  TESSERA_STORAGE_CACHE_BYTES: String(16 * MIB),
  TESSERA_STORAGE_RECORD_CACHE_BYTES: String(8 * MIB),
  TESSERA_STORAGE_LOG_SEGMENT_BYTES: String(SEGMENT_BYTES),
  TESSERA_STORAGE_LOG_RETENTION_BYTES: String(8 * MIB),
  TESSERA_CHANGES_WINDOW_SECONDS: "60",
  TESSERA_AUTH_TOKEN_LIFETIME_SECONDS: "86400",
};
/**
 * What a partition's two logs and its new file gain until memory is written to files, which half of it is filled for.
 */
const TOOTH_BYTES = (3 * MEMTABLE_BYTES) / 2 + SEGMENT_BYTES;

interface Soak {
  readonly date: string;
  readonly machine: Machine;
  readonly seconds: number;
  readonly ratePerSecond: number;
  readonly actors: number;
  readonly verdict: Verdict;
  readonly samples: readonly Sample[];
  /** Per ten seconds and kind of work. */
  readonly windows: readonly {
    readonly second: number;
    readonly conflicts: number;
    readonly lateMsMax: number;
    readonly kinds: Readonly<
      Record<string, { readonly pieces: number; readonly p50Ms: number; readonly p99Ms: number }>
    >;
  }[];
}

async function prepared({ url, token }: Running, folder: string, rate: number, seconds: number): Promise<SoakLoad> {
  await post(`${url}/admin/tenants`, { id: "soak" }, token);
  const user = { username: "soak", password: PASSWORD, roles: ["super_admin"] };
  await post(`${url}/admin/tenants/soak/users`, user, token);
  const login = await post(`${url}/v1/auth/login`, { username: "soak", password: PASSWORD }, null);
  return {
    url,
    token: login.access_token as string,
    operatorToken: token,
    folder,
    ratePerSecond: rate,
    seconds,
  };
}

interface Seen {
  readonly samples: readonly Sample[];
  readonly windows: readonly WindowReport[];
  /** What was stored after a third; null: the soak was over before. */
  readonly census: Census | null;
}

/** Runs the load in its process, and samples the server from when it has prepared its data. */
async function soak(server: Running, load: SoakLoad, data: string): Promise<Seen> {
  const samples: Sample[] = [];
  let census: Promise<Census> | null = null;
  const windows: WindowReport[] = [];
  const child = fork(join(ROOT, "dist/bench/soak/load.js"), [JSON.stringify(load)], {
    execArgv: ["--enable-source-maps"],
  });
  let isRunning = true;
  const ended = new Promise<void>((resolve, reject) => {
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`the load ended with code ${code}`))));
  }).finally(() => {
    isRunning = false;
  });
  const begun = new Promise<void>((resolve) => {
    child.on("message", (message: LoadMessage) => {
      if ("prepared" in message) resolve();
      else if ("window" in message) {
        windows.push(message.window);
        say(message.window, samples.at(-1));
      }
    });
  });
  try {
    await Promise.race([begun, ended]);
    const startMs = performance.now();
    while (isRunning) {
      const second = Math.round((performance.now() - startMs) / 1000);
      samples.push(await takeSample(second, server, data));
      if (second >= load.seconds / 3) census ??= takeCensus(data);
      await Promise.race([sleep(startMs + (second + 1) * 1000 - performance.now()), ended]);
    }
    await ended;
  } finally {
    child.kill("SIGKILL");
  }
  return { samples, windows, census: await census };
}

/** A line a minute. */
function say({ second, latenciesMs, failures, open }: WindowReport, sample: Sample | undefined): void {
  for (const { kind, status, message } of failures.slice(0, 3))
    console.log(`${second} s: ${kind}: ${status} ${message}`);
  if (second % 60 >= 10 || sample === undefined) return;
  const reads = latenciesMs["point read"] ?? [];
  console.log(
    `${Math.round(second / 60)} min: RSS ${Math.round(sample.rssBytes / MIB)} MiB, heaps ${sample.heapBytes.map((bytes) => Math.round(bytes / MIB)).join(" ")} MiB, ` +
      `${sample.handles} handles, ${sample.threads} threads, data ${Math.round(sample.dataBytes / MIB)} MiB, ` +
      `point reads p50 ${quantile(reads, 0.5).toFixed(1)} p99 ${quantile(reads, 0.99).toFixed(1)} ms, ${open} open`,
  );
}

function report(verdict: Verdict): void {
  console.log("\nover the last two thirds       mean        per hour        ±         flat up to");
  for (const { what, unit, mean, slope, slopeError, bound, flat } of verdict.growths) {
    const shown = (value: number): string =>
      (unit === "bytes" ? `${(value / MIB).toFixed(1)} MiB` : value.toFixed(1)).padStart(12);
    console.log(
      `  ${what.padEnd(22)} ${shown(mean)} ${shown(slope)} ${shown(slopeError)} ${shown(bound)}${flat ? "" : "  GROWS"}`,
    );
  }
  console.log("\nstored, more than after a third           entries         bytes");
  for (const { kind, entries, bytes } of verdict.stored.slice(0, 8))
    console.log(`  ${kind.padEnd(36)} ${entries.join(" → ").padStart(16)} ${bytes.join(" → ").padStart(22)}`);
  console.log("\nfrom when it was due, ms     pieces   p50 first  last   p99 first  last third");
  for (const { kind, pieces, p50Ms, p99Ms, slower } of verdict.slowdowns) {
    const shown = (values: readonly [number, number]): string =>
      values.map((ms) => ms.toFixed(1).padStart(8)).join(" ");
    console.log(
      `  ${kind.padEnd(24)} ${String(pieces).padStart(8)} ${shown(p50Ms)} ${shown(p99Ms)}${slower ? "  SLOWER" : ""}`,
    );
  }
  const [first, last] = verdict.cpuMsPerPiece;
  console.log(
    `\nserver CPU per piece of work: ${first.toFixed(2)} ms in the first third, ${last.toFixed(2)} ms in the last`,
  );
  console.log(
    verdict.problems.length === 0
      ? "flat, without a failure"
      : verdict.problems.map((one) => `PROBLEM ${one}`).join("\n"),
  );
}

function write(result: Soak, samples: readonly Sample[], windows: readonly WindowReport[]): void {
  const folder = join(ROOT, "bench/results");
  mkdirSync(folder, { recursive: true });
  const base = join(folder, process.env.RESULT ?? "soak");
  const { date, machine, seconds, ratePerSecond } = result;
  const caption = `${date}, ${Math.round(seconds / 60)} minutes, ${ratePerSecond} pieces of work a second; ${machine.processor}, ${machine.cores} cores`;
  writeFileSync(`${base}.json`, `${JSON.stringify(result)}\n`);
  writeFileSync(`${base}.svg`, chart(caption, samples, windows));
  console.log(`${base}.json and .svg`);
}

const seconds = Number(process.env.SECONDS || 60 * Number(process.env.MINUTES || 60));
const ratePerSecond = Number(process.env.RATE || 200);
const actors = Number(process.env.ACTORS || 1);
const folder = temporaryDirectory("soak-folder");
const data = temporaryDirectory("soak-data");
const machine = describeMachine("own clients");
const server = await startTessera({
  ...ENVIRONMENT,
  TESSERA_ACTORS: String(actors),
  TESSERA_DATA_DIR: data,
  TESSERA_FILES_ROOTS: folder,
});
console.log(
  `${Math.round(seconds / 60)} minutes at ${ratePerSecond} pieces of work a second; the server is process ${server.pid}`,
);
const { samples, windows, census } = await soak(server, await prepared(server, folder, ratePerSecond, seconds), data);
await server.stop();
const censuses = census === null ? null : ([census, await takeCensus(data)] as const);
const verdict = judge(samples, windows, { toothBytes: actors * TOOTH_BYTES, censuses });
report(verdict);
const kindsOf = (latenciesMs: WindowReport["latenciesMs"]): Soak["windows"][number]["kinds"] =>
  Object.fromEntries(
    Object.entries(latenciesMs).map(([kind, values]) => [
      kind,
      { pieces: values.length, p50Ms: quantile(values, 0.5), p99Ms: quantile(values, 0.99) },
    ]),
  );
const date = new Date().toISOString().slice(0, 10);
const reduced = windows.map(({ second, conflicts, lateMsMax, latenciesMs }) => ({
  second,
  conflicts,
  lateMsMax,
  kinds: kindsOf(latenciesMs),
}));
write({ date, machine, seconds, ratePerSecond, actors, verdict, samples, windows: reduced }, samples, windows);
for (const directory of [folder, data]) removeDirectory(directory);
process.exit(verdict.problems.length === 0 ? 0 : 1);
