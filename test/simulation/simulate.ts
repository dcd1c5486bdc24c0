/** One run of the simulation: a seed says how large the node is, what clients do, and what breaks when. */
import { BackupWork } from "./backup-work.js";
import { BranchWork } from "./branch-work.js";
import { FaultPlan } from "./faults.js";
import { SeededRandom } from "./seeded-random.js";
import { SimulatedNode } from "./simulated-node.js";
import { type Lists, listsOf, problemsOfTenant } from "./verify.js";
import { problemsOfRestores } from "./verify-restores.js";
import { VirtualLoop } from "./virtual-loop.js";
import { Client, TenantWork } from "./workload.js";

export interface Outcome {
  readonly seed: number;
  readonly problems: readonly string[];
  /** Equal for equal runs. */
  readonly trace: number;
  readonly transactions: number;
  readonly committed: number;
  readonly backups: number;
  readonly restores: number;
  readonly forks: number;
  readonly pastReads: number;
  readonly merges: number;
  readonly faults: readonly string[];
  readonly virtualMs: number;
}

/** Milliseconds in which clients work. */
const WORK_MS = 600;
const TENANTS = 2;
const CLIENTS = 3;

export interface Setting {
  readonly disksLie?: boolean;
  /** Nobody works but the one with branches, for whom a seed is cheap then. */
  readonly onlyBranches?: boolean;
}

export async function simulate(seed: number, { onlyBranches = false, ...sabotage }: Setting = {}): Promise<Outcome> {
  const random = new SeededRandom(seed);
  const loop = new VirtualLoop(seed, random.fork());
  loop.install();
  const works: TenantWork[] = [];
  const backups: BackupWork[] = [];
  const branches: BranchWork[] = [];
  const problems: string[] = [];
  const faults: string[] = [];
  try {
    const node = new SimulatedNode(loop, {
      actors: random.between(1, 2),
      partitions: random.between(2, 3),
      // The keys are on a disk that does not lie.
      isEncrypted: seed % 3 === 0 && sabotage.disksLie !== true,
      logBytes: random.pick([65_536, 1 << 20, 8 << 20]),
      ...sabotage,
    });
    let isOver = false;
    loop.soon(() => {
      story(node, random, { works, backups, branches, onlyBranches }, problems, faults).then(
        () => {
          isOver = true;
        },
        (error: Error) => {
          problems.push(error.stack ?? String(error));
          isOver = true;
        },
      );
    });
    await loop.run(() => isOver, 600_000);
  } catch (error) {
    problems.push(`the run did not end: ${(error as Error).message}`);
  } finally {
    loop.uninstall();
  }
  const transactions = works.flatMap((work) => work.transactions);
  return {
    seed,
    problems,
    trace: loop.trace,
    transactions: transactions.length,
    committed: transactions.filter(({ ending }) => ending === "committed").length,
    backups: sum(backups.map((one) => one.backups)),
    restores: sum(backups.map((one) => one.restores)),
    forks: sum(branches.map((one) => one.forks)),
    pastReads: sum(branches.map((one) => one.pastReads)),
    merges: sum(branches.map((one) => one.merges)),
    faults,
    virtualMs: Math.round(loop.now),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

interface Works {
  readonly works: TenantWork[];
  readonly backups: BackupWork[];
  readonly branches: BranchWork[];
  readonly onlyBranches: boolean;
}

async function story(
  node: SimulatedNode,
  random: SeededRandom,
  { works, backups, branches, onlyBranches }: Works,
  problems: string[],
  told: string[],
): Promise<void> {
  const { loop } = node;
  await node.start();
  for (let i = 0; i < TENANTS && !onlyBranches; i++) works.push(await makeTenant(node, `tenant${i}`));
  for (const work of works) await work.prepare();
  const clients = works.flatMap((work) =>
    Array.from({ length: CLIENTS }, (_, i) => new Client(work, `${work.name}.${i}`, random.fork())),
  );
  // Restores are most of the work of a run: one tenant's are enough.
  const backedUp = onlyBranches ? null : random.pick(works);
  if (backedUp !== null)
    backups.push(new BackupWork(backedUp, await makeTenant(node, `${backedUp.name}-copy`), random.fork()));
  branches.push(new BranchWork(await makeTenant(node, "branched"), random.fork()));
  for (const one of branches) await one.prepare();
  const all = [...clients, ...backups, ...branches];
  const running = Promise.all(all.map((one) => one.run()));
  const faults = new FaultPlan(node, [...works, ...backups.map(({ copy }) => copy)], random.fork(), told);
  await faults.run(WORK_MS);
  for (const one of all) one.isStopped = true;
  await running;
  await faults.mend();
  const final = new Map<TenantWork, Lists>();
  for (const work of works) final.set(work, await listsOf(work));
  for (const one of branches) problems.push(...(await one.look()));
  for (const one of backups) problems.push(...(await problemsOfRestores(one, random.fork())));
  for (const work of works) problems.push(...(await problemsOfTenant(work, final.get(work)!)));
  loop.note(JSON.stringify(works.map(({ transactions }) => transactions)));
}

export async function makeTenant(node: SimulatedNode, name: string): Promise<TenantWork> {
  const expect = async (endpoint: string, body: object, params: string[] = []) => {
    const outcome = await node.call({ endpoint, body, params });
    if (outcome === "lost" || outcome.status !== 201) throw new Error(`${endpoint}: ${JSON.stringify(outcome)}`);
    return outcome.body.data;
  };
  await expect("admin.tenants.create", { id: name });
  const user = await expect("admin.users.create", { username: `${name}-user`, password: "a long password" }, [name]);
  return new TenantWork(node, name, await node.identityOf(user.id));
}
