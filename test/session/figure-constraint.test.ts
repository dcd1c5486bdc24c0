/** EXCLUDE USING gist over boxes of all sizes against a model that compares each with each. */
import fc from "fast-check";
import t from "tap";
import { boxText } from "../../src/values/geometry.js";
import { boxesOverlap } from "../../src/values/geometry-relations.js";
import { open } from "../conformance/sql-adapter.js";
import { sized } from "../lengths.js";

const at = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.constantFrom(-3, 0, 0, 0, 1, 3)).map(([x, e]) => x * 10 ** e);
const side = fc.oneof(fc.constantFrom(0, 1, 1e-7, 64, 1e12), fc.double({ min: 0, max: 30, noNaN: true }));
const box = fc
  .tuple(at, at, side, side)
  .map(([x, y, width, height]) => ({ low: { x, y }, high: { x: x + width, y: y + height } }));

t.test("a box is refused just when it overlaps another", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  let refused = 0;
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(box, { minLength: 15, maxLength: 30 }), async (boxes) => {
      await database.exec("drop table if exists b");
      await database.exec("create table b (id int primary key, b box, exclude using gist (b with &&))");
      const rows: typeof boxes = [];
      for (const [id, each] of boxes.entries()) {
        const outcome = await database.exec(`insert into b values (${id}, '${boxText(each)}')`).then(
          () => "done",
          (error: { code: string }) => error.code,
        );
        const expected = rows.some((other) => boxesOverlap(other, each)) ? "23P01" : "done";
        if (outcome !== expected) throw new Error(`${boxText(each)}: ${outcome} instead of ${expected}`);
        if (expected === "done") rows.push(each);
      }
      refused += boxes.length - rows.length;
      taken += rows.length;
    }),
    { numRuns: sized(25, 400) },
  );
  t.ok(refused > 5 && taken > 100, `both happen: ${refused} and ${taken} times`);
});
