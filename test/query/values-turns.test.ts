/** VALUES, and loops that store rows, look at the clock often enough for rows that take long. */
import t from "tap";
import type { ExecContext } from "../../src/query/exec/context.js";
import { storeInTurns } from "../../src/query/exec/operator.js";
import { ValuesOperator } from "../../src/query/exec/values.js";
import type { Batch } from "../../src/query/expr/expr.js";

/** Time passes by what is done, not by a clock. */
class Work {
  private done = 0;
  turns = 0;
  longest = 0;

  readonly context = {
    batchRows: 1024,
    checkpoint: () => {},
    shouldYield: () => this.done >= 8,
    yieldTurn: async () => {
      this.turns++;
      this.done = 0;
    },
  } as unknown as ExecContext;

  step(): void {
    this.longest = Math.max(this.longest, ++this.done);
  }
}

t.test("rows of VALUES", async (t) => {
  const work = new Work();
  const numbers = Array.from({ length: 500 }, (_, i) => i);
  const rows = numbers.map((i) => [
    () => {
      work.step();
      return i;
    },
  ]);
  const operator = new ValuesOperator(
    rows,
    rows.map(() => null),
    1,
    work.context,
  );
  for (let round = 0; round < 2; round++) {
    const found: unknown[] = [];
    for (let batch = (await operator.next()) as Batch | null; batch !== null; batch = (await operator.next()) as Batch)
      found.push(...Array.from(batch.columns[0]!).slice(0, batch.length));
    t.same(found, numbers);
    operator.rewind();
  }
  t.ok(work.longest <= 16 && work.turns > 60, `${work.longest} rows in one turn, ${work.turns} turns`);
});

t.test("rows that are stored", async (t) => {
  const work = new Work();
  t.equal(
    await storeInTurns(
      work.context,
      500,
      () => work.step(),
      () => "all",
    ),
    "all",
  );
  t.ok(work.longest <= 16 && work.turns > 30, `${work.longest} rows in one turn, ${work.turns} turns`);
});
