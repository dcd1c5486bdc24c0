/**
 * Scripts of test/golden/postgres with PostgreSQL's answers, taken from a server. A case is a statement after `> ` and
 * its rows, fields parted by `|`, or `!`, a SQLSTATE and a message. A case after the comment `# Ours` has an answer of
 * our own, because PostgreSQL has no such statement or another way. With TESSERA_GOLDEN=update and PostgreSQL installed
 * the server writes the answers anew, all but those. GOLDEN_FILE runs one file.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import t, { type Test } from "tap";
import { type Oracle, startPostgres } from "../conformance/postgres.js";
import { open } from "../conformance/sql-adapter.js";

const DIRECTORY = "test/golden/postgres/";
const BOOL_OID = 16;

interface Case {
  readonly comments: readonly string[];
  readonly statement: string;
  readonly answer: string;
}

const isOurs = ({ comments }: Case) => comments.some((comment) => comment.startsWith("# Ours"));

function parseCase(text: string): Case {
  const lines = text.split("\n").filter((line) => line !== "");
  const comments = lines.filter((line) => line.startsWith("# "));
  const statement = lines.filter((line) => line.startsWith("> ")).map((line) => line.slice(2));
  const answer = lines.filter((line) => !line.startsWith("# ") && !line.startsWith("> "));
  return { comments, statement: statement.join("\n"), answer: answer.join("\n") };
}

function printCase({ comments, statement, answer }: Case): string {
  const lines = statement === "" ? [] : statement.split("\n").map((line) => `> ${line}`);
  return [...comments, ...lines, ...(answer === "" ? [] : [answer])].join("\n");
}

/** The server's answers to the statements, run one after the other. */
function asked(oracle: Oracle, cases: readonly Case[]): string[] {
  const statements = cases.map((each, i) => {
    const run = isOurs(each) || each.statement === "" ? "" : `${each.statement.replace(/;$/, "")};`;
    return `\\echo @@${i}\n${run}\n\\echo @SQLSTATE :SQLSTATE :LAST_ERROR_MESSAGE`;
  });
  const answers = cases.map(() => "");
  let at = 0;
  let lines: string[] = [];
  for (const line of oracle.psql(`\\pset fieldsep '|'\n${statements.join("\n")}`).split("\n")) {
    const mark = /^@@(\d+)$/.exec(line);
    const end = /^@SQLSTATE (\w{5}) (.*)$/.exec(line);
    if (mark !== null) {
      at = Number(mark[1]);
      lines = [];
    } else if (end === null) lines.push(line);
    else answers[at] = end[1] === "00000" ? lines.join("\n") : `!${end[1]} ${end[2]}`;
  }
  return answers;
}

type Database = Awaited<ReturnType<typeof open>>;

async function answered(database: Database, statement: string): Promise<string> {
  try {
    const { rows, oids } = await database.exec(statement);
    if (
      !/^\s*(?:\(|select|values|table|with|show|explain|execute|fetch|call)|^(?!\s*create\b).*\breturning\b/is.test(
        statement,
      )
    )
      return "";
    // A CALL that gives nothing answers with its tag alone.
    if (rows.length === 1 && rows[0]![0] === "CALL") return "";
    const spelled = (value: string | null, i: number) =>
      value === null ? "NULL" : oids[i] === BOOL_OID ? value.slice(0, 1) : value;
    return rows.map((row) => row.map(spelled).join("|")).join("\n");
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `!${code} ${message}`;
  }
}

async function runFile(t: Test, name: string, oracle: Oracle | null): Promise<void> {
  const path = `${DIRECTORY}${name}`;
  let cases = readFileSync(path, "utf8").trimEnd().split("\n\n").map(parseCase);
  if (oracle !== null) {
    const answers = asked(oracle, cases);
    cases = cases.map((each, i) => (isOurs(each) ? each : { ...each, answer: answers[i]! }));
    writeFileSync(path, `${cases.map(printCase).join("\n\n")}\n`);
  }
  const database = await open();
  for (const { statement, answer } of cases) {
    if (statement !== "") t.equal(await answered(database, statement), answer, statement);
  }
  await database.close();
}

const isUpdate = process.env.TESSERA_GOLDEN === "update";
const files = readdirSync(DIRECTORY).filter((name) => name.endsWith(".txt"));
const wanted = files.filter((name) => [undefined, name].includes(process.env.GOLDEN_FILE));
for (const name of wanted) {
  t.test(name, async (t) => {
    const oracle = isUpdate ? await startPostgres() : null;
    await runFile(t, name, oracle);
    await oracle?.stop();
  });
}
