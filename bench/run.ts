/** `make bench` (all workloads) or `make bench BENCH=tpch`. ROUNDS and SECONDS in the environment. */
import { fairness } from "./fairness.js";
import { importFiles } from "./import.js";
import { insert } from "./insert.js";
import { pointRead } from "./point-read.js";
import { tpch } from "./tpch.js";

const workloads: Readonly<Record<string, (rounds: number, seconds: number) => Promise<void>>> = {
  "point-read": pointRead,
  insert,
  import: importFiles,
  tpch,
  fairness,
};

const rounds = Number(process.env.ROUNDS ?? 3);
const seconds = Number(process.env.SECONDS ?? 5);
const chosen = process.argv.slice(2);
for (const name of chosen.length > 0 ? chosen : Object.keys(workloads)) {
  const workload = workloads[name];
  if (workload === undefined)
    throw new Error(`unknown workload "${name}"; known: ${Object.keys(workloads).join(", ")}`);
  await workload(rounds, seconds);
}
