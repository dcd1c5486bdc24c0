/**
 * Tables and a graph of the tenant as a recipe: definitions as the system catalogs print them, rows and nodes within
 * bounds, a workflow that counts them, and a test of those counts. All is read in one snapshot. Called by the handlers of
 * recipes. What a recipe cannot hold is left out and told in `notes`.
 */
import { DEFAULT_SCHEMA } from "../../catalog/catalog-view.js";
import { graphOf } from "../../catalog/graph.js";
import { DbError } from "../../protocol/errors.js";
import { RECIPE_BYTES_MAX, RECIPE_SEED_ROWS_MAX } from "../../protocol/limits.js";
import { VERSION } from "../../protocol/version.js";
import type { GraphSeed, RecipeTest, Step, TableSeed } from "../../recipe/recipe.js";
import { noGraph } from "../ensure-graph.js";
import { sessionOptions } from "../handlers/query.js";
import type { Request } from "../request.js";
import { Session } from "../session.js";
import { jsonRows } from "../sql-result.js";
import type { StatementText } from "../statement-run.js";
import { withDefinitions } from "../with-definitions.js";

export interface ExportRequest {
  readonly id?: string;
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  /** Absent: all but those whose names begin with an underscore. */
  readonly tables?: readonly string[];
  /** Null: none. */
  readonly graph?: string | null;
  readonly rows?: boolean;
}

export interface Exported {
  /** A recipe's document, not checked yet. */
  readonly document: object;
  readonly notes: readonly string[];
}

type Row = readonly unknown[];

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
  /** Its numbers are the server's. */
  readonly counts: boolean;
  readonly generated: boolean;
  readonly value: string | null;
}

interface ForeignKey {
  readonly name: string;
  readonly text: string;
  /** The table that it refers to. */
  readonly to: string;
}

interface Table {
  readonly name: string;
  readonly immutable: boolean;
  readonly columns: readonly Column[];
  /** In the table's definition. */
  readonly constraints: readonly string[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly indexes: readonly string[];
}

const OF_TABLES = "n.nspname = 'public' AND c.relname = ANY($1::text[])";

const COLUMNS = `SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated,
    pg_get_expr(d.adbin, d.adrelid)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE ${OF_TABLES} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum`;

const CONSTRAINTS = `SELECT c.relname, o.conname, o.contype, pg_get_constraintdef(o.oid), f.relname
  FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_class f ON f.oid = o.confrelid
  WHERE ${OF_TABLES} AND o.contype IN ('p', 'u', 'c', 'f', 'x') ORDER BY o.oid`;

const INDEXES = `SELECT c.relname, i.relname, pg_get_indexdef(x.indexrelid)
  FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE ${OF_TABLES} AND NOT EXISTS (SELECT FROM pg_constraint o WHERE o.conrelid = c.oid AND o.conname = i.relname)
  ORDER BY i.relname`;

const ENUMS = `SELECT DISTINCT t.typname, (SELECT jsonb_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid)
  FROM pg_type t JOIN pg_attribute a ON a.atttypid = t.oid JOIN pg_class c ON c.oid = a.attrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${OF_TABLES} AND t.typtype = 'e' ORDER BY 1`;

/** Throws not_found for tables and graphs that are not there, and invalid_request for more than a recipe holds. */
export async function exportRecipe(request: Request, asked: ExportRequest): Promise<Exported> {
  const session = new Session(request.tenant, { ...sessionOptions(request, "routes"), readOnly: true });
  session.begin({ readOnly: true });
  try {
    return await new Export(request, session, asked).run();
  } finally {
    if (session.inTransaction) session.rollback();
  }
}

class Export {
  private readonly notes: string[] = [];
  private readonly schema: string[] = [];
  private readonly seed: object[] = [];
  private rowsLeft = RECIPE_SEED_ROWS_MAX;

