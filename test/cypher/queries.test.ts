/**
 * What statements answer: test/golden/cypher/queries.txt, in its order over one graph ("clear" empties it). Queries run
 * twice, with all rules and with none, and must give the same rows.
 */
import t from "tap";
import { bindCypher } from "../../src/cypher/bind/bind-cypher.js";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { DbError } from "../../src/protocol/errors.js";
import { compilePlan } from "../../src/query/exec/compile-plan.js";
import { runToCompletion } from "../../src/query/exec/run.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import type { Plan } from "../../src/query/plan/plan.js";
import type { Transaction } from "../../src/storage/store.js";
import type { Value } from "../../src/values/values.js";
import { variantToJson } from "../../src/values/variant-format.js";
import { GraphDatabase } from "../query/graphs.js";
import { runGolden } from "../sql/golden.js";

const PARAMETERS: Readonly<Record<string, Value>> = {
  x: 5,
  list: [1, 2, 3],
  map: new Map<string, Value>([["a", 1]]) as unknown as Value,
};

function rowsOf(db: GraphDatabase, tx: Transaction, plan: Plan, names: readonly string[]): string[] {
  const params = names.map((name) => PARAMETERS[name] ?? null);
  const result = runToCompletion(compilePlan(plan), db.context(tx, params), { maxRows: 10_000 });
  if (result instanceof Promise) throw new Error("the plan waited although its turn was not over");
  return result.rows.map((row) => row.map((value) => variantToJson(value)).join(" | "));
}

function answer(db: GraphDatabase, text: string): string {
  const writing = db.shard.begin();
  try {
    const bound = bindCypher(parseCypher(text), text, { graph: db.graphIn(writing) });
    if (bound.kind !== "query") throw new Error("a query was expected");
    const { plan, columns, parameterNames, readOnly, returnsRows } = bound;
    const rows = rowsOf(db, writing, optimize(plan), parameterNames);
    if (readOnly) t.same(rowsOf(db, writing, plan, parameterNames).sort(), [...rows].sort(), text);
    writing.commit();
    return returnsRows ? [columns.map(({ name }) => name).join(" | "), ...rows].join("\n") : "";
  } catch (error) {
    writing.rollback();
    if (error instanceof DbError && error.details?.type !== undefined) {
      return `${error.details.type} ${error.details.detail}: ${error.message}`;
    }
    throw error;
  }
}

t.test("answers", async (t) => {
  let db = await GraphDatabase.open(t);
  const fresh = await Promise.all(Array.from({ length: 14 }, () => GraphDatabase.open(t)));
  runGolden(t, "../cypher/queries.txt", (text) => {
    if (text !== "clear") return answer(db, text);
    db = fresh.pop()!;
    return "";
  });
});
