/** Measures the server and a peer in turn, several rounds of each in one run, and prints medians and their ratios. */
import { type Load, type Measured, measure } from "./load.js";
import type { Running } from "./servers.js";

export interface Contest {
  readonly title: string;
  readonly server: Running;
  readonly peer: Running;
  /** The load of one round; `round` counts from 0 (the warm-up). */
  readonly load: (side: "sql" | "peer", round: number) => Load;
  readonly rounds: number;
}

export async function compare(contest: Contest): Promise<void> {
  const ours: Measured[] = [];
  const theirs: Measured[] = [];
  for (let round = 0; round <= contest.rounds; round++) {
    const one = await measure(contest.server, contest.load("sql", round));
    const other = await measure(contest.peer, contest.load("peer", round));
    if (round === 0) continue;
    ours.push(one);
    theirs.push(other);
  }
  console.log(`\n${contest.title} (medians of ${contest.rounds} rounds, taken in turn)`);
  const figure = (name: string, of: (measured: Measured) => number, digits: number): void => {
    const a = median(ours.map(of));
    const b = median(theirs.map(of));
    console.log(
      `  ${name.padEnd(26)} ${a.toFixed(digits).padStart(10)} ${b.toFixed(digits).padStart(10)}   ratio ${(a / b).toFixed(2)}`,
    );
  };
  console.log(`  ${"".padEnd(26)} ${contest.server.name.padStart(10)} ${"peer".padStart(10)}   (${contest.peer.name})`);
  figure("requests/s", (m) => m.requestsPerSecond, 0);
  figure("requests/server CPU second", (m) => m.requestsPerCpuSecond, 0);
  figure("p50 ms", (m) => m.p50Ms, 2);
  figure("p99 ms", (m) => m.p99Ms, 2);
  const errors = [...ours, ...theirs].reduce((sum, m) => sum + m.errors, 0);
  if (errors > 0) throw new Error(`${errors} requests failed`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