  constructor(
    private readonly request: Request,
    private readonly session: Session,
    private readonly asked: ExportRequest,
  ) {}

  async run(): Promise<Exported> {
    const { asked } = this;
    const names = this.tableNames();
    const counts = await this.addTables(names);
    const graph = await this.addGraph();
    const steps: Step[] = [];
    const expect: NonNullable<RecipeTest["expect"]>[number][] = [];
    if (counts.length > 0) {
      const parts = counts.map(([name]) => `SELECT ${literal(name)} AS name, count(*) AS rows FROM ${quoted(name)}`);
      steps.push({ name: "tables", sql: `${parts.join("\nUNION ALL\n")}\nORDER BY name` });
      expect.push({ step: "tables", contains: counts });
    }
    if (graph !== null) {
      const cypher = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n) AS nodes, count(r) AS edges";
      steps.push({ name: "graph", cypher, ...(graph.name !== "default" && { graph: graph.name }) });
      expect.push({ step: "graph", rows: [[graph.nodes, graph.edges]] });
    }
    if (steps.length === 0)
      throw new DbError("not_found", "There is nothing to export: the tenant has no tables and no graph.");
    const document = {
      id: asked.id ?? "export",
      version: asked.version ?? "1.0.0",
      engine: `>=${VERSION}`,
      name: asked.name ?? "Export",
      description: asked.description ?? `Exported at ${new Date().toISOString()}.`,
      category: "export",
      schema: this.schema,
      seed: this.seed,
      workflow: steps,
      tests: [{ name: "all that was exported is there", expect }],
    };
    if (Buffer.byteLength(JSON.stringify(document)) <= RECIPE_BYTES_MAX) return { document, notes: this.notes };
    throw new DbError("invalid_request", `The export is larger than ${RECIPE_BYTES_MAX} bytes.`, {
      field: "tables",
      hint: 'Name fewer tables, or send "rows": false.',
    });
  }

  private tableNames(): readonly string[] {
    const { tables: wanted } = this.asked;
    return withDefinitions(this.request, (catalog) => {
      const all = catalog.tables().filter(({ schema }) => schema === DEFAULT_SCHEMA);
      const missing = wanted?.find((name) => !all.some((table) => table.name === name));
      if (missing !== undefined) {
        throw new DbError("not_found", `The table "${missing}" does not exist.`, {
          field: "tables",
          sqlstate: "42P01",
        });
      }
      const some = all.filter(({ name }) => (wanted === undefined ? !name.startsWith("_") : wanted.includes(name)));
      return some.filter((table) => this.canHold(table)).map(({ name }) => name);
    });
  }

  private canHold(table: ReturnType<Parameters<Parameters<typeof withDefinitions>[1]>[0]["tables"]>[number]): boolean {
    const { name, partitionKey, parents, children, materialized, triggers, rules, collection, ofType } = table;
    if (materialized !== undefined) this.notes.push(`${name}: materialized views are not exported.`);
    else if (ofType !== undefined) this.notes.push(`${name}: tables of a composite type are not exported.`);
    else if ([partitionKey, parents, children].some((part) => part !== undefined)) {
      this.notes.push(`${name}: partitions and tables that inherit are not exported.`);
    } else {
      if ((triggers ?? rules) !== undefined) this.notes.push(`${name}: without its triggers and rules.`);
      if (collection !== undefined) this.notes.push(`${name}: the collection is exported as a table.`);
      return true;
    }
    return false;
  }

