/** The files of LDBC's Social Network Benchmark (Interactive v1) that the bench reads: queries, answers, data. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ROOT } from "../servers.js";

/** What PostgreSQL answers to the SQL form for one set of parameters. */
export interface Expected {
  readonly params: Readonly<Record<string, string>>;
  /** How long PostgreSQL took on the machine that made the answers. */
  readonly ms: number;
  readonly rows: readonly (readonly (string | null)[])[];
}

export interface LdbcQuery {
  /** "interactive-complex-1". */
  readonly name: string;
  readonly cypher: string;
  readonly sql: string;
  readonly expected: readonly Expected[];
}

/** The suite's folder: named by LDBC_SUITE, or `shared` beside the repository or its parent. */
export function suiteFolder(): string | null {
  const named = process.env.LDBC_SUITE;
  const candidates =
    named === undefined
      ? ["shared", "../shared", "../../shared"].map((folder) => resolve(ROOT, folder, "suites/ldbc"))
      : [resolve(named)];
  return candidates.find((folder) => existsSync(`${folder}/cypher-queries`)) ?? null;
}

/** Those that read, in order; `only`: a part of the name. */
export function queriesOf(suite: string, only: string): LdbcQuery[] {
  const names = readdirSync(`${suite}/expected`).map((file) => file.replace(/\.json$/, ""));
  const order = new Intl.Collator("en", { numeric: true });
  return names
    .filter((name) => name.includes(only))
    .sort(order.compare)
    .map((name) => ({
      name,
      cypher: readFileSync(`${suite}/cypher-queries/${name}.cypher`, "utf8"),
      sql: readFileSync(`${suite}/sql-queries/${name}.sql`, "utf8"),
      expected: JSON.parse(readFileSync(`${suite}/expected/${name}.json`, "utf8")) as Expected[],
    }));
}

/** The lines of a file after its header, in fields. */
export function rowsOf(file: string): string[][] {
  const [, ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => line.split("|"));
}
