/** `make torture-cluster ROUNDS=20 [SEED=1]`: prints what was found; ends with 1 when there was anything. */
import { NO_ETCD } from "../../cluster/etcd.js";
import { ClusterTorture } from "./cluster-torture.js";

if (NO_ETCD !== false) {
  console.log(`skipped: ${NO_ETCD}`);
  process.exit(0);
}
const rounds = Number(process.env.ROUNDS || 20);
const torture = await ClusterTorture.start(Number(process.env.SEED || 1));
for (let round = 1; round <= rounds; round++) await torture.round(torture.faultOf(round));
const { problems, acknowledged, unknown, gaps } = await torture.finish();
for (const problem of problems) console.log(problem);
for (const fault of new Set(gaps.map((gap) => gap.fault))) {
  const all = gaps.filter((gap) => gap.fault === fault).map(({ ms }) => ms);
  all.sort((a, b) => a - b);
  const median = all[Math.floor(all.length / 2)];
  console.log(
    `${fault}: ${all.length} rounds, nothing acknowledged for ${median} ms (median), ${all.at(-1)} ms (most)`,
  );
}
console.log(`${rounds} rounds: ${acknowledged} appends acknowledged, ${unknown} not, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
