/**
 * Random queries give PostgreSQL's answers. RANDOM_SQL_SEED chooses other ones, RANDOM_SQL_QUERIES more. Needs
 * PostgreSQL's binaries; skipped without them.
 */
import t from "tap";
import { randomFrom } from "../fuzz/random.js";
import { sized } from "../lengths.js";
import { startPostgres } from "./postgres.js";
import { QueryGenerator, SETUP } from "./random-sql.js";
import { open } from "./sql-adapter.js";

const QUERIES = Number(process.env.RANDOM_SQL_QUERIES ?? sized(80, 400));
const seed = Number(process.env.RANDOM_SQL_SEED ?? 20_261_121);
const SHOWN_MAX = 5;
const SUCCESS = "00000";
const DIVISION_BY_ZERO = "22012";

interface Answer {
  readonly sqlstate: string;
  readonly rows: readonly string[];
}

const oracle = await startPostgres();
t.teardown(() => oracle?.stop());

const skip = oracle === null ? "PostgreSQL is not installed" : false;
t.test(`${QUERIES} random queries (RANDOM_SQL_SEED=${seed})`, { skip }, async (t) => {
  const generator = new QueryGenerator(randomFrom(seed));
  const queries = Array.from({ length: QUERIES }, () => generator.query());
  const script = [
    ...SETUP.map((sql) => `${sql};`),
    ...queries.map((sql, i) => `\\echo @@${i}\n${sql};\n\\echo @SQLSTATE :SQLSTATE`),
  ];
  const expected = answersOf(oracle!.psql(script.join("\n")));
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of SETUP) await database.exec(sql);
  const differences: object[] = [];
  let failed = 0;
  let skipped = 0;
  for (const [i, sql] of queries.entries()) {
    const want = expected.get(i)!;
    // The second half is planned with statistics.
    if (i === QUERIES >> 1) await database.exec("ANALYZE");
    let got: Answer;
    try {
      const { rows } = await database.exec(sql);
      got = { sqlstate: SUCCESS, rows: rows.map((row) => row.map(asPsql).join("\t")) };
    } catch (error) {
      got = { sqlstate: (error as { code: string }).code, rows: [(error as Error).message] };
    }
    if (want.sqlstate !== SUCCESS) failed++;
    const same = want.sqlstate === got.sqlstate && (want.sqlstate !== SUCCESS || sameRows(want.rows, got.rows));
    // SQL leaves open in which order conditions are evaluated, so one side may meet a division that the other skips.
    const undecided = want.sqlstate !== got.sqlstate && [want.sqlstate, got.sqlstate].includes(DIVISION_BY_ZERO);
    if (undecided) skipped++;
    else if (!same) differences.push({ sql, want: shown(want), got: shown(got) });
  }
  const title = `${differences.length} of ${QUERIES} differ from PostgreSQL ${oracle!.version}`;
  t.same(differences.slice(0, SHOWN_MAX), [], title);
  t.ok(skipped < QUERIES / 50, `${skipped} differ in whether they divide by zero`);
  t.ok(failed < QUERIES / 2, `${QUERIES - failed} of them give rows`);
});

function shown({ sqlstate, rows }: Answer): Answer {
  return { sqlstate, rows: rows.slice(0, SHOWN_MAX) };
}

function asPsql(cell: string | null): string {
  if (cell === null) return "NULL";
  return cell === "true" ? "t" : cell === "false" ? "f" : cell;
}

/** psql's output, cut at the marks. */
function answersOf(output: string): Map<number, Answer> {
  const answers = new Map<number, Answer>();
  let query = -1;
  let rows: string[] = [];
  for (const line of output.split("\n")) {
    const mark = /^@@(\d+)$/.exec(line);
    const end = /^@SQLSTATE (.*)$/.exec(line);
    if (mark !== null) {
      query = Number(mark[1]);
      rows = [];
    } else if (end !== null) {
      answers.set(query, { sqlstate: end[1]!, rows });
      rows = [];
    } else rows.push(line);
  }
  return answers;
}

/**
 * Which of several equal numerics stands for its group or its place is open, so trailing zeros do not count; a boolean
 * and the text "true" cannot be told apart here, so either spelling will do.
 */
function sameRows(want: readonly string[], got: readonly string[]): boolean {
  const plain = (line: string): string =>
    line
      .replace(/\btrue\b/g, "t")
      .replace(/\bfalse\b/g, "f")
      .replace(/(\.\d*?)0+(?=\t|$)/g, "$1")
      .replace(/\.(?=\t|$)/g, "");
  return want.length === got.length && want.every((line, i) => plain(line) === plain(got[i]!));
}
