/**
 * `make torture-cluster ROUNDS=20 [SEED=1] [FAULTS=kill,stop]`: prints what was found; ends with 1 when there was
 * anything. Faults are made in turn.
 */
import { NO_ETCD } from "../../cluster/etcd.js";
import { ClusterTorture, FAULTS, type Gap } from "./cluster-torture.js";

if (NO_ETCD !== false) {
  console.log(`skipped: ${NO_ETCD}`);
  process.exit(0);
}
const wanted = (process.env.FAULTS || FAULTS.join()).split(",");
const faults = FAULTS.filter((fault) => wanted.includes(fault));
const rounds = Number(process.env.ROUNDS || 20);
const torture = await ClusterTorture.start(Number(process.env.SEED || 1));
try {
  for (let round = 0; round < rounds; round++) {
    const fault = faults[round % faults.length]!;
    const { ofOwner, ms } = await torture.round(fault);
    console.log(`${round + 1} ${fault} of ${ofOwner ? "the owner" : "another node"}: ${ms} ms`);
  }
} catch (error) {
  await torture.abandon();
  throw error;
}
const { problems, acknowledged, unknown, refusals, gaps } = await torture.finish();
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
console.log(`${rounds} rounds: ${acknowledged} appends acknowledged, ${unknown} not, ${problems.length} problems`);
for (const [why, count] of refusals) console.log(`not acknowledged: ${count} ${why}`);
process.exit(problems.length === 0 ? 0 : 1);
