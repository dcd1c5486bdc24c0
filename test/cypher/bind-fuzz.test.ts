/**
 * Statements with tokens taken out, put in and exchanged: each is bound, optimized and compiled, or refused by a
 * DbError.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { bindCypher } from "../../src/cypher/bind/bind-cypher.js";
import { tokenize } from "../../src/cypher/parse/lexer.js";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { DbError } from "../../src/protocol/errors.js";
import { compilePlan } from "../../src/query/exec/compile-plan.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import { explainText } from "../../src/query/plan/explain.js";
import { randomFrom } from "../fuzz/random.js";
import { tries } from "../lengths.js";
import { GraphDatabase } from "../query/graphs.js";
import { tckPresent, tckQueries } from "./tck-features.js";

const TRIES = tries(200);

const golden = readFileSync(new URL("../../../test/golden/cypher/queries.txt", import.meta.url), "utf8");
const seeds = [...golden.matchAll(/^> (.*)$/gm)].map(([, line]) => line!);
if (tckPresent()) seeds.push(...tckQueries().map(({ text }) => text));

function tokensOf(text: string): string[] {
  try {
    const { starts, ends } = tokenize(text);
    return starts.map((start, i) => text.slice(start, ends[i]));
  } catch (error) {
    if (error instanceof DbError) return [];
    throw error;
  }
}

t.test("statements with mistakes", async (t) => {
  const db = await GraphDatabase.open(t);
  const graph = db.read((tx) => db.graphIn(tx));
  const statements = seeds.map(tokensOf).filter((tokens) => tokens.length > 0);
  const words = [...new Set(statements.flat())];
  const random = randomFrom(Number(process.env.FUZZ_SEED ?? 6));
  const below = (n: number) => Math.floor(random() * n);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;
  let bound = 0;
  const run = (text: string): void => {
    try {
      const statement = bindCypher(parseCypher(text), text, { graph });
      if (statement.kind !== "query") return;
      const plan = optimize(statement.plan);
      explainText(plan);
      compilePlan(plan);
      bound++;
    } catch (error) {
      if (!(error instanceof DbError)) t.fail(`${text}: ${(error as Error).stack}`);
    }
  };
  for (const text of seeds) run(text);
  for (let i = 0; i < TRIES; i++) {
    const tokens = [...pick(statements)];
    for (let edits = 1 + below(3); edits > 0; edits--) {
      const other = pick(statements);
      const part = random() < 0.3 ? other.slice(below(other.length)).slice(0, 1 + below(6)) : [pick(words)];
      tokens.splice(below(tokens.length), below(3), ...(random() < 0.3 ? [] : part));
    }
    run(tokens.join(" "));
  }
  t.ok(bound > seeds.length / 2, `${bound} bound`);
});
