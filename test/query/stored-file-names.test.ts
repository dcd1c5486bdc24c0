/** Files of columns: a new one never takes the name, and so the place, of one that is there. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { StoredTable } from "../../src/query/exec/segments/stored/stored-table.js";
import type { TableSegments } from "../../src/query/exec/segments/table-segments.js";

t.test("files that came after the table was opened count, too", async (t) => {
  const folder = t.testdir();
  const stored = new StoredTable({} as TableSegments, folder);
  t.equal(stored.nextFile, 1);
  writeFileSync(join(folder, "1.columns"), "of a build of before");
  writeFileSync(join(folder, "7.columns"), "");
  stored.passFiles();
  t.equal(stored.nextFile, 8);
});
