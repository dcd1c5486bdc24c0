/**
 * What single rules make of SQL. test/golden/plan/sql-<rule>.txt holds a rule's statements, and for each the plan as
 * the rules before it leave it, and the plan after it. Each statement also gives the same rows with the optimizer on
 * and off.
 *
 * To add a statement, write it on a line of its own, with an empty line before it, and run this file with
 * TESSERA_GOLDEN=update, which writes the plans. A statement that its rule must leave alone begins with a comment that
 * says why.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import t from "tap";
import { Cardinality } from "../../src/query/optimize/cardinality.js";
import { optimize, RULES } from "../../src/query/optimize/optimize.js";
import { explainText } from "../../src/query/plan/explain.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import type { Value } from "../../src/values/values.js";
import { goldenPath, matchesGolden } from "./golden.js";
import { Database } from "./run-plans.js";
import { fill, planOf } from "./sql-catalog.js";

/** By rule. */
const CASES = new Map(
  readdirSync(dirname(goldenPath("plan/sql.txt")))
    .flatMap((file) => /^sql-(.+)\.txt$/.exec(file)?.[1] ?? [])
    .map((rule) => [rule, statementsOf(readFileSync(goldenPath(`plan/sql-${rule}.txt`), "utf8"))] as const),
);

/** Blocks with an empty line between them; the first line of each is the statement. */
function statementsOf(text: string): readonly string[] {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((block) => block.split("\n")[0]!);
}

function beforeAndAfter(name: string, sql: string): [Plan, Plan] {
  const rule = RULES.find((one) => one.name === name);
  if (rule === undefined) throw new Error(`no rule ${name}`);
  if (rule.wholeStatement === true) {
    const others = RULES.filter((one) => one !== rule);
    return [optimize(planOf(sql), { rules: others }), optimize(planOf(sql))];
  }
  const cardinality = new Cardinality(null);
  let plan = planOf(sql);
  cardinality.learn(plan);
  for (const rule of RULES) {
    const next = rule.apply(plan, cardinality);
    if (rule.name === name) return [plan, next];
    plan = next;
  }
  throw new Error(`no rule ${name}`);
}

t.before(loadParser);

t.test("each place is one rule's", async (t) => {
  const places = RULES.flatMap((rule, i) => (RULES.indexOf(rule) === i ? rule.places : []));
  t.same(places.toSorted(), [...new Set(places)].toSorted());
  t.equal(places.length, RULES.length);
});

for (const [name, statements] of CASES) {
  t.test(name, async (t) => {
    const printed = statements.map((sql) => {
      const [before, after] = beforeAndAfter(name, sql).map((plan) => explainText(plan).join("\n")) as [string, string];
      t.equal(before === after, sql.startsWith("/*"), sql);
      return `${sql}\n${before}\n${before === after ? "" : `=>\n${after}\n`}`;
    });
    matchesGolden(t, `plan/sql-${name}.txt`, printed.join("\n"));
  });
}

t.test("rows with and without the optimizer", async (t) => {
  const database = await Database.open(t);
  fill(database);
  const bag = (rows: readonly (readonly Value[])[]) => rows.map((row) => row.map(String).join()).sort();
  for (const sql of [...CASES.values()].flat()) {
    const plan = planOf(sql);
    t.strictSame(bag(database.rows(optimize(plan))), bag(database.rows(plan)), sql);
  }
});
