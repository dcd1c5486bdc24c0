import t from "tap";
import { momentOfText, numberOfText } from "../../src/automl/cell-text.js";
import { unpackColumns } from "../../src/automl/packed-columns.js";
import { columnsForModel } from "../../src/automl/row-columns.js";
import { columnsOfRows, ended } from "./columns.js";

t.test("cells of one sort give a column of that kind, mixed ones text", async (t) => {
  const columns = columnsOfRows([
    { a: 1, b: "x", c: true, d: new Date(0), e: [1, 2], f: 1 },
    { a: null, b: null, c: false, d: null, e: null, f: "two" },
    { a: 3n, b: "y", c: null, d: new Date(5), e: [3, 4], g: { k: 1 } },
  ]);
  t.same(
    columns.map(({ name, kind }) => `${name}:${kind}`),
    ["a:number", "b:text", "c:boolean", "d:timestamp", "e:vector", "f:text", "g:text"],
  );
  t.same([...columns[0]!.values], [1, Number.NaN, 3]);
  t.same([...columns[4]!.values], [1, 2, Number.NaN, Number.NaN, 3, 4]);
  t.same(columns[5]!.values, ["1", "two", null]);
  t.same(columns[6]!.values, [null, null, '{"k":1}']);
});

t.test("rows to predict: null is missing, an absent or mistyped cell names its row and feature", async (t) => {
  const features = [
    { name: "age", kind: "number" },
    { name: "job", kind: "category" },
    { name: "since", kind: "timestamp" },
    { name: "active", kind: "boolean" },
    { name: "words", kind: "vector", dimensions: 2 },
  ] as const;
  const row = { age: "41.5", job: 7, since: "1970-01-01T00:00:01Z", active: "true", words: [1, 2] };
  const missing = { age: null, job: null, since: null, active: null, words: null };
  const columns = unpackColumns(ended(columnsForModel(features, [row, missing])));
  t.same([...columns[0]!.values], [41.5, Number.NaN]);
  t.same(columns[1]!.values, ["7", null]);
  t.same([...columns[2]!.values], [1000, Number.NaN]);
  t.same([...columns[3]!.values], [1, Number.NaN]);
  t.same([...columns[4]!.values], [1, 2, Number.NaN, Number.NaN]);
  const refused = (cells: object, says: RegExp) =>
    t.throws(() => ended(columnsForModel(features, [row, { ...row, ...cells }])), {
      code: "invalid_request",
      message: says,
    });
  refused({ age: undefined }, /Row 2 lacks the feature "age" \(number\)/);
  refused({ age: "old" }, /Row 2: the feature "age" needs a number, not "old"/);
  refused({ since: "soon" }, /Row 2: the feature "since" needs a date/);
  refused({ active: 3 }, /Row 2: the feature "active" needs true or false/);
  refused({ words: [1] }, /Row 2: the feature "words" needs a list of numbers \(2 of them\)/);
  refused({ job: {} }, /Row 2: the feature "job" needs a text/);
});

t.test("numbers and moments in text", async (t) => {
  t.equal(numberOfText(" -1.5e3 "), -1500);
  for (const text of ["", "1,5", "0x10", "Infinity", "1e999", "12a"]) t.same(numberOfText(text), Number.NaN, text);
  t.equal(momentOfText("2024-02-29"), Date.UTC(2024, 1, 29));
  t.equal(momentOfText("2024-02-29 12:30:00.25+02:00"), Date.UTC(2024, 1, 29, 10, 30, 0, 250));
  for (const text of ["2023-02-29", "2024-13-01", "2024-01-01 25:00", "yesterday"])
    t.same(momentOfText(text), Number.NaN, text);
});
