/** One run of a simulated cluster: a seed says what clients do, how clocks go, and what breaks when. */
import { LogFollower } from "../../../src/cluster/log-follower.js";
import { engineHasAll } from "../../../src/storage/engine-has-all.js";
import { FileCommitLog } from "../../../src/storage/file-commit-log.js";
import { tenantOfKey } from "../../../src/storage/keys.js";
import { LayeredEngine } from "../../../src/storage/layered-engine.js";
import type { MemoryEngine } from "../../../src/storage/memory-engine.js";
import { Shard } from "../../../src/storage/shard.js";
import type { FaultyDisk, FaultyEngine } from "../faulty-storage.js";
import type { Operation, Transaction } from "../history.js";
import { SeededRandom } from "../seeded-random.js";
import { problemsOf } from "../serializability.js";
import { VirtualLoop } from "../virtual-loop.js";
import { BRANCHED_TENANTS, type BranchedTenant } from "./branch-clients.js";
import { ClusterClient, READ_ALL, STALE } from "./cluster-clients.js";
import { ClusterFaults } from "./cluster-faults.js";
import { PARTITIONS } from "./cluster-node.js";
import { contentOfBranches, type Lists } from "./simulated-branches.js";
import { SimulatedCluster } from "./simulated-cluster.js";
import type { Sabotage } from "./simulated-log.js";
import { TENANTS } from "./simulated-moves.js";
import { LARGE_SIZES, logDirectoryOf } from "./simulated-sizes.js";

export interface ClusterOutcome {
  readonly seed: number;
  readonly problems: readonly string[];
  /** Equal for equal runs. */
  readonly trace: number;
  readonly transactions: number;
  readonly committed: number;
  readonly unknown: number;
  /** Of those, reads of copies. */
  readonly stale: number;
  readonly openings: number;
  readonly handOvers: number;
  /** Transactions that a hand-over has ended. */
  readonly ended: number;
  /** Of tenants between partitions. */
  readonly moves: number;
  readonly relocated: number;
  /** Of tenants that have branches. */
  readonly forks: number;
  readonly merges: number;
  readonly drops: number;
  readonly pastReads: number;
  readonly faults: readonly string[];
  readonly virtualMs: number;
}

const WORK_MS = 40_000;
const CLIENTS = 6;

export async function simulateCluster(seed: number, sabotage: Sabotage | null = null): Promise<ClusterOutcome> {
  const random = new SeededRandom(seed);
  const loop = new VirtualLoop(seed, random.fork());
  loop.install();
  const problems: string[] = [];
  const faults: string[] = [];
  let transactions: Transaction[][] = [];
  const cluster = new SimulatedCluster(loop, random.fork(), sabotage);
  try {
    let isOver = false;
    const story = async () => {
      transactions = await work(cluster, random, faults);
      problems.push(...cluster.problems, ...(await problemsOfEnd(cluster, transactions)));
    };
    loop.soon(() => {
      story()
        .catch((error: Error) => problems.push(...cluster.problems, error.stack ?? String(error)))
        .finally(() => {
          isOver = true;
        });
    });
    await loop.run(() => isOver, 600_000);
  } catch (error) {
    problems.push(`the run did not end: ${(error as Error).message}`);
  } finally {
    loop.uninstall();
  }
  const all = [...transactions, ...cluster.branched.map((one) => one.transactions)].flat();
  const count = (ending: string) => all.filter((one) => one.ending === ending).length;
  return {
    seed,
    problems,
    trace: loop.trace,
    transactions: all.length,
    committed: count("committed"),
    unknown: count("unknown"),
    stale: all.filter(({ client }) => client.endsWith(STALE)).length,
    openings: cluster.takeovers,
    handOvers: cluster.handOvers,
    ended: cluster.ended,
    moves: cluster.movesBegun,
    relocated: cluster.relocated,
    ...sumsOf(cluster.branched),
    faults,
    virtualMs: Math.round(loop.now),
  };
}

async function work(cluster: SimulatedCluster, random: SeededRandom, told: string[]): Promise<Transaction[][]> {
  const ids = { next: 1 };
  const clients = Array.from({ length: CLIENTS }, (_, i) => new ClusterClient(cluster, `c${i}`, random.fork(), ids));
  for (const node of cluster.nodes) node.start();
  const running = Promise.all(clients.map((client) => client.run()));
  const faults = new ClusterFaults(cluster, random.fork(), told);
  await faults.run(WORK_MS);
  for (const client of clients) client.isStopped = true;
  await running;
  if (!(await faults.mend())) cluster.complain("not every partition has an owner a minute after the last fault");
  // Requests that were sent twice arrive as late as this.
  await cluster.loop.sleep(10_000);
  if (cluster.movesTenants && !(await isSettled(cluster)))
    cluster.complain("not every tenant is settled after a minute");
  return clients[0]!.transactions.map((_, history) => clients.flatMap((client) => client.transactions[history]!));
}

async function isSettled(cluster: SimulatedCluster): Promise<boolean> {
  for (let waited = 0; waited < 60_000; waited += 100) {
    if (cluster.isSettled) return true;
    await cluster.loop.sleep(100);
  }
  return false;
}

