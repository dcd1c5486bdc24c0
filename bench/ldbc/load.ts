/** Loads the social network twice over HTTP: as a graph, and as tables. */
import { readFileSync } from "node:fs";
import { post, type Running } from "../servers.js";
import { rowsOf } from "./suite.js";

const ROWS_PER_REQUEST = 1000;

export const runCypher = (server: Running, cypher: string, parameters: object = {}) =>
  post(`${server.url}/v1/graph/match`, { cypher, parameters }, server.token) as Promise<{ rows: unknown[][] }>;

export const runSql = async (server: Running, sql: string, parameters: readonly unknown[] = []) =>
  (await post(`${server.url}/v1/query/execute`, { sql, parameters }, server.token)) as { data: { rows: unknown[][] } };

const LABELS: Readonly<Record<string, readonly string[]>> = {
  comment: ["Comment", "Message"],
  post: ["Post", "Message"],
  forum: ["Forum"],
  person: ["Person"],
  organisation: ["Organisation"],
  place: ["Place"],
  tag: ["Tag"],
  tagclass: ["TagClass"],
};

interface File {
  readonly path: string;
  /** "person", or "person_knows_person". */
  readonly kind: string;
  readonly columns: readonly string[];
}

function filesOf(suite: string): File[] {
  const lines = readFileSync(`${suite}/cypher-headers.txt`, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const [name, header] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
    return {
      path: `${suite}/data/${name}_0_0.csv`,
      kind: name.slice(name.indexOf("/") + 1),
      columns: header.split("|"),
    };
  });
}

/** Nodes by label, each with an index on its `id`; edges by their nodes. */
export async function loadGraph(server: Running, suite: string): Promise<void> {
  const files = filesOf(suite);
  for (const label of new Set(Object.values(LABELS).flat())) {
    await runCypher(server, `CREATE INDEX FOR (n:${label}) ON (n.id)`);
  }
  const idOf = new Map<string, unknown>();
  for (const file of files.filter(({ kind }) => !kind.includes("_"))) await loadNodes(server, file, idOf);
  for (const file of files.filter(({ kind }) => kind.includes("_"))) await loadEdges(server, file, idOf);
}

async function loadNodes(server: Running, { path, kind, columns }: File, idOf: Map<string, unknown>): Promise<void> {
  const byLabels = new Map<string, Record<string, unknown>[]>();
  for (const fields of rowsOf(path)) {
    const labels = [...(LABELS[kind] as readonly string[])];
    const properties: Record<string, unknown> = {};
    for (const [i, column] of columns.entries()) {
      const text = fields[i] as string;
      const [name, type] = column.split(":") as [string, string];
      if (name === "") labels.push(`${text[0]?.toUpperCase()}${text.slice(1)}`);
      else if (text !== "" || type.endsWith("[]")) properties[name] = propertyOf(type, text);
    }
    const key = labels.join(":");
    byLabels.set(key, [...(byLabels.get(key) ?? []), properties]);
  }
  for (const [labels, nodes] of byLabels) {
    const create = `UNWIND $rows AS row CREATE (n:${labels}) SET n = row RETURN n.id, id(n)`;
    for (const rows of parts(nodes)) {
      for (const [id, node] of (await runCypher(server, create, { rows })).rows) idOf.set(`${kind} ${id}`, node);
    }
  }
}

function propertyOf(type: string, text: string): unknown {
  if (type.endsWith("[]")) return text === "" ? [] : text.split(";");
  return /^(LONG|INT|ID)/.test(type) ? Number(text) : text;
}

/** "hasCreator" is HAS_CREATOR. */
async function loadEdges(server: Running, { path, kind, columns }: File, idOf: Map<string, unknown>): Promise<void> {
  const [from, name, to] = kind.split("_") as [string, string, string];
  const type = name.replace(/[A-Z]/g, "_$&").toUpperCase();
  const property = columns[2]?.split(":")[0];
  const edges = rowsOf(path).map(([a, b, value]) => ({
    a: idOf.get(`${from} ${a}`),
    b: idOf.get(`${to} ${b}`),
    properties: property === undefined ? {} : { [property]: Number(value) },
  }));
  const create =
    "UNWIND $rows AS row MATCH (a), (b) WHERE id(a) = row.a AND id(b) = row.b " +
    `CREATE (a)-[r:${type}]->(b) SET r = row.properties`;
  for (const rows of parts(edges)) await runCypher(server, create, { rows });
}

function* parts<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += ROWS_PER_REQUEST) yield rows.slice(from, from + ROWS_PER_REQUEST);
}

/** As the suite's load.sql says, with INSERTs of the files' rows for its COPYs. */
export async function loadTables(server: Running, suite: string): Promise<void> {
  for (const name of ["schema", "load", "schema_constraints"]) {
    const text = readFileSync(`${suite}/sql-ddl/${name}.sql`, "utf8").replace(/--.*$/gm, "");
    for (const statement of text.split(";").map((part) => part.trim())) {
      const copy = /^COPY\s+(\w+)\s*(\([^)]*\))?\s*FROM\s+'\/data\/([^']+)'/.exec(statement);
      if (copy !== null) await insertFile(server, `${copy[1]} ${copy[2] ?? ""}`, `${suite}/sql-data/${copy[3]}`);
      else if (statement !== "") await runSql(server, statement);
    }
  }
  await runSql(server, "ANALYZE");
}

async function insertFile(server: Running, target: string, file: string): Promise<void> {
  for (const rows of parts(rowsOf(file))) {
    const tuples = rows.map((row, r) => `(${row.map((_, c) => `$${r * row.length + c + 1}`).join(", ")})`);
    const values = rows.flat().map((text) => (text === "" ? null : text));
    await runSql(server, `INSERT INTO ${target} VALUES ${tuples.join(", ")}`, values);
  }
}
