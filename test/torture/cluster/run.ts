/**
 * `make torture-cluster ROUNDS=20 [MINUTES=60] [SEED=1] [FAULTS=kill,stop]`: prints what was found; ends with 1 when
 * there was anything. Faults are made in turn, so many rounds or minutes, whichever is over first. LOGS names a folder
 * for what all processes have logged when a write is lost, or nothing is acknowledged any more.
 */
import { spawnSync } from "node:child_process";
import { NO_ETCD } from "../../cluster/etcd.js";
import { SmallDisk } from "../small-disk.js";
import { ClusterTorture, FAULTS, type Gap } from "./cluster-torture.js";

if (NO_ETCD !== false) {
  console.log(`skipped: ${NO_ETCD}`);
  process.exit(0);
}
const missing = [
  ...(spawnSync("etcdctl", ["version"]).status === 0 ? [] : ["etcd-wipe: no etcdctl on the path (etcd-client)"]),
  ...(canMount() ? [] : ["full-disk: this user may not mount a file system"]),
];
for (const line of missing) console.log(`left out: ${line}`);
const wanted = (process.env.FAULTS || FAULTS.join()).split(",");
const faults = FAULTS.filter((fault) => wanted.includes(fault) && !missing.some((line) => line.startsWith(fault)));
const minutes = Number(process.env.MINUTES || Number.POSITIVE_INFINITY);
const rounds = Number(process.env.ROUNDS || (process.env.MINUTES ? Number.POSITIVE_INFINITY : 20));
const torture = await ClusterTorture.start(Number(process.env.SEED || 1));
let round = 0;
let broken: unknown = null;
try {
  const endMs = performance.now() + minutes * 60_000;
  for (; round < rounds && performance.now() < endMs; round++) {
    const fault = faults[round % faults.length]!;
    const { ofOwner, ms } = await torture.round(fault);
    console.log(`${round + 1} ${fault} of ${ofOwner ? "the owner" : "another node"}: ${ms} ms`);
  }
} catch (error) {
  // What was seen until then is checked all the same.
  broken = error;
  console.log(String(error));
}
const found = await torture.finish();
const { problems, acknowledged, unknown, refusals, gaps } = found;
for (const problem of problems) console.log(problem);
const show = (what: string, of: readonly Gap[]): void => {
  const all = of.map(({ ms }) => ms).sort((a, b) => a - b);
  if (all.length === 0) return;
  const at = (part: number): number => all[Math.ceil(all.length * part) - 1]!;
  console.log(
    `${what}: ${all.length} rounds, nothing acknowledged for ${at(0.5)} ms (p50), ${at(0.9)} (p90), ${at(1)} (most)`,
  );
};
for (const fault of faults)
  show(
    fault,
    gaps.filter((gap) => gap.fault === fault && (gap.ofOwner || fault === "hand-over")),
  );
show(
  "other nodes than the owner",
  gaps.filter(({ fault, ofOwner }) => !ofOwner && fault !== "hand-over"),
);
console.log(`${round} rounds: ${acknowledged} appends acknowledged, ${unknown} not, ${problems.length} problems`);
console.log(
  `${found.repeated} appends were asked for again; ${found.takeovers} takeovers; ${found.transfers} transfers; a subscriber saw ${found.changesSeen} changes; ` +
    `${found.answers.whole} long answers were read, with ${found.answers.broken} breaks`,
);
for (const [why, count] of refusals) console.log(`not acknowledged: ${count} ${why}`);
process.exit(problems.length === 0 && broken === null ? 0 : 1);

function canMount(): boolean {
  const disk = SmallDisk.mount();
  disk?.unmount();
  return disk !== null;
}
