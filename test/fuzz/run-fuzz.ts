/**
 * `make fuzz MINUTES=30 SEED=1`: hostile inputs until the time is over; each failure is printed once a kind, with its
 * number, and appended to fuzz-failures.ndjson. SIZE=1000000 makes parts of most inputs large, up to so many
 * characters. SEED=… FROM=number COUNT=1 sends one again, COUNT alone the first ones.
 */
import { appendFileSync } from "node:fs";
import { type Failure, Fuzzer } from "./fuzzer.js";

const setting = (name: string, otherwise: number): number => Number(process.env[name] || otherwise);
const seed = setting("SEED", Date.now() % 1_000_000);
const minutes = setting("MINUTES", 10);
const seen = new Map<string, number>();

/** Failures of one place in the code count together. */
function kindOf({ what }: Failure): string {
  return (/"stack":"((?:[^"\\]|\\.){0,300})/.exec(what)?.[1] ?? what)
    .replace(/\d+|"request_id":"[^"]*"/g, "#")
    .slice(0, 240);
}

function found(failure: Failure): void {
  const kind = kindOf(failure);
  const times = (seen.get(kind) ?? 0) + 1;
  seen.set(kind, times);
  if (times > 3) return;
  appendFileSync("fuzz-failures.ndjson", `${JSON.stringify({ seed, ...failure })}\n`);
  if (times === 1)
    console.log(`FAILURE ${failure.number}: ${failure.what}\n  ${JSON.stringify(failure.input).slice(0, 1500)}`);
}

const startedMs = Date.now();
console.log(`seed ${seed}, ${minutes} minutes`);
const fuzzer = await Fuzzer.start({
  seed,
  from: setting("FROM", 0),
  ...(process.env.COUNT ? { count: Number(process.env.COUNT) } : {}),
  untilMs: startedMs + minutes * 60_000,
  clients: setting("CLIENTS", 4),
  size: setting("SIZE", 0),
  found,
});
const report = setInterval(() => {
  const rss = fuzzer.server.pid;
  console.log(
    `${Math.round((Date.now() - startedMs) / 1000)} s: ${fuzzer.sent} inputs, ${seen.size} kinds of failures, pid ${rss}`,
  );
}, 60_000);
await fuzzer.run();
clearInterval(report);
const statuses = [...fuzzer.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
console.log(
  `${fuzzer.sent} inputs in ${((Date.now() - startedMs) / 60_000).toFixed(1)} minutes; ${statuses.join(", ")}`,
);
for (const [kind, times] of seen) console.log(`${times} × ${kind}`);
console.log(`${seen.size} kinds of failures`);
await fuzzer.server.stop();
process.exitCode = seen.size === 0 ? 0 : 1;
