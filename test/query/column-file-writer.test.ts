/** A column file whose folder goes away while it is written: its table was dropped. */
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { ColumnFileWriter } from "../../src/query/exec/segments/stored/column-file.js";

t.test("after a failed end its file is closed once, since the number may be another file's by then", (t) => {
  const folder = join(t.testdir(), "columns");
  mkdirSync(folder);
  const writer = new ColumnFileWriter(join(folder, "0.columns"));
  rmSync(folder, { recursive: true });
  t.throws(() => writer.finish(), { code: "ENOENT" });
  const others = Array.from({ length: 8 }, () => openSync(process.execPath, "r"));
  writer.abandon();
  for (const other of others) t.ok(fstatSync(other).isFile(), "it is still open");
  for (const other of others) closeSync(other);
  t.end();
});

t.test("what is given up leaves no file", (t) => {
  const path = join(t.testdir(), "0.columns");
  const writer = new ColumnFileWriter(path);
  t.ok(existsSync(`${path}.new`));
  writer.abandon();
  t.notOk(existsSync(`${path}.new`));
  t.end();
});
