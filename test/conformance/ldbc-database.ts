/**
 * A tenant on memory storage with the graph of LDBC SNB in both forms: as tables, loaded by INSERT, and as a graph,
 * loaded by CREATE in batches. The data lies beside the checkout and is no part of the project.
 */
import "../../src/features/features.js";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import type { Batch } from "../../src/query/expr/expr.js";
import { Session } from "../../src/session/session.js";
import type { ResultShape, Rows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import { toText } from "../../src/values/text-format.js";
import type { Value } from "../../src/values/values.js";
import { Float } from "../../src/values/variant.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { SUITES } from "./sql-suites.js";
import { statementClient } from "./statement-client.js";

export const LDBC = join(SUITES, "ldbc");

const STATEMENT_MS_MAX = 60_000;
const BATCH_ROWS = 500;

type Row = readonly unknown[];

export interface LdbcDatabase {
  /** Rows as PostgreSQL prints them. */
  sql(text: string): Promise<readonly Row[]>;
  /** Rows as JSON values. */
  cypher(text: string, params?: Readonly<Record<string, unknown>>): Promise<readonly Row[]>;
  close(): void;
}

class PlainRows implements Rows {
  readonly plain: unknown[][] = [];

  constructor(
    private readonly shape: ResultShape,
    private readonly language: "sql" | "cypher",
  ) {}

  append({ columns }: Batch, count: number): number {
    for (let r = 0; r < count; r++) {
      this.plain.push(this.shape.outputs.map(({ type }, c) => this.plainValue(type, columns[c]![r]!)));
    }
    return 0;
  }

  private plainValue(type: ResultShape["outputs"][number]["type"], value: Value): unknown {
    if (this.language === "cypher") return jsonValue(value);
    return value === null ? null : toText(type, value);
  }
}

function jsonValue(value: Value): unknown {
  if (value instanceof Float) return value.value;
  if (Array.isArray(value)) return value.map(jsonValue);
  return value;
}

export async function openLdbc(): Promise<LdbcDatabase> {
  await loadParser();
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(1);
  const session = new Session(tenant, {
    isolation: "read committed",
    readOnly: false,
    user: "tester",
    tenantName: "tester",
    control: "statements",
  });
  const run = async (sql: string, params: Readonly<Record<string, unknown>>, language: "sql" | "cypher") => {
    const collector = (shape: ResultShape) => new PlainRows(shape, language);
    const given = language === "sql" ? [] : params;
    const outcome = await session.execute(
      { sql, params: given, language, maxRows: 1_000_000, collector, request: statementClient(STATEMENT_MS_MAX) },
      (tx) => tenant.commit(tx),
    );
    shard.flush();
    await applyBacklog(shard);
    return outcome.rows.plain as unknown[][];
  };
  const database: LdbcDatabase = {
    sql: (text) => run(text, {}, "sql"),
    cypher: (text, params = {}) => run(text, params, "cypher"),
    close: () => shard.close(),
  };
  await loadTables(database);
  await loadGraph(database);
  await database.sql("ANALYZE");
  return database;
}

const text = (...path: string[]): string => readFileSync(join(LDBC, ...path), "utf8");

/** The fields of each line, without the header. */
const table = (...path: string[]): string[][] =>
  text(...path)
    .split("\n")
    .slice(1)
    .filter((line) => line !== "")
    .map((line) => line.split("|"));

const statements = (sql: string): string[] =>
  sql
    .replace(/--.*$/gm, "")
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");

/** Schema, data and keys as the benchmark's own scripts have them; COPY becomes INSERT. */
async function loadTables(database: LdbcDatabase): Promise<void> {
  for (const statement of statements(text("sql-ddl/schema.sql"))) await database.sql(statement);
  for (const statement of statements(text("sql-ddl/load.sql"))) {
    const copy = /^COPY (.*) FROM '\/data\/(.*)' WITH/.exec(statement);
    if (copy === null) await database.sql(statement);
    else {
      for (const rows of batches(table("sql-data", copy[2]!))) {
        const values = rows.map((row) => `(${row.map(literal).join(", ")})`);
        await database.sql(`INSERT INTO ${copy[1]} VALUES ${values.join(", ")}`);
      }
    }
  }
  for (const script of ["schema_constraints.sql", "schema_foreign_keys.sql"]) {
    for (const statement of statements(text("sql-ddl", script))) await database.sql(statement);
  }
}

export const literal = (field: string): string => (field === "" ? "NULL" : `'${field.replaceAll("'", "''")}'`);

function* batches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += BATCH_ROWS) yield rows.slice(at, at + BATCH_ROWS);
}

