/**
 * Exports tables and a graph of the tenant as a recipe, with related definitions (export-definitions.ts): definitions
 * as the system catalogs print them, rows and nodes within bounds, a workflow that counts them, and a test of those
 * counts. All is read in one snapshot. Called by the handlers of recipes. `notes` list what a recipe cannot hold and
 * was left out.
 */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import { type CatalogView, DEFAULT_SCHEMA } from "../../catalog/catalog-view.js";
import { graphOf } from "../../catalog/graph.js";
import { mayReadGraph } from "../../catalog/graph-rights.js";
import { withoutReferences } from "../../catalog/object-reference.js";
import { permissionDenied } from "../../catalog/rights.js";
import { DbError } from "../../protocol/errors.js";
import { RECIPE_BYTES_MAX, RECIPE_SEED_ROWS_MAX } from "../../protocol/limits.js";
import { VERSION } from "../../protocol/version.js";
import type { GraphSeed, RecipeTest, Step, TableSeed } from "../../recipe/recipe.js";
import { noGraph } from "../../session/ensure-graph.js";
import type { Session } from "../../session/session.js";
import { jsonRows } from "../../session/sql-result.js";
import type { StatementText } from "../../session/statement-run.js";
import { readTogether } from "../statements/run-alone.js";
import {
  countingOf,
  type Definitions,
  defined,
  inOrder,
  literal,
  neededBy,
  quoted,
  type Row,
  routinesOf,
  sequencesOf,
  typesOf,
  unqualified,
  viewsOf,
} from "./export-definitions.js";

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

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
  /** Where its numbers are the server's: as a column of type serial, or an identity ("a" always, "d" by default). */
  readonly counts: "serial" | "a" | "d" | null;
  /** How an identity counts; FOLLOWING: as AUTO_INCREMENT does. */
  readonly counting: string;
  readonly generated: boolean;
  readonly value: string | null;
  /** ON UPDATE, or null. */
  readonly onUpdate: string | null;
}

const FOLLOWING = "AUTO_INCREMENT";

interface ForeignKey {
  readonly name: string;
  readonly text: string;
  /** The table that it refers to. */
  readonly to: string;
}

interface Table {
  readonly id: number;
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

const TRIGGERS = `SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${OF_TABLES} AND NOT t.tgisinternal ORDER BY c.relname, t.tgname`;

const RULES = `SELECT definition FROM pg_rules WHERE schemaname = 'public' AND tablename = ANY($1::text[]) ORDER BY tablename, rulename`;

/** Throws not_found for tables and graphs that are not there, and invalid_request for more than a recipe holds. */
export function exportRecipe(request: Request, asked: ExportRequest): Promise<Exported> {
  return readTogether(request, (session) => new Export(request, session, asked).run());
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
    if (steps.length === 0) {
      if (this.schema.length === 0) {
        throw new DbError("not_found", "There is nothing to export: the tenant has no tables and no graph.");
      }
      steps.push({ name: "made", sql: "SELECT true AS made" });
      expect.push({ step: "made", rows: [[true]] });
    }
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
    const all = this.session.catalog.tables().filter(({ schema }) => schema === DEFAULT_SCHEMA);
    const missing = wanted?.find((name) => !all.some((table) => table.name === name));
    if (missing !== undefined) {
      throw new DbError("not_found", `The table "${missing}" does not exist.`, { field: "tables", sqlstate: "42P01" });
    }
    const rights = rightsOfCaller(this.request.head)(this.session.catalog);
    const mayRead = (table: (typeof all)[number]) => rights.mayName(table) && rights.may(table.id, "r");
    const some = all.filter((table) =>
      wanted === undefined ? !table.name.startsWith("_") && mayRead(table) : wanted.includes(table.name),
    );
    // Of these the definitions are exported, too.
    for (const table of some) if (!mayRead(table)) throw permissionDenied("table", table.name);
    return some.filter((table) => this.canHold(table)).map(({ name }) => name);
  }

  private canHold(table: ReturnType<CatalogView["tables"]>[number]): boolean {
    const { name, partitionKey, parents, children, materialized, collection, ofType } = table;
    if (materialized !== undefined) this.notes.push(`${name}: materialized views are not exported.`);
    else if (ofType !== undefined) this.notes.push(`${name}: tables of a composite type are not exported.`);
    else if ([partitionKey, parents, children].some((part) => part !== undefined)) {
      this.notes.push(`${name}: partitions and tables that inherit are not exported.`);
    } else {
      if (collection !== undefined) this.notes.push(`${name}: the collection is exported as a table.`);
      return true;
    }
    return false;
  }

