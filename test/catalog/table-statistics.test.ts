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