  /** The number of rows of each, by name. */
  private async addTables(names: readonly string[]): Promise<(readonly [name: string, rows: number])[]> {
    if (names.length === 0) return [];
    for (const [name, labels] of await this.ask({ sql: ENUMS, params: [names] })) {
      const list = (labels as string[]).map(literal).join(", ");
      this.schema.push(`CREATE TYPE ${quoted(name as string)} AS ENUM (${list})`);
    }
    const { ordered, late } = inOrder(await this.readTables(names));
    for (const table of ordered) this.schema.push(definition(table, late), ...table.indexes);
    const counts: (readonly [string, number])[] = [];
    for (const table of ordered) counts.push([table.name, await this.addRows(table)]);
    // Rows that refer to each other are all there first.
    for (const { name, foreignKeys } of ordered) {
      for (const key of foreignKeys.filter((one) => late.has(one))) {
        this.seed.push({ sql: `ALTER TABLE ${quoted(name)} ADD CONSTRAINT ${quoted(key.name)} ${key.text}` });
      }
    }
    return counts.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  private async readTables(names: readonly string[]): Promise<readonly Table[]> {
    const columns = await this.ask({ sql: COLUMNS, params: [names] });
    const constraints = await this.ask({ sql: CONSTRAINTS, params: [names] });
    const indexes = await this.ask({ sql: INDEXES, params: [names] });
    const immutable = withDefinitions(this.request, (catalog) =>
      names.filter((name) => catalog.table(DEFAULT_SCHEMA, name)?.immutable === true),
    );
    return names.map((name) => {
      const own = (rows: readonly Row[]) => rows.filter(([table]) => table === name);
      const [keys, others] = [own(constraints).filter(isForeign), own(constraints).filter((row) => !isForeign(row))];
      const inside = keys.filter(([, , , , to]) => names.includes(to as string));
      for (const [, key, , , to] of keys.filter((row) => !inside.includes(row))) {
        this.notes.push(`${name}: without the foreign key ${key} to ${to}, which is not exported.`);
      }
      return {
        name,
        immutable: immutable.includes(name),
        columns: own(columns).map(columnOf),
        constraints: others.map(([, key, , text]) => `CONSTRAINT ${quoted(key as string)} ${text}`),
        foreignKeys: inside.map(([, key, , text, to]) => ({
          name: key as string,
          text: text as string,
          to: to as string,
        })),
        indexes: own(indexes).map(([, , text]) => (text as string).replace(" ON public.", " ON ")),
      };
    });
  }

  private async addRows({ name, columns }: Table): Promise<number> {
    if (this.asked.rows === false) return 0;
    const stored = columns.filter(({ generated }) => !generated);
    const list = stored.map((column) => quoted(column.name)).join(", ");
    const limit = this.rowsLeft;
    const found = await this.ask({
      sql: `SELECT ${list} FROM public.${quoted(name)} LIMIT $1::int8`,
      params: [limit + 1],
    });
    const rows = found.slice(0, limit);
    if (found.length > limit)
      this.notes.push(`${name}: only ${limit} rows; all together have at most ${RECIPE_SEED_ROWS_MAX}.`);
    if (rows.length === 0) return 0;
    this.rowsLeft -= rows.length;
    const seed: TableSeed = { table: name, columns: stored.map((column) => column.name), rows };
    this.seed.push(seed);
    for (const { name: column } of stored.filter(({ counts }) => counts)) {
      const sequence = `pg_get_serial_sequence(${literal(quoted(name))}, ${literal(column)})`;
      this.seed.push({ sql: `SELECT setval(${sequence}, max(${quoted(column)})) FROM ${quoted(name)}` });
    }
    return rows.length;
  }

  private async addGraph(): Promise<{ name: string; nodes: number; edges: number } | null> {
    const { graph: wanted, tables, rows } = this.asked;
    // Who names tables means those alone.
    if (wanted === null || (wanted === undefined && tables !== undefined)) return null;
    const name = wanted ?? "default";
    if (withDefinitions(this.request, (catalog) => graphOf(catalog, name)) === null) {
      if (wanted === undefined) return null;
      throw noGraph(name);
    }
    if (rows === false) return null;
    const text = { language: "cypher", graph: name } as const;
    const limit = this.rowsLeft;
    const nodes = await this.ask({
      ...text,
      sql: "MATCH (n) RETURN id(n), labels(n), properties(n) ORDER BY id(n) LIMIT $limit",
      params: { limit: limit + 1 },
    });
    const edges = await this.ask({
      ...text,
      sql: "MATCH (a)-[r]->(b) RETURN id(a), id(b), type(r), properties(r) ORDER BY id(r) LIMIT $limit",
      params: { limit: limit + 1 },
    });
    if (nodes.length === 0) return null;
    // A part of a graph would be another graph.
    if (nodes.length + edges.length > limit) {
      throw new DbError(
        "invalid_request",
        `The graph has more than the ${limit} nodes and edges that are left of ${RECIPE_SEED_ROWS_MAX} rows.`,
        {
          field: "graph",
          hint: 'Send "graph": null, or fewer tables.',
        },
      );
    }
    const seed: GraphSeed = {
      ...(name !== "default" && { graph: name }),
      nodes: nodes.map(([key, labels, properties]) => ({
        key: key as number,
        labels: labels as string[],
        properties: properties as Record<string, unknown>,
      })),
      edges: edges.map(([from, to, type, properties]) => ({
        from: from as number,
        to: to as number,
        type: type as string,
        properties: properties as Record<string, unknown>,
      })),
    };
    this.seed.push(seed);
    return { name, nodes: nodes.length, edges: edges.length };
  }

  private async ask(text: StatementText): Promise<readonly Row[]> {
    const run = { ...text, maxRows: Number.MAX_SAFE_INTEGER, collector: jsonRows, request: this.request };
    const { rows } = await this.session.execute(run, (tx) => tx.rollback());
    return JSON.parse(`[${rows.json}]`) as Row[];
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const isForeign = ([, , kind]: Row): boolean => kind === "f";

function columnOf([, name, type, notNull, identity, generated, value]: Row): Column {
  const isSerial = typeof value === "string" && value.startsWith("nextval(");
  return {
    name: name as string,
    type: type as string,
    notNull: notNull as boolean,
    counts: isSerial || identity !== "",
    generated: generated !== "",
    value: isSerial ? null : (value as string | null),
  };
}

function definition(
  { name, immutable, columns, constraints, foreignKeys }: Table,
  late: ReadonlySet<ForeignKey>,
): string {
  const keys = foreignKeys.filter((key) => !late.has(key)).map((key) => `CONSTRAINT ${quoted(key.name)} ${key.text}`);
  const lines = [...columns.map(columnText), ...constraints, ...keys];
  return `CREATE ${immutable ? "IMMUTABLE " : ""}TABLE IF NOT EXISTS ${quoted(name)} (\n  ${lines.join(",\n  ")})`;
}

function columnText({ name, type, notNull, counts, generated, value }: Column): string {
  const made = generated ? ` GENERATED ALWAYS AS (${value}) STORED` : value === null ? "" : ` DEFAULT ${value}`;
  const identity = counts ? " GENERATED BY DEFAULT AS IDENTITY" : "";
  return `${quoted(name)} ${type}${notNull && !counts ? " NOT NULL" : ""}${identity}${made}`;
}

/** Tables after those that they refer to, and the foreign keys that wait for the rows: of a table to itself, and of circles. */
function inOrder(tables: readonly Table[]): { ordered: readonly Table[]; late: ReadonlySet<ForeignKey> } {
  const ordered: Table[] = [];
  const late = new Set(tables.flatMap(({ name, foreignKeys }) => foreignKeys.filter(({ to }) => to === name)));
  let waiting = [...tables];
  while (waiting.length > 0) {
    const open = (table: Table) =>
      table.foreignKeys.filter((key) => !late.has(key) && waiting.some((other) => other.name === key.to));
    const free = waiting.filter((table) => open(table).length === 0);
    for (const key of free.length === 0 ? open(waiting[0]!) : []) late.add(key);
    ordered.push(...free);
    waiting = waiting.filter((table) => !free.includes(table));
  }
  return { ordered, late };
}
