/** What a followed table keeps of its last changes, for those that come back. */
import t from "tap";
import type { TableDef } from "../../../src/catalog/table.js";
import type { ChangedRow } from "../../../src/features/feed/row-change.js";
import { TableWatch } from "../../../src/features/feed/table-watch.js";

const ROW = Buffer.alloc(100);

function watchOf(memoryBytes: number): TableWatch {
  return new TableWatch({ tenant: 1, table: { id: 1 } as TableDef, family: [], since: 0, now: 0, memoryBytes });
}

/** One change a microsecond, up to and including `to`. */
function deliver(watch: TableWatch, from: number, to: number): void {
  const changes = Array.from({ length: to - from + 1 }, (_, i) => ({
    micros: from + i,
    storageId: 1,
    before: null,
    after: ROW,
  }));
  watch.deliver(changes.map((change) => ({ change }) as unknown as ChangedRow));
}

t.test("changes of before the window are left to the log", async (t) => {
  const watch = watchOf(1e6);
  deliver(watch, 1, 1000);
  const bytes = watch.historyBytes;
  watch.forgetUntil(100);
  t.equal(watch.historySince, 0, "a few are not worth it");
  watch.forgetUntil(600);
  t.equal(watch.historySince, 600);
  t.equal(watch.historyBytes, (bytes * 400) / 1000);
  t.equal(watch.changesAfter(599), null);
  t.equal(watch.changesAfter(600)?.length, 400);
  t.equal(watch.changesAfter(990)?.[0]?.micros, 991);
  watch.forgetUntil(5000);
  t.same([watch.historySince, watch.historyBytes, watch.changesAfter(1000)], [1000, 0, []]);
  deliver(watch, 1001, 1010);
  t.equal(watch.changesAfter(1000)?.length, 10);
});

t.test("no more bytes than it may", async (t) => {
  const watch = watchOf(64 * 1024);
  for (let n = 0; n < 50; n++) {
    deliver(watch, n * 100 + 1, (n + 1) * 100);
    t.ok(watch.historyBytes <= 64 * 1024);
    t.equal(watch.changesAfter(watch.historySince)?.at(-1)?.micros, (n + 1) * 100);
  }
  t.ok(watch.historySince > 0);
});