  /** The number of rows of each, by name. */
  private async addTables(names: readonly string[]): Promise<(readonly [name: string, rows: number])[]> {
    const tables = await this.readTables(names);
    const ordered = await this.addDefinitions(tables);
    const late = lateKeys(ordered);
    const counts: (readonly [string, number])[] = [];
    for (const table of ordered) counts.push([table.name, await this.addRows(table)]);
    // Rows that refer to each other must all exist first. Triggers and rules have already had their effect on these
    // rows.
    for (const { name, foreignKeys } of ordered) {
      for (const key of foreignKeys.filter((one) => late.has(one))) {
        this.addLast(`ALTER TABLE ${quoted(name)} ADD CONSTRAINT ${quoted(key.name)} ${key.text}`);
      }
    }
    for (const { name, columns } of ordered) {
      for (const column of columns.filter(({ counts }) => counts === "a")) {
        this.addLast(`ALTER TABLE ${quoted(name)} ALTER COLUMN ${quoted(column.name)} SET GENERATED ALWAYS`);
      }
    }
    if (names.length > 0) {
      for (const [text] of await this.ask({ sql: TRIGGERS, params: [names] }))
        this.addLast(unqualified(text as string));
      for (const [text] of await this.ask({ sql: RULES, params: [names] })) {
        this.addLast(unqualified((text as string).replace(/;$/, "")));
      }
    }
    return counts.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Placed after the rows, or after the definitions if there are no rows. */
  private addLast(sql: string): void {
    if (this.asked.rows === false) this.schema.push(sql);
    else this.seed.push({ sql });
  }

  /**
   * With what the tables need; without a list of tables, all there is. Answers the tables in the order in which they
   * are made.
   */
  private async addDefinitions(tables: readonly Table[]): Promise<readonly Table[]> {
    const ask = this.ask.bind(this);
    const { catalog } = this.session;
    const all: Definitions = {
      ...{ types: catalog.types(), sequences: catalog.sequences() },
      ...{ functions: catalog.functions(), views: catalog.views() },
    };
    const routines = await routinesOf(all, ask, this.notes);
    const others = [...(await typesOf(all, ask)), ...sequencesOf(all), ...routines];
    const made = tables.map((table) => {
      const text = [definition(table, NO_KEYS), ...table.indexes].join("\n");
      return defined("table", table.id, table.name, [], text);
    });
    const used =
      this.asked.tables === undefined ? [...others, ...(await viewsOf(all, ask, this.notes))] : neededBy(made, others);
    const order = inOrder([...used, ...made]);
    const byName = new Map(tables.map((table) => [table.name, table]));
    const ordered = order.flatMap(({ kind, name }) => (kind === "table" ? [byName.get(name)!] : []));
    const late = lateKeys(ordered);
    for (const { kind, name, statements } of order) {
      const table = kind === "table" ? byName.get(name)! : null;
      this.schema.push(...(table === null ? statements : [definition(table, late), ...table.indexes]));
      if (kind === "sequence") await this.addSequenceState(name);
    }
    return ordered;
  }

  /** Where a sequence of no column goes on. */
  private async addSequenceState(name: string): Promise<void> {
    if (this.asked.rows === false) return;
    const [row] = await this.ask({ sql: `SELECT last_value, is_called FROM ${quoted(name)}`, params: [] });
    const [last, isCalled] = row as [number | string, boolean];
    if (isCalled) this.seed.push({ sql: `SELECT setval(${literal(quoted(name))}, ${last}, true)` });
  }

  private async readTables(names: readonly string[]): Promise<readonly Table[]> {
    if (names.length === 0) return [];
    const columns = await this.ask({ sql: COLUMNS, params: [names] });
    const constraints = await this.ask({ sql: CONSTRAINTS, params: [names] });
    const indexes = await this.ask({ sql: INDEXES, params: [names] });
    const { catalog } = this.session;
    const owned = new Map(
      catalog.sequences().flatMap((sequence) => {
        const { ownedBy } = sequence;
        return ownedBy === null
          ? []
          : [
              [
                `${ownedBy.tableId}/${ownedBy.columnId}`,
                sequence.follows === true ? FOLLOWING : countingOf(sequence),
              ] as const,
            ];
      }),
    );
    return names.map((name) => {
      const own = (rows: readonly Row[]) => rows.filter(([table]) => table === name);
      const [keys, others] = [own(constraints).filter(isForeign), own(constraints).filter((row) => !isForeign(row))];
      const inside = keys.filter(([, , , , to]) => names.includes(to as string));
      for (const [, key, , , to] of keys.filter((row) => !inside.includes(row))) {
        this.notes.push(
          `${name}: exported without the foreign key ${key} to ${to}, because that table is not exported.`,
        );
      }
      const table = catalog.table(DEFAULT_SCHEMA, name)!;
      const countingOfColumn = (name: string) => {
        const column = table.columns.find((one) => one.name === name)!;
        return owned.get(`${table.id}/${column.id}`) ?? null;
      };
      return {
        id: table.id,
        name,
        immutable: table.immutable === true,
        columns: own(columns).map((row) => {
          const { onUpdateSql } = table.columns.find((one) => one.name === row[1])!;
          return columnOf(row, countingOfColumn(row[1] as string), onUpdateSql ? withoutReferences(onUpdateSql) : null);
        }),
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
      this.notes.push(
        `${name}: only ${limit} rows were exported. All tables together have at most ${RECIPE_SEED_ROWS_MAX}.`,
      );
    if (rows.length === 0) return 0;
    this.rowsLeft -= rows.length;
    const seed: TableSeed = { table: name, columns: stored.map((column) => column.name), rows };
    this.seed.push(seed);
    for (const { name: column } of stored.filter(({ counts }) => counts !== null)) {
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
    const graph = graphOf(this.session.catalog, name);
    if (graph === null) {
      if (wanted === undefined) return null;
      throw noGraph(name);
    }
    if (wanted === undefined && !mayReadGraph(rightsOfCaller(this.request.head)(this.session.catalog), graph))
      return null;
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
        `The graph has more than ${limit} nodes and edges. An export has at most ${RECIPE_SEED_ROWS_MAX} rows, nodes and edges in total.`,
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

const isForeign = ([, , kind]: Row): boolean => kind === "f";

/** `counting`: of the sequence that the column owns; null: it owns none. */
function columnOf(
  [, name, type, notNull, identity, generated, value]: Row,
  counting: string | null,
  onUpdate: string | null,
): Column {
  const isSerial = counting !== null && identity === "";
  return {
    name: name as string,
    type: type as string,
    notNull: notNull as boolean,
    counts: isSerial ? "serial" : identity === "" ? null : (identity as "a" | "d"),
    counting: counting ?? "",
    generated: generated !== "",
    value: isSerial || value === null ? null : unqualified(value as string),
    onUpdate,
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

const SERIALS: Readonly<Record<string, string>> = { smallint: "smallserial", integer: "serial", bigint: "bigserial" };

function columnText({ name, type, notNull, counts, counting, generated, value, onUpdate }: Column): string {
  // Rows of an identity that is always the server's are seeded first.
  if (counts === "serial") return `${quoted(name)} ${SERIALS[type] ?? "serial"}`;
  if (counts === "d" && counting === FOLLOWING) return `${quoted(name)} ${type} ${FOLLOWING}`;
  if (counts !== null) return `${quoted(name)} ${type} GENERATED BY DEFAULT AS IDENTITY (${counting})`;
  const made = generated ? ` GENERATED ALWAYS AS (${value}) STORED` : value === null ? "" : ` DEFAULT ${value}`;
  const changes = onUpdate === null ? "" : ` ON UPDATE ${onUpdate}`;
  return `${quoted(name)} ${type}${notNull ? " NOT NULL" : ""}${made}${changes}`;
}

const NO_KEYS: ReadonlySet<ForeignKey> = new Set();

/** Foreign keys that wait for the rows: of a table to itself, and to one that is made later. */
function lateKeys(ordered: readonly Table[]): ReadonlySet<ForeignKey> {
  const places = new Map(ordered.map(({ name }, place) => [name, place]));
  return new Set(ordered.flatMap(({ foreignKeys }, place) => foreignKeys.filter(({ to }) => places.get(to)! >= place)));
}
