/** One run of the simulation: a seed says how large the node is, what clients do, and what breaks when. */
import { FaultPlan } from "./faults.js";
import { SeededRandom } from "./seeded-random.js";
import { SimulatedNode } from "./simulated-node.js";
import { problemsOfTenant } from "./verify.js";
import { VirtualLoop } from "./virtual-loop.js";
import { Client, TenantWork } from "./workload.js";

export interface Outcome {
  readonly seed: number;
  readonly problems: readonly string[];
  /** Equal for equal runs. */
  readonly trace: number;
  readonly transactions: number;
  readonly committed: number;
  readonly faults: readonly string[];
  readonly virtualMs: number;
}

/** Milliseconds in which clients work. */
const WORK_MS = 600;
const TENANTS = 2;
const CLIENTS = 3;

export async function simulate(seed: number, sabotage: { readonly disksLie?: boolean } = {}): Promise<Outcome> {
  const random = new SeededRandom(seed);
  const loop = new VirtualLoop(seed, random.fork());
  loop.install();
  const works: TenantWork[] = [];
  const problems: string[] = [];
  const faults: string[] = [];
  try {
    const node = new SimulatedNode(loop, {
      actors: random.between(1, 2),
      partitions: random.between(2, 3),
      ...sabotage,
    });
    let isOver = false;
    loop.soon(() => {
      story(node, random, works, problems, faults).then(
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
    faults,
    virtualMs: Math.round(loop.now),
  };
}

async function story(
  node: SimulatedNode,
  random: SeededRandom,
  works: TenantWork[],
  problems: string[],
  told: string[],
): Promise<void> {
  const { loop } = node;
  await node.start();
  for (let i = 0; i < TENANTS; i++) works.push(await makeTenant(node, `tenant${i}`));
  for (const work of works) await work.prepare();
  const clients = works.flatMap((work) =>
    Array.from({ length: CLIENTS }, (_, i) => new Client(work, `${work.name}.${i}`, random.fork())),
  );
  const running = Promise.all(clients.map((client) => client.run()));
  const faults = new FaultPlan(node, works, random.fork(), told);
  await faults.run(WORK_MS);
  for (const client of clients) client.isStopped = true;
  await running;
  await faults.mend();
  for (const work of works) problems.push(...(await problemsOfTenant(work)));
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
