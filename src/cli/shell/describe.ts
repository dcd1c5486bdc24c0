/**
 * The shell's commands `\d…`, which describe tables, views, indexes, functions and schemas. They query the system
 * catalog.
 */
import { CommandError, EXIT } from "../api-client.js";
import type { ResultTable } from "../output-formats.js";

export type Query = (sql: string) => Promise<ResultTable>;

/** A title and rows, or lines as they are. */
export interface Described {
  readonly title: string;
  readonly table: ResultTable;
  readonly lines: readonly string[];
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const OWN = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'";

/** Names with `*` and `?`, as psql's patterns have them; `schema.name` where a schema is given. */
function named(pattern: string | undefined, name: string): string {
  if (pattern === undefined) return OWN;
  const like = (part: string): string =>
    text(
      part
        .replace(/[\\%_]/g, "\\$&")
        .replaceAll("*", "%")
        .replaceAll("?", "_"),
    );
  const [first, second] = pattern.split(".", 2) as [string, string | undefined];
  if (second === undefined) return `${name} LIKE ${like(first)} AND n.nspname <> 'information_schema'`;
  return `n.nspname LIKE ${like(first)} AND ${name} LIKE ${like(second)}`;
}

const KINDS: Readonly<Record<string, readonly [kinds: string, title: string]>> = {
  "": ["'r','p','v','m','S','f'", "Relations"],
  t: ["'r','p'", "Tables"],
  v: ["'v'", "Views"],
  m: ["'m'", "Materialized views"],
  s: ["'S'", "Sequences"],
  i: ["'i'", "Indexes"],
};

function relations(kind: string, pattern: string | undefined): readonly [title: string, sql: string] {
  const [kinds, title] = KINDS[kind]!;
  const of =
    kind === "i"
      ? `, (SELECT t.relname FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid WHERE x.indexrelid = c.oid) AS "table"`
      : "";
  return [
    title,
    `SELECT n.nspname AS schema, c.relname AS name,
       CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view'
         WHEN 'S' THEN 'sequence' WHEN 'i' THEN 'index' ELSE 'other' END AS type${of}
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN (${kinds}) AND ${named(pattern, "c.relname")} ORDER BY 1, 2`,
  ];
}

function listed(letter: string, pattern: string | undefined): readonly [title: string, sql: string] | null {
  switch (letter) {
    case "n":
      return [
        "Schemas",
        `SELECT n.nspname AS name FROM pg_namespace n WHERE ${pattern === undefined ? OWN : named(pattern, "n.nspname")} ORDER BY 1`,
      ];
    case "f":
      return [
        "Functions",
        `SELECT n.nspname AS schema, p.proname AS name, pg_get_function_result(p.oid) AS result, pg_get_function_arguments(p.oid) AS arguments
         FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE ${named(pattern, "p.proname")} ORDER BY 1, 2`,
      ];
    case "T":
      return [
        "Types",
        `SELECT n.nspname AS schema, t.typname AS name FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
         WHERE t.typtype IN ('e','d','r') AND ${named(pattern, "t.typname")} ORDER BY 1, 2`,
      ];
    default:
      return letter in KINDS ? relations(letter, pattern) : null;
  }
}

/** `\d`, `\dt`, `\df pattern` …; null: there is no such command. */
export async function describe(letter: string, pattern: string | undefined, query: Query): Promise<Described | null> {
  if (letter === "" && pattern !== undefined && !/[*?]/.test(pattern)) return describeOne(pattern, query);
  const found = listed(letter, pattern);
  if (found === null) return null;
  const [title, sql] = found;
  return { title, table: await query(sql), lines: [] };
}

async function describeOne(name: string, query: Query): Promise<Described> {
  const found = await query(
    `SELECT c.oid, n.nspname, c.relname, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE ${named(name, "c.relname")} ORDER BY n.nspname = 'public' DESC LIMIT 1`,
  );
  if (found.rows.length === 0) throw new CommandError(EXIT.failed, "not_found", `there is no table or view ${name}`);
  const [oid, schema, relation, kind] = found.rows[0]!.map(String) as [string, string, string, string];
  const columns = await query(
    `SELECT a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type, CASE WHEN a.attnotnull THEN 'not null' ELSE '' END AS nullable,
       coalesce(pg_get_expr(d.adbin, d.adrelid), '') AS default
     FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE a.attrelid = ${oid} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
  );
  const part = async (title: string, sql: string): Promise<string[]> => {
    const { rows } = await query(sql);
    return rows.length === 0 ? [] : [`${title}:`, ...rows.map(([line]) => `    ${line}`)];
  };
  const lines = [
    ...(await part(
      "Indexes",
      `SELECT pg_get_indexdef(x.indexrelid) FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid WHERE x.indrelid = ${oid} ORDER BY c.relname`,
    )),
    ...(await part(
      "Constraints",
      `SELECT quote_ident(conname) || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = ${oid} AND contype <> 'n' ORDER BY conname`,
    )),
    ...(await part(
      "Referenced by",
      `SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE confrelid = ${oid} ORDER BY 1`,
    )),
    ...(kind === "v" || kind === "m" ? await part("Definition", `SELECT pg_get_viewdef(${oid})`) : []),
  ];
  const title = `${kind === "v" ? "View" : kind === "m" ? "Materialized view" : kind === "i" ? "Index" : "Table"} ${schema}.${relation}`;
  return { title, table: columns, lines };
}
