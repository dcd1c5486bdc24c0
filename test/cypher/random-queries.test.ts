/** Random queries give the same rows with all rules of the optimizer, with each of them alone, and with none. */
import t from "tap";
import { bindCypher } from "../../src/cypher/bind/bind-cypher.js";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { DbError } from "../../src/protocol/errors.js";
import { compilePlan } from "../../src/query/exec/compile-plan.js";
import { runToCompletion } from "../../src/query/exec/run.js";
import { optimize, RULES } from "../../src/query/optimize/optimize.js";
import type { Plan } from "../../src/query/plan/plan.js";
import type { Transaction } from "../../src/storage/store.js";
import { variantToJson } from "../../src/values/variant-format.js";
import { randomFrom } from "../fuzz/random.js";
import { tries } from "../lengths.js";
import { GraphDatabase } from "../query/graphs.js";
import { QueryGenerator, SETUP } from "./random-queries.js";

const QUERIES = tries(75);
const ROWS_MAX = 5_000;

/** Sorted rows, or the kind of error; null: too many to compare. */
function rowsOf(db: GraphDatabase, tx: Transaction, plan: Plan): readonly string[] | null {
  try {
    const result = runToCompletion(compilePlan(plan), db.context(tx), { maxRows: ROWS_MAX });
    if (result instanceof Promise) throw new Error("the plan waited although its turn was not over");
    if (result.rows.length === ROWS_MAX) return null;
    return result.rows.map((row) => row.map((value) => variantToJson(value)).join(" | ")).sort();
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return error.details?.type === undefined ? null : [`${error.details.type} ${error.details.detail}`];
  }
}

t.test("random queries", async (t) => {
  const db = await GraphDatabase.open(t);
  for (const text of SETUP) db.commit((tx) => db.cypher(tx, text));
  const first = Number(process.env.RANDOM_SEED ?? 1);
  const tx = db.shard.begin({ readOnly: true });
  const graph = db.graphIn(tx);
  let compared = 0;
  let found = 0;
  for (let seed = first; seed < first + QUERIES; seed++) {
    const text = new QueryGenerator(randomFrom(seed)).query();
    let plan: Plan;
    try {
      const bound = bindCypher(parseCypher(text), text, { graph });
      if (bound.kind !== "query") throw new Error("a query was expected");
      plan = bound.plan;
    } catch (error) {
      if (error instanceof DbError && error.code === "syntax_error") continue;
      throw error;
    }
    const expected = rowsOf(db, tx, plan);
    if (expected === null) continue;
    compared++;
    if (expected.length > 0) found++;
    const rule = RULES[seed % RULES.length]!;
    t.same(rowsOf(db, tx, optimize(plan)), expected, `${seed}, all rules: ${text}`);
    t.same(rowsOf(db, tx, optimize(plan, { rules: [rule] })), expected, `${seed}, ${rule.name}: ${text}`);
  }
  tx.rollback();
  t.ok(found > QUERIES / 3, `${compared} compared, ${found} of them found something`);
});
