/** Values and headers of Neo4j's bulk format that are long: each is read, or refused, in time that its length says. */
import t from "tap";
import { bulkHeader } from "../../../src/features/import/graph/bulk-header.js";
import { bulkTypeOf, readBulkValue } from "../../../src/features/import/graph/bulk-values.js";
import type { CypherPoint } from "../../../src/values/point.js";

const LENGTH = 1_000_000;
const read = (type: string, text: string) => readBulkValue(bulkTypeOf(type)!, text, ";", null as never);
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return "none";
  } catch (error) {
    return (error as { details?: { sqlstate?: string } }).details?.sqlstate ?? "none";
  }
};

t.test("long values", (t) => {
  t.equal(
    codeOf(() => read("float", `${"1".repeat(LENGTH)}x`)),
    "22P02",
  );
  t.equal(
    codeOf(() => read("int", "9".repeat(LENGTH))),
    "22003",
  );
  t.equal(
    codeOf(() => read("point", `{x:${" ".repeat(LENGTH)}'''}`)),
    "22P02",
  );
  t.equal(
    codeOf(() => read("point", `{x:${" ".repeat(4000)}'''}`)),
    "22P02",
  );
  t.equal(
    codeOf(() => bulkHeader([`"${":a(".repeat(LENGTH)}`], "nodes", "string", true)),
    "22P04",
  );
  t.end();
});

t.test("points", (t) => {
  const point = (text: string) => {
    const { srid, x, y, z } = read("point", text) as CypherPoint;
    return [srid, x, y, z];
  };
  t.same(point("{latitude: 55.7, longitude: 12.6}"), [4326, 12.6, 55.7, null]);
  t.same(point(` { "x" : 1 , 'y': "2.5", crs: 'cartesian' } `), [7203, 1, 2.5, null]);
  for (const text of ["", "{", "{}", "x: 1, y: 2", "{x: 1; y: 2}", "{1: 2}", "{x: 'a'b', y: 1}"]) {
    t.throws(() => read("point", text), text);
  }
  t.end();
});
