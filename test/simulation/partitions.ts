/** The histories of several tenants on a simulated node without faults, by the number of its partitions. */
import { SeededRandom } from "./seeded-random.js";
import { makeTenant } from "./simulate.js";
import { SimulatedNode } from "./simulated-node.js";
import { VirtualLoop } from "./virtual-loop.js";

const TENANTS = 4;

/**
 * Each tenant's answers; all run at the same time. `restarts`: the power is cut now and then, between two statements.
 */
export async function answersOnNode(
  seed: number,
  histories: readonly (readonly string[])[],
  layout: { readonly actors: number; readonly partitions: number },
  restarts: boolean,
): Promise<string[][]> {
  const random = new SeededRandom(seed);
  const loop = new VirtualLoop(seed, random.fork());
  loop.install();
  const answers: string[][] = [];
  try {
    let failure: Error | null = null;
    let isOver = false;
    const story = async (): Promise<void> => {
      const node = new SimulatedNode(loop, layout);
      await node.start();
      const works = [];
      for (let i = 0; i < TENANTS; i++) works.push(await makeTenant(node, `tenant${i}`));
      const longest = Math.max(...histories.map(({ length }) => length));
      for (const _ of works) answers.push([]);
      for (let step = 0; step < longest; step++) {
        if (restarts && step % 20 === 19) {
          node.cutPower();
          await node.start();
        }
        await Promise.all(
          works.map(async (work, i) => {
            const sql = histories[i]![step];
            if (sql === undefined) return;
            const outcome = await work.call("query.execute", { sql, max_rows: 100_000 });
            if (outcome === "lost") throw new Error(`${sql} was not answered`);
            const rows = outcome.body.data?.rows as unknown[] | undefined;
            const text = rows?.map((row) => JSON.stringify(row)).sort();
            answers[i]!.push(text === undefined ? `error ${outcome.body.error.code}` : JSON.stringify(text));
          }),
        );
      }
    };
    loop.soon(() => {
      story().then(
        () => {
          isOver = true;
        },
        (error: Error) => {
          failure = error;
          isOver = true;
        },
      );
    });
    await loop.run(() => isOver, 3_600_000);
    if (failure !== null) throw failure;
  } finally {
    loop.uninstall();
  }
  return answers;
}
