/** The operators that join: by loops, by hashing, lateral, with empty and with large sides. */
import t from "tap";
import type { Plan } from "../../src/query/plan/plan.js";
import { INT4 } from "../../src/values/values.js";
import { AB, gives, numbers } from "./gives.js";
import { and, col, filter, hashJoin, int, join, op, text, values } from "./plan-builder.js";
import { Database } from "./run-plans.js";

const buildingLeft = (plan: Plan) => ({ ...plan, buildsLeft: true }) as Plan;

t.test("joins of every type, by loops and by hashing", async (t) => {
  const database = await Database.open(t);
  const left = values([["a", INT4]], [[1], [2], [2], [null], [4]]);
  const right = values(AB, [
    [2, "x"],
    [null, "n"],
    [2, "y"],
    [4, "z"],
    [5, "w"],
  ]);
  const [a, b] = [col(left, "a"), col(right, "a")];
  const matches = [
    [2, 2, "x"],
    [2, 2, "y"],
    [2, 2, "x"],
    [2, 2, "y"],
  ];
  const four = [4, 4, "z"];
  const expected = {
    inner: [...matches, four],
    left: [[1, null, null], ...matches, [null, null, null], four],
    right: [...matches, four, [null, null, "n"], [null, 5, "w"]],
    full: [[1, null, null], ...matches, [null, null, null], four, [null, null, "n"], [null, 5, "w"]],
    semi: [[2], [2], [4]],
    anti: [[1], [null]],
  } as const;
  for (const [type, rows] of Object.entries(expected)) {
    const kind = type as keyof typeof expected;
    await gives(t, database, join(kind, left, right, op(a, "=", b)), rows);
    await gives(t, database, hashJoin(kind, left, right, [a, b], null), rows);
  }
  const yOnly = op(col(right, "b"), "=", text("y"));
  for (const plan of [
    join("left", left, right, and(op(a, "=", b), yOnly)),
    hashJoin("left", left, right, [a, b], yOnly),
  ]) {
    await gives(t, database, plan, [
      [1, null, null],
      [2, 2, "y"],
      [2, 2, "y"],
      [null, null, null],
      [4, null, null],
    ]);
  }
  await gives(t, database, hashJoin("anti", left, right, [a, b], yOnly), [[1], [null], [4]]);
  for (const type of ["semi", "anti"] as const) {
    await gives(t, database, buildingLeft(hashJoin(type, left, right, [a, b], null)), expected[type]);
  }
  await gives(t, database, buildingLeft(hashJoin("anti", left, right, [a, b], yOnly)), [[1], [null], [4]]);
});

t.test("joins with an empty side", async (t) => {
  const database = await Database.open(t);
  const some = () => values([["a", INT4]], [[1], [2]]);
  const none = () => values([["a", INT4]], []);
  for (const hashed of [false, true]) {
    const joined = (type: "inner" | "left" | "right" | "full" | "semi" | "anti", left: Plan, right: Plan) =>
      hashed
        ? hashJoin(type, left, right, [col(left, "a"), col(right, "a")], null)
        : join(type, left, right, op(col(left, "a"), "=", col(right, "a")));
    await gives(t, database, joined("inner", some(), none()), []);
    await gives(t, database, joined("left", some(), none()), [
      [1, null],
      [2, null],
    ]);
    await gives(t, database, joined("full", none(), some()), [
      [null, 1],
      [null, 2],
    ]);
    await gives(t, database, joined("anti", some(), none()), [[1], [2]]);
    await gives(t, database, joined("semi", none(), some()), []);
    await gives(t, database, joined("right", some(), none()), []);
    if (!hashed) continue;
    await gives(t, database, buildingLeft(joined("anti", some(), none())), [[1], [2]]);
    await gives(t, database, buildingLeft(joined("semi", some(), none())), []);
    await gives(t, database, buildingLeft(joined("anti", none(), some())), []);
  }
});

t.test("a cross join larger than a batch", async (t) => {
  const database = await Database.open(t);
  const rows = database.rows(join("inner", numbers(50), numbers(50), null));
  t.equal(rows.length, 2500);
  t.strictSame(rows[2499], [49, 49]);
  t.equal((await database.yieldingRows(join("inner", numbers(50), numbers(50), null))).length, 2500);
});

t.test("lateral joins read the left row", async (t) => {
  const database = await Database.open(t);
  const left = values([["a", INT4]], [[0], [1], [2], [null]]);
  const series = numbers(4);
  const below = filter(series, op(col(series, "n"), "<", col(left, "a")));
  await gives(t, database, join("inner", left, below, null), [
    [1, 0],
    [2, 0],
    [2, 1],
  ]);
  await gives(t, database, join("left", left, below, null), [
    [0, null],
    [1, 0],
    [2, 0],
    [2, 1],
    [null, null],
  ]);
  await gives(t, database, join("semi", left, below, null), [[1], [2]]);
  await gives(t, database, join("anti", left, below, null), [[0], [null]]);
  await gives(t, database, join("left", left, below, op(col(below, "n"), ">", int(0))), [
    [0, null],
    [1, null],
    [2, 1],
    [null, null],
  ]);
});
