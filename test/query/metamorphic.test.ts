/**
 * The same plan must give the same rows whatever the rules make of it, and however it is cut into batches and turns.
 */
import fc from "fast-check";
import t from "tap";
import { optimize, RULES } from "../../src/query/optimize/optimize.js";
import { explainText } from "../../src/query/plan/explain.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { tries } from "../lengths.js";
import { PARAMS, Random, randomPlan, randomRows, TABLES } from "./random-plans.js";
import { Database } from "./run-plans.js";

type Rows = readonly (readonly unknown[])[];

/** Rows without their order, which a plan leaves open unless it ends in a sort. */
const bag = (rows: Rows) => rows.map((row) => row.map(String).join()).sort();

async function filled(t: Parameters<typeof Database.open>[0], seed: number): Promise<Database> {
  const database = await Database.open(t);
  const rows = randomRows(seed);
  for (const [name, def] of Object.entries(TABLES)) database.insert(def, rows[name as keyof typeof TABLES]);
  return database;
}

function differs(database: Database, plan: Plan, other: Plan, options: object = {}): string | null {
  const expected = bag(database.rows(plan, { params: PARAMS }));
  const found = bag(database.rows(other, { params: PARAMS, ...options }));
  if (JSON.stringify(expected) === JSON.stringify(found)) return null;
  return [...explainText(plan), "gives", ...expected, "but", ...explainText(other), "gives", ...found].join("\n");
}

const RUNS = tries(50);

t.test("optimized plans give the same rows", async (t) => {
  for (let data = 0; data < 6; data++) {
    const database = await filled(t, data);
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const plan = randomPlan(new Random(seed), 3);
        const difference = differs(database, plan, optimize(plan));
        if (difference !== null) throw new Error(difference);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    t.pass(`data ${data}`);
  }
});

t.test("each rule alone keeps the rows", async (t) => {
  const database = await filled(t, 3);
  for (const rule of RULES) {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const plan = randomPlan(new Random(seed), 3);
        const difference = differs(database, plan, optimize(plan, { rules: [rule] }));
        if (difference !== null) throw new Error(`${rule.name}: ${difference}`);
      }),
      // Many rows of NULLs came to a hash join's numbers at once.
      { numRuns: RUNS, endOnFailure: true, examples: [[26]] },
    );
    t.pass(rule.name);
  }
});

t.test("batches of one row and turns given up keep the rows", async (t) => {
  const database = await filled(t, 4);
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const plan = optimize(randomPlan(new Random(seed), 3));
      const difference = differs(database, plan, plan, { batchRows: 1 });
      if (difference !== null) throw new Error(difference);
      const expected = bag(database.rows(plan, { params: PARAMS }));
      const found = bag(await database.yieldingRows(plan, { params: PARAMS, batchRows: 3 }));
      if (JSON.stringify(expected) !== JSON.stringify(found)) throw new Error(explainText(plan).join("\n"));
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  t.pass();
});