/** `name`, `:ID(Person)`, `creationDate:LONG` of cypher-headers.txt. */
interface Field {
  readonly name: string;
  readonly type: string;
  /** Whose ids: of ID, START_ID and END_ID. */
  readonly of: string;
}

/** Nodes first, then relationships, whose ends are found by an index on each label's ids. */
async function loadGraph(database: LdbcDatabase): Promise<void> {
  const files = text("cypher-headers.txt")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [path = "", header = ""] = line.split(" ");
      return { path, fields: header.split("|").map(fieldOf) };
    });
  const isNodes = ({ fields }: (typeof files)[number]) => fields.some(({ type }) => type === "ID");
  for (const label of [...Object.keys(LABELS), "Message"])
    await database.cypher(`CREATE INDEX FOR (n:${label}) ON (n.id)`);
  for (const { path, fields } of files.filter(isNodes)) await loadNodes(database, dataOf(path), fields);
  for (const file of files.filter((other) => !isNodes(other))) {
    await loadRelationships(database, dataOf(file.path), typeOf(file.path), file.fields);
  }
}

/** Each kind of node by the name of its ids, and what its nodes are besides. */
const LABELS: Readonly<Record<string, readonly string[]>> = {
  Organisation: [],
  Place: [],
  TagClass: [],
  Tag: [],
  Comment: ["Message"],
  Forum: [],
  Person: [],
  Post: ["Message"],
};

function fieldOf(text: string): Field {
  const [, name = "", type = "", of = ""] = /^(\w*):(\w+(?:\[\])?)(?:\((\w+)\))?$/.exec(text) ?? [];
  return { name, type, of };
}

function dataOf(path: string): string[][] {
  const [folder = "", name = ""] = path.split("/");
  const file = readdirSync(join(LDBC, "data", folder)).find((other) => other === `${name}_0_0.csv`)!;
  return table("data", folder, file);
}

/** `person_isLocatedIn_place` → `IS_LOCATED_IN` */
const typeOf = (path: string): string =>
  path
    .split("/")[1]!
    .split("_")[1]!
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase();

function propertiesOf(row: readonly string[], fields: readonly Field[]): Record<string, unknown> {
  const properties: Record<string, unknown> = {};
  for (const [i, { name, type }] of fields.entries()) {
    const value = row[i]!;
    if (name === "" || value === "") continue;
    if (type === "STRING") properties[name] = value;
    else properties[name] = type === "STRING[]" ? value.split(";") : Number(value);
  }
  return properties;
}

async function loadNodes(database: LdbcDatabase, rows: string[][], fields: readonly Field[]): Promise<void> {
  const { of } = fields.find(({ type }) => type === "ID")!;
  const labelAt = fields.findIndex(({ type }) => type === "LABEL");
  const byLabels = new Map<string, Record<string, unknown>[]>();
  for (const row of rows) {
    const own = labelAt < 0 ? [] : [row[labelAt]![0]!.toUpperCase() + row[labelAt]!.slice(1)];
    const labels = [of, ...LABELS[of]!, ...own].join(":");
    const same = byLabels.get(labels) ?? [];
    byLabels.set(labels, same);
    same.push(propertiesOf(row, fields));
  }
  for (const [labels, nodes] of byLabels) {
    for (const batch of batches(nodes)) {
      await database.cypher(`UNWIND $rows AS row CREATE (n:${labels}) SET n = row`, { rows: batch });
    }
  }
}

async function loadRelationships(
  database: LdbcDatabase,
  rows: string[][],
  type: string,
  fields: readonly Field[],
): Promise<void> {
  const from = fields.find((field) => field.type === "START_ID")!.of;
  const to = fields.find((field) => field.type === "END_ID")!.of;
  const statement = `UNWIND $rows AS row MATCH (a:${from} {id: row.from}), (b:${to} {id: row.to})
    CREATE (a)-[r:${type}]->(b) SET r = row.properties`;
  for (const batch of batches(rows)) {
    const given = batch.map((row) => ({
      from: Number(row[0]),
      to: Number(row[1]),
      properties: propertiesOf(row, fields),
    }));
    await database.cypher(statement, { rows: given });
  }
}
