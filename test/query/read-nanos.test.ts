/** How long reads of segments are thought to take: what decides whether threads take part. */
import t from "tap";
import type { CachedPages } from "../../src/query/exec/segments/stored/page-cache.js";
import { readNanos } from "../../src/query/exec/threads/read-nanos.js";
import type { SentRead } from "../../src/query/exec/threads/read-threads.js";

const ROWS = 1000;
const TEXT_BYTES = 50_000;

/** Of two columns, a number and a text; `read`: ids of those that are in memory. */
function pages(...read: number[]): CachedPages {
  const known: Pick<CachedPages, "rows" | "isRead" | "columnBytes"> = {
    rows: ROWS,
    isRead: (id) => read.includes(id),
    columnBytes: (id) => (id === 7 ? TEXT_BYTES : 4 * ROWS),
  };
  return known as CachedPages;
}

const number = { kind: "column", type: { name: "int4" }, id: 1, name: "b" } as const;
const text = { kind: "column", type: { name: "text" }, id: 2, name: "name" } as const;

function first(by: typeof number | typeof text, more: Partial<SentRead> = {}): SentRead {
  return {
    columns: [
      { id: 1, type: { name: "int4" }, name: "b" },
      { id: 2, type: { name: "text" }, name: "name" },
    ],
    source: [5, 7],
    filter: null,
    project: null,
    goal: { kind: "topn", keys: [{ expr: by, descending: false, nullsFirst: false }] },
    ...more,
  } as unknown as SentRead;
}

t.test("of rows in the order of a number, only that column is read", async (t) => {
  const alone = readNanos(first(number));
  t.equal(alone(pages(5)), alone(pages(5, 7)), "the text is read of few rows");
  t.ok(alone(pages()) > alone(pages(5)), "the number of all");
});

t.test("all columns are read of rows in another order, or with a condition", async (t) => {
  for (const read of [
    first(text),
    first(number, { filter: { kind: "isnull", input: text, negated: true } as never }),
  ]) {
    const nanos = readNanos(read);
    t.ok(nanos(pages(5)) - nanos(pages(5, 7)) >= TEXT_BYTES);
  }
});
