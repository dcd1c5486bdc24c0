/** Files of columns: a new one never takes the name, and so the place, of one that is there. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { StoredTable } from "../../src/query/exec/segments/stored/stored-table.js";
import type { TableSegments } from "../../src/query/exec/segments/table-segments.js";

t.test("files that are there when the table is opened count", async (t) => {
  const folder = t.testdir();
  t.equal(new StoredTable({} as TableSegments, folder).nextFile, 1);
  writeFileSync(join(folder, "1.columns"), "of a build of before");
  writeFileSync(join(folder, "7.columns"), "");
  t.equal(new StoredTable({} as TableSegments, folder).nextFile, 8);
});
