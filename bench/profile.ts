/**
 * Where the CPU went: `node dist/bench/profile.js FILE.cpuprofile …` prints, for each profile (a thread), the functions
 * by the time spent in themselves. SERVER_FLAGS="--cpu-prof" has the server's threads write such files.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const LINES = 30;

for (const file of process.argv.slice(2)) {
  const profile = JSON.parse(readFileSync(file, "utf8")) as Profile;
  const names = new Map(
    profile.nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName === "" ? "(anonymous)" : functionName} ${basename(url)}${url === "" ? "" : `:${lineNumber + 1}`}`.trim(),
    ]),
  );
  const micros = new Map<string, number>();
  profile.samples.forEach((id, i) => {
    const name = names.get(id)!;
    micros.set(name, (micros.get(name) ?? 0) + profile.timeDeltas[i]!);
  });
  const busy = [...micros].reduce((sum, [name, time]) => (name === "(idle)" ? sum : sum + time), 0);
  console.log(`\n${file}: ${(busy / 1e6).toFixed(2)} s busy`);
  const sorted = [...micros].filter(([name]) => name !== "(idle)").sort(([, a], [, b]) => b - a);
  for (const [name, time] of sorted.slice(0, LINES)) {
    const note = name === "(program)" ? " (outside JavaScript: the event loop, system calls, native code)" : "";
    console.log(`  ${((100 * time) / busy).toFixed(1).padStart(5)}%  ${name}${note}`);
  }
}
