/** Looks at pg_proc in a thread where nobody has looked before. Started by first-look.test.ts. */
import { parentPort } from "node:worker_threads";
import { open } from "../conformance/sql-adapter.js";

export interface Look {
  readonly count: string;
  /** The same, counted inside an expression, where nothing can be waited for. */
  readonly inside: string;
  readonly again: string;
  /** Of the event loop until the first answer. */
  readonly rounds: number;
}

async function firstLook(): Promise<Look> {
  const database = await open();
  const cell = async (sql: string): Promise<string> => (await database.exec(sql)).rows[0]![0]!;
  await cell("select 1");
  let rounds = 0;
  let isOver = false;
  const round = (): void => {
    rounds++;
    if (!isOver) setImmediate(round);
  };
  setImmediate(round);
  const first = cell("select count(*) from pg_proc");
  const inside = await cell("select (select count(*) from pg_proc where oid > x) from generate_series(1, 1) x");
  const count = await first;
  isOver = true;
  const again = await cell("select count(distinct oid) from pg_proc");
  await database.close();
  return { count, inside, again, rounds };
}

parentPort!.postMessage(await firstLook());