/** One place has the tenant, and it has all that was done. */
async function problemsOfTenants(
  cluster: SimulatedCluster,
  reader: ClusterClient,
  transactions: Transaction[][],
): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, tenant] of TENANTS.entries()) {
    const places = cluster.partitionsWith(tenant);
    if (places.length > 1) problems.push(`tenant ${tenant} is in partitions ${places}`);
    let answer: Awaited<ReturnType<ClusterClient["ask"]>> = "unknown";
    for (let tries = 0; tries < 20 && typeof answer === "string"; tries++)
      answer = await reader.ask(null, READ_ALL, tenant);
    if (answer === null || typeof answer === "string") {
      problems.push(`tenant ${tenant} cannot be read at the end: ${answer}`);
      continue;
    }
    const final = new Map(answer.map((one) => [one.key, listOf(one)]));
    const found = problemsOf(transactions[PARTITIONS + index]!, final);
    problems.push(...found.map((problem) => `tenant ${tenant}: ${problem}`));
  }
  return problems;
}

function sumsOf(tenants: readonly BranchedTenant[]) {
  const sum = (count: (one: BranchedTenant) => number) => tenants.reduce((all, one) => all + count(one), 0);
  return {
    ...{ forks: sum(({ forks }) => forks), merges: sum(({ merges }) => merges) },
    ...{ drops: sum(({ drops }) => drops), pastReads: sum(({ pastReads }) => pastReads) },
  };
}

async function problemsOfBranches(cluster: SimulatedCluster, reader: ClusterClient): Promise<string[]> {
  const problems: string[] = [];
  for (const tenant of cluster.branched) {
    const { root } = tenant;
    const place = { partition: root % PARTITIONS, tenant: null, writes: false };
    const final = async (shard: Shard) => {
      await engineHasAll(shard, () => cluster.loop.sleep(1));
      return { seen: shard.committedSequence, value: tenant.final(shard) };
    };
    let answer: Awaited<ReturnType<ClusterClient["send"]>> = "unknown";
    for (let tries = 0; tries < 20 && typeof answer === "string"; tries++) answer = await reader.send(place, final);
    if (typeof answer === "string") {
      problems.push(`branches of ${root} cannot be read at the end: ${answer}`);
      continue;
    }
    const lists = answer.value as Lists;
    problems.push(...problemsOf(tenant.doneOf(lists), lists).map((problem) => `branches of ${root}: ${problem}`));
  }
  return problems;
}

async function problemsOfEnd(cluster: SimulatedCluster, transactions: Transaction[][]): Promise<string[]> {
  const problems: string[] = [];
  const reader = new ClusterClient(cluster, "reader", cluster.random, { next: 0 });
  for (let partition = 0; partition < PARTITIONS; partition++) {
    let answer: Awaited<ReturnType<ClusterClient["ask"]>> = "unknown";
    for (let tries = 0; tries < 20 && typeof answer === "string"; tries++)
      answer = await reader.ask(partition, READ_ALL);
    if (answer === null || typeof answer === "string") {
      problems.push(`${partition} cannot be read at the end: ${answer}`);
      continue;
    }
    const final = new Map(answer.map((one) => [one.key, listOf(one)]));
    problems.push(...problemsOf(transactions[partition]!, final).map((problem) => `${partition}: ${problem}`));
  }
  if (cluster.movesTenants) problems.push(...(await problemsOfTenants(cluster, reader, transactions)));
  problems.push(...(await problemsOfBranches(cluster, reader)));
  for (const node of cluster.nodes) node.crash(false);
  for (let partition = 0; partition < PARTITIONS; partition++)
    problems.push(...(await problemsOfCopies(cluster, partition)));
  return problems;
}

function listOf(operation: Operation): readonly number[] {
  return operation.kind === "read" ? operation.list : [];
}

/** When every copy has followed the log to its end, all hold the same. */
async function problemsOfCopies(cluster: SimulatedCluster, partition: number): Promise<string[]> {
  const contents = new Map<string, string>();
  for (const node of cluster.nodes) {
    const engine = node.engines[partition]!;
    try {
      const local = await FileCommitLog.open({ directory: logDirectoryOf(partition), disk: node.disks[partition]! });
      await new LogFollower(local).catchUp(cluster.truth, partition, () => undefined);
      await local.close();
      contents.set(node.name, await contentOfCopy(engine, node.disks[partition]!, partition));
    } catch (error) {
      return [`${partition}: the copy of ${node.name} cannot follow the log: ${(error as Error).message}`];
    }
  }
  return new Set(contents.values()).size === 1 ? [] : [`${partition}: copies differ: ${JSON.stringify([...contents])}`];
}

/** What a node would serve if it owned the partition. */
async function contentOfCopy(engine: FaultyEngine, disk: FaultyDisk, partition: number): Promise<string> {
  const layers = new LayeredEngine(engine);
  const log = await FileCommitLog.open({ directory: logDirectoryOf(partition), disk });
  const shard = await Shard.open({ engine: layers, layers, log, follows: true, largeSizes: LARGE_SIZES });
  const roots = BRANCHED_TENANTS.filter((root) => root % PARTITIONS === partition);
  const content = [contentOf(engine), ...roots.flatMap((root) => contentOfBranches(shard, root))].join("\n");
  await shard.close();
  return content;
}

function contentOf(engine: MemoryEngine): string {
  const cursor = engine.cursor({ gte: Buffer.alloc(0), lt: Buffer.from([255]) });
  const { keys, values } = cursor.next(10_000);
  cursor.close();
  return keys
    .map((key, i) => `${Buffer.from(key).toString("latin1")}=${Buffer.from(values[i]!).toString("latin1")}`)
    .filter((row, i) => /^(list|filler|place|move)\//.test(row) || TENANTS.includes(tenantOfKey(keys[i]!)))
    .join("\n");
}
