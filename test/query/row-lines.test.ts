/** The lines of a file's rows, which are kept in few numbers. */
import fc from "fast-check";
import t from "tap";
import { RowLines } from "../../src/query/exec/row-lines.js";

t.test("each row has its line", async () => {
  const step = fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 4 }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 200 }), (first, steps) => {
      const lines = new RowLines();
      const expected = [first];
      for (const each of steps) expected.push(expected.at(-1)! + each);
      for (const line of expected) lines.add(line);
      return expected.every((line, row) => lines.lineOf(row) === line);
    }),
    { numRuns: 300 },
  );
});
