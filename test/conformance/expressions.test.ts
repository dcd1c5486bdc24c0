/**
 * Expressions give PostgreSQL's values: those of test/golden/oracle/expressions.txt, which were taken from a server,
 * and random ones where PostgreSQL is installed (skipped without it; EXPRESSIONS_SEED repeats a run). Lines of the
 * golden file are an expression and its text, `!` and a SQLSTATE for an error, NULL as it is printed. With
 * TESSERA_GOLDEN=update the server writes the file anew.
 */
import { readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import { sized } from "../lengths.js";
import { startPostgres } from "./postgres.js";
import { randomExpressions } from "./random-expressions.js";
import { open } from "./sql-adapter.js";

const GOLDEN = "test/golden/oracle/expressions.txt";
const COUNT = sized(80, 300);
const SHOWN_MAX = 5;
const seed = Number(process.env.EXPRESSIONS_SEED ?? 20_261_121);

const oracle = await startPostgres();
t.teardown(() => oracle?.stop());
const database = await open();
t.teardown(() => database.close());

/** The server's answers, in the golden file's spelling. */
function asked(expressions: readonly string[]): string[] {
  const script = expressions.map((sql, i) => `\\echo @@${i}\nSELECT (${sql})::text;\n\\echo @SQLSTATE :SQLSTATE`);
  const answers = new Array<string>(expressions.length).fill("");
  let at = -1;
  let lines: string[] = [];
  for (const line of oracle!.psql(script.join("\n")).split("\n")) {
    const mark = /^@@(\d+)$/.exec(line);
    const end = /^@SQLSTATE (.*)$/.exec(line);
    if (mark !== null) {
      at = Number(mark[1]);
      lines = [];
    } else if (end !== null) answers[at] = end[1] === "00000" ? lines.join("\\n") : `!${end[1]}`;
    else lines.push(line);
  }
  return answers;
}

async function answered(sql: string): Promise<string> {
  try {
    const { rows } = await database.exec(`SELECT (${sql})::text`);
    return (rows[0]![0] ?? "NULL").replaceAll("\n", "\\n");
  } catch (error) {
    return `!${(error as { code: string }).code}`;
  }
}

async function differences(pairs: readonly (readonly [string, string])[]) {
  const found: object[] = [];
  for (const [sql, want] of pairs) {
    const got = await answered(sql);
    // Whether an operand is looked at when another is NULL already is open.
    const undecided = want.startsWith("!") && got === "NULL";
    if (got !== want && !undecided) found.push({ sql, want, got });
  }
  return found;
}

t.test("the golden file", async (t) => {
  const lines = readFileSync(GOLDEN, "utf8").trimEnd().split("\n");
  let pairs = lines.map((line) => line.split(/\t+/) as [string, string]);
  if (process.env.TESSERA_GOLDEN === "update" && oracle !== null) {
    const values = asked(pairs.map(([sql]) => sql));
    pairs = pairs.map(([sql], i) => [sql, values[i]!]);
    writeFileSync(GOLDEN, `${pairs.map((pair) => pair.join("\t")).join("\n")}\n`);
  }
  t.same(await differences(pairs), []);
  t.ok(pairs.length > 100);
});

const skip = oracle === null ? "PostgreSQL is not installed" : false;
t.test(`${COUNT} random expressions (EXPRESSIONS_SEED=${seed})`, { skip }, async (t) => {
  const expressions = randomExpressions(seed, COUNT);
  const values = asked(expressions);
  const found = await differences(expressions.map((sql, i) => [sql, values[i]!] as const));
  t.same(found.slice(0, SHOWN_MAX), [], `${found.length} differ from PostgreSQL ${oracle!.version}`);
});
