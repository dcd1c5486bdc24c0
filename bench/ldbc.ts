/**
 * LDBC's Social Network Benchmark (Interactive v1): its 21 reading queries over HTTP, in Cypher over a graph and in SQL
 * over tables with the same data. Answers are compared with PostgreSQL's, which the suite has for sets of parameters.
 *
 * LDBC_SUITE: its folder; QUERIES: a part of the names ("complex-1"); ROUNDS.
 */
import { differenceOfGraph, differenceOfTables } from "./ldbc/compare.js";
import { loadGraph, loadTables, runCypher, runSql } from "./ldbc/load.js";
import { type Expected, type LdbcQuery, queriesOf, suiteFolder } from "./ldbc/suite.js";
import { type Running, startTessera } from "./servers.js";
import { median } from "./statistics.js";

const DAY_MS = 86_400_000;

/**
 * Where the two forms ask different things, so that the graph's answer cannot be the table's: they are shown, and count
 * as right.
 */
const OTHER_QUESTION: Readonly<Record<string, string>> = {
  "interactive-complex-13": "the distance of persons who are not there: SQL says -1, Cypher has no row",
};

export async function ldbc(rounds: number): Promise<void> {
  const suite = suiteFolder();
  if (suite === null) {
    console.log("LDBC: no queries and data found; name their folder in LDBC_SUITE.");
    return;
  }
  const server = await startTessera();
  try {
    await timed("graph", () => loadGraph(server, suite));
    await timed("tables", () => loadTables(server, suite));
    console.log(
      `\nMilliseconds over HTTP (medians of ${rounds} rounds after a first one, means over the parameter sets)`,
    );
    console.log(`  ${"query".padEnd(24)}${"cypher".padStart(10)}${"sql".padStart(10)}`);
    let wrong = 0;
    for (const query of queriesOf(suite, process.env.QUERIES ?? "")) wrong += await measure(server, query, rounds);
    if (wrong > 0) throw new Error(`${wrong} answers differ from PostgreSQL's`);
    console.log("All answers are PostgreSQL's.");
  } finally {
    await server.stop();
  }
}

async function timed(what: string, load: () => Promise<void>): Promise<void> {
  const started = performance.now();
  await load();
  console.log(`${what}: loaded in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** How many answers are wrong. */
async function measure(server: Running, query: LdbcQuery, rounds: number): Promise<number> {
  const notes: string[] = [];
  let wrong = 0;
  const times = { cypher: [] as number[], sql: [] as number[] };
  for (const expected of query.expected) {
    const parameters = cypherParameters(expected.params);
    const cypher = await answer(rounds, async () => (await runCypher(server, query.cypher, parameters)).rows);
    const sql = await answer(rounds, async () => (await runSql(server, sqlText(query.sql, expected))).data.rows);
    times.cypher.push(cypher.ms);
    times.sql.push(sql.ms);
    const graph = cypher.error ?? differenceOfGraph(cypher.rows, expected);
    const tables = sql.error ?? differenceOfTables(sql.rows, expected);
    const other = cypher.error === null ? OTHER_QUESTION[query.name] : undefined;
    if (graph !== null) notes.push(`cypher: ${graph}${other === undefined ? "" : ` (${other})`}`);
    if (tables !== null) notes.push(`sql: ${tables}`);
    wrong += Number(graph !== null && other === undefined) + Number(tables !== null);
  }
  const mean = (values: readonly number[]) => values.reduce((sum, ms) => sum + ms, 0) / values.length;
  const cells = [mean(times.cypher), mean(times.sql)].map((ms) => ms.toFixed(1).padStart(10)).join("");
  console.log(`  ${query.name.padEnd(24)}${cells}  ${notes.join("; ")}`);
  return wrong;
}

interface Answer {
  readonly rows: readonly (readonly unknown[])[];
  readonly ms: number;
  readonly error: string | null;
}

async function answer(rounds: number, ask: () => Promise<readonly (readonly unknown[])[]>): Promise<Answer> {
  try {
    const rows = await ask();
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const started = performance.now();
      await ask();
      times.push(performance.now() - started);
    }
    return { rows, ms: median(times), error: null };
  } catch (error) {
    return { rows: [], ms: Number.NaN, error: (error as Error).message };
  }
}

/** Numbers as numbers; times are epoch milliseconds in the graph. */
function cypherParameters(params: Expected["params"]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(params)) values[name] = /^-?\d+$/.test(text) ? Number(text) : text;
  if (params.startDate !== undefined && params.durationDays !== undefined) {
    values.endDate = Number(params.startDate) + Number(params.durationDays) * DAY_MS;
  }
  return values;
}

/** psql's `:name` as a literal: times are timestamps in UTC. */
function sqlText(sql: string, { params }: Expected): string {
  const text = sql.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(?<!:):([a-zA-Z]\w*)/g, (whole, name: string) => {
    const value = params[name];
    if (value === undefined) return whole;
    if (name.endsWith("Date")) return `'${new Date(Number(value)).toISOString()}'::timestamptz`;
    return /^-?\d+$/.test(value) ? value : `'${value.replaceAll("'", "''")}'`;
  });
  return text.trim().replace(/(;\s*)+$/, "");
}
