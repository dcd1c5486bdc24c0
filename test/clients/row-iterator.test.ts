/** The iterator of rows does what an async generator over the same batches does. */
import t from "tap";
import { type Batch, RowIterator } from "../../clients/typescript/src/row-iterator.js";

interface Seen {
  ended: boolean;
}

async function* batches(sizes: readonly number[], seen: Seen, error?: Error): AsyncGenerator<Batch<number>, void> {
  let n = 0;
  try {
    for (const size of sizes) {
      await Promise.resolve();
      const first = n;
      n += size;
      yield { length: size, row: (number) => first + number };
    }
    if (error !== undefined) throw error;
  } finally {
    seen.ended = true;
  }
}

t.test("all rows in their order, also past batches without rows", async (t) => {
  const seen = { ended: false };
  const rows: number[] = [];
  for await (const row of new RowIterator(batches([0, 3, 0, 1, 5, 0], seen))) rows.push(row);
  t.same(rows, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  t.ok(seen.ended);
});

t.test("calls that do not wait for one another get rows in turn, and then the end", async (t) => {
  const rows = new RowIterator(batches([2, 1, 2], { ended: false }));
  const found = await Promise.all(Array.from({ length: 7 }, () => rows.next()));
  t.same(
    found.map(({ value, done }) => (done === true ? "end" : value)),
    [0, 1, 2, 3, 4, "end", "end"],
  );
});

t.test("who leaves the loop ends the batches", async (t) => {
  const seen = { ended: false };
  const rows = new RowIterator(batches([4, 4], seen));
  for await (const row of rows) if (row === 1) break;
  t.ok(seen.ended);
  t.same(await rows.next(), { value: undefined, done: true });
});

t.test("an error comes after the rows before it, once", async (t) => {
  const rows = new RowIterator(batches([2], { ended: false }, new Error("broken")));
  t.same([(await rows.next()).value, (await rows.next()).value], [0, 1]);
  await t.rejects(rows.next(), { message: "broken" });
  t.same(await rows.next(), { value: undefined, done: true });
  const other = new RowIterator(batches([1], { ended: false }, new Error("broken")));
  const calls = await Promise.allSettled([other.next(), other.next(), other.next()]);
  t.same(
    calls.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
});
