import t from "tap";
import type { TableDef } from "../../src/catalog/table.js";
import { TenantStatistics } from "../../src/catalog/table-statistics.js";

const table = { id: 7 } as TableDef;

t.test("statistics are due after many changes, and rest for fifty times as long as they took", async (t) => {
  const statistics = new TenantStatistics(1);
  statistics.changed(table, 499);
  t.strictSame(statistics.takeDue(0), []);
  statistics.changed(table, 1);
  t.strictSame(statistics.takeDue(0), [7]);
  t.strictSame(statistics.takeDue(0), [], "taken");
  statistics.renewed(7, 1000, 20);
  statistics.changed(table, 10_000);
  t.strictSame(statistics.takeDue(1999), [], "still resting");
  t.strictSame(statistics.takeDue(2000), [7]);
});

t.test("at a bad time renewal is put off, but not for more than a minute", async (t) => {
  const statistics = new TenantStatistics(1);
  statistics.changed(table, 500);
  t.strictSame(
    statistics.takeDue(10, () => true),
    [],
  );
  t.strictSame(
    statistics.takeDue(60_009, () => true),
    [],
  );
  t.strictSame(
    statistics.takeDue(60_010, () => true),
    [7],
  );
  statistics.changed(table, 500);
  t.strictSame(
    statistics.takeDue(70_000, () => true),
    [],
    "the time is counted anew",
  );
  t.strictSame(statistics.takeDue(70_001), [7], "the time is good");
});
