/**
 * Where the relations of pg_catalog and information_schema get their rows: from the definitions that the statement's
 * transaction sees, and from the session that runs it.
 */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import type { IndexBuild } from "../../../catalog/index-build.js";
import { hasLargeObjects, isOfLargeObjects } from "../../../catalog/kept-tables.js";
import type { Rights } from "../../../catalog/rights.js";
import { isTemporarySchema } from "../../../catalog/schema.js";
import type { SequenceDef, SequencePosition } from "../../../catalog/sequence.js";
import type { TableStatistics } from "../../../catalog/statistics.js";
import type { SearchIndexDef, TableDef } from "../../../catalog/table.js";
import type { TableLockMode } from "../../../protocol/lock-strength.js";
import { Capability, need } from "../../../query/expr/capability.js";
import type { EvalContext } from "../../../query/expr/expr.js";
import { MadeRows, recordRows, type TableFunction, type TableRows } from "../../../query/expr/table-function.js";
import { recordOf, type SqlType, type Value } from "../../../values/values.js";
import type { VariantMap } from "../../../values/variant.js";
import { type Shape, type SystemSchema, systemShapes, usualValue } from "./shapes.js";
import { inStretches, toEnd } from "./steps.js";
import { type Rows, visibleRows } from "./visible-rows.js";

/** A session that lasts longer than a request. */
export interface LiveSession {
  readonly number: number;
  readonly user: string;
  readonly application: string;
  /** "": not known. */
  readonly address: string;
  /** Microseconds since the epoch; null: not in a transaction, or none has run. */
  readonly startedMicros: number;
  readonly transactionMicros: number | null;
  readonly statementMicros: number | null;
  readonly changedMicros: number;
  readonly state: "active" | "idle" | "idle in transaction" | "idle in transaction (aborted)";
  /** The statement that runs, or ran last. */
  readonly statement: string;
  readonly protocol: "postgresql" | "bolt";
  readonly owner: { readonly userId: string; readonly keyId: string };
  /** Null: it is in none. */
  readonly transaction: LiveTransaction | null;
}

/** What a session is in the middle of. */
export interface LiveTransaction {
  /** No other one of the tenant has it. */
  readonly id: string;
  /** The graph that it is about, or the tenant. */
  readonly database: string;
  /** What the client has said about it. */
  readonly metadata: VariantMap;
  /** Of the statement that runs, as far as its protocol names them. */
  readonly parameters: VariantMap;
  /** Tells the statement that runs from others of the transaction. */
  readonly query: number;
  readonly status: "Running" | "Blocked" | "Terminated";
  /** Ends it from outside. Its client is told at its next message. */
  terminate(): void;
}

/** A lock that a session holds, or waits for. */
export type LiveLock = {
  /** The session's number; null: a request of HTTP. */
  readonly pid: number | null;
  /** Null: it is held; else since when it is waited for, in microseconds since the epoch. */
  readonly waitsSinceMicros: number | null;
} & (
  | { readonly kind: "rows"; readonly storageId: number; readonly writes: boolean }
  /** By LOCK TABLE. */
  | { readonly kind: "table"; readonly storageId: number; readonly mode: TableLockMode }
  /** The session is in a transaction, or runs a statement. */
  | { readonly kind: "virtual" }
  /** It is the one that reads pg_locks. */
  | { readonly kind: "reads locks" }
  /** Of what a transaction holds, the whole. */
  | { readonly kind: "transaction"; readonly transaction: number }
  /** `key`: one number of 64 bits, or two of 32 with a comma between. */
  | { readonly kind: "advisory"; readonly key: string; readonly shared: boolean }
);

export interface PreparedStatementFacts {
  readonly name: string;
  readonly sql: string;
  readonly preparedMicros: number;
  readonly parameterTypes: readonly SqlType[];
  /** By PREPARE, not by a message of the protocol. */
  readonly bySql: boolean;
}

/** The tenant itself, or a branch of it. */
export interface Database {
  readonly oid: number;
  /** As clients call it. */
  readonly name: string;
  /** What a branch holds of its own; null: it is the tenant. */
  readonly bytes: number | null;
}

/** The OID of the tenant itself; a branch has its number. */
export const TENANT_DATABASE_OID = 5;

/** Of the one that the session is in. */
export function databaseOid({ databases, database }: Pick<SystemView, "databases" | "database">): number {
  return databases.find(({ name }) => name === database)?.oid ?? TENANT_DATABASE_OID;
}

export interface SystemServices {
  /** Of the asking session. */
  preparedStatements(): Iterable<PreparedStatementFacts>;
  /** Of the tenant. */
  locks(): Iterable<LiveLock>;
  /** Of the tenant. */
  liveSessions(): Iterable<LiveSession>;
  transactionCounts(): SystemView["transactionCounts"];
  /** The tenant's own comes first. */
  databases(): readonly Database[];
  catalogView(): CatalogView;
  /** What the session's role may do. */
  currentRights(): Rights;
  /** Whether the session runs what its user sends: no recipe, and no function with the rights of another role. */
  isClients(): boolean;
  /** Schemas in which unqualified names are looked up, in order. */
  searchPath(): readonly string[];
  /** Whether search_path has pg_catalog, which is searched in any case. */
  namesSystemSchema(): boolean;
  settings(): readonly (readonly [name: string, value: string])[];
  /** Answers with the new value in its canonical form; `value` null is the default. Throws 42704, 22023, 55P02. */
  setSetting(name: string, value: string | null, local: boolean): string;
  cursors(): SystemView["cursors"];
  sequencePosition(sequence: SequenceDef): SequencePosition;
  /** Of the tenant. */
  indexBuilds(): Iterable<IndexBuild>;
  searchIndexLife(index: SearchIndexDef): SearchIndexLife;
  /** As the optimizer estimates. */
  estimatedRows(table: TableDef): number;
  /** What ANALYZE found in a table of which the role may read all; null: nothing, or it may not. */
  foundByAnalyze(table: TableDef): TableStatistics | null;
  /** How many triggers' functions are running inside each other. */
  triggerDepth(): number;
}

/** Registered by the session. */
export const SYSTEM = new Capability<SystemServices>("System views and functions need a session; there is none here.");

/** How far an index that lives in memory is (session/search-index-care.ts). */
export interface SearchIndexLife {
  readonly state: "absent" | "opening" | "linking" | "ready";
  readonly rowsRead: number;
  readonly items: number;
  readonly waiting: number;
  readonly bytes: number;
  readonly candidates: number | null;
}

export interface SystemView {
  readonly catalog: CatalogView;
  /** What the session's role may do. */
  readonly rights: Rights;
  readonly user: string;
  /** The tenant, or the branch, as clients call it. */
  readonly database: string;
  readonly databases: readonly Database[];
  readonly searchPath: readonly string[];
  /** Whether search_path has pg_catalog, which is searched in any case. */
  readonly namesSystemSchema: boolean;
  readonly timeZone: string;
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** Of the session. */
  readonly cursors: readonly {
    readonly canScroll: boolean;
    readonly options: {
      readonly name: string;
      readonly sql: string;
      readonly hold: boolean;
      readonly binary: boolean;
      readonly createdAt: number;
    };
  }[];
  readonly liveSessions: Iterable<LiveSession>;
  /** Of the tenant's sessions; null: some work on what the asker may not see. */
  readonly transactionCounts: {
    readonly committed: number;
    readonly rolledBack: number;
    readonly sinceMicros: number;
  } | null;
  readonly preparedStatements: Iterable<PreparedStatementFacts>;
  readonly indexBuilds: Iterable<IndexBuild>;
  readonly locks: Iterable<LiveLock>;
  /** As the optimizer estimates. */
  readonly rowsOf: (table: TableDef) => number;
  /** What ANALYZE found in a table of which the role may read all; null: nothing, or it may not. */
  readonly statisticsOf: (table: TableDef) => TableStatistics | null;
  readonly positionOf: (sequence: SequenceDef) => SequencePosition;
  readonly indexLifeOf: (index: SearchIndexDef) => SearchIndexLife;
}

/** Functions make one per call and use little of it, so each part is looked up when it is asked for. */
class StatementView implements SystemView {
  constructor(
    private readonly services: SystemServices,
    private readonly context: EvalContext,
  ) {}

  get catalog(): CatalogView {
    return shownCatalog(this.services.catalogView());
  }

  get rights(): Rights {
    return this.services.currentRights();
  }

  get user(): string {
    return this.context.user;
  }

  get database(): string {
    return this.context.tenant;
  }

  get databases(): readonly Database[] {
    return this.services.databases();
  }

  get searchPath(): readonly string[] {
    return this.services.searchPath();
  }

  get namesSystemSchema(): boolean {
    return this.services.namesSystemSchema();
  }

  get timeZone(): string {
    return this.context.timeZone;
  }

  get settings(): SystemView["settings"] {
    return this.services.settings();
  }

  get liveSessions(): Iterable<LiveSession> {
    return this.services.liveSessions();
  }

  get transactionCounts(): SystemView["transactionCounts"] {
    return this.services.transactionCounts();
  }

  get preparedStatements(): Iterable<PreparedStatementFacts> {
    return this.services.preparedStatements();
  }

  get indexBuilds(): Iterable<IndexBuild> {
    return this.services.indexBuilds();
  }

  get locks(): Iterable<LiveLock> {
    return this.services.locks();
  }

  get cursors(): SystemView["cursors"] {
    return this.services.cursors();
  }

  rowsOf = (table: TableDef) => this.services.estimatedRows(table);
  statisticsOf = (table: TableDef) => this.services.foundByAnalyze(table);
  positionOf = (sequence: SequenceDef) => this.services.sequencePosition(sequence);
  indexLifeOf = (index: SearchIndexDef) => this.services.searchIndexLife(index);
}

const shown = new WeakMap<CatalogView, CatalogView>();

/** The definitions without the tables of large objects: dumps and lists have those as pg_largeobject. */
function shownCatalog(catalog: CatalogView): CatalogView {
  if (!hasLargeObjects(catalog)) return catalog;
  let made = shown.get(catalog);
  if (made === undefined) {
    const tables = catalog.tables().filter((table) => !isOfLargeObjects(table));
    made = Object.create(catalog, { tables: { value: () => tables } }) as CatalogView;
    shown.set(catalog, made);
  }
  return made;
}

export function systemView(context: EvalContext): SystemView {
  return new StatementView(need(context, SYSTEM), context);
}

/** What a tenant's definitions and its user say, without what changes from statement to statement. */
export type DefinedView = Pick<SystemView, "catalog" | "user" | "database">;

/** A relation: its columns, and its rows in the order of the columns. */
export interface SystemRelation {
  readonly schema: SystemSchema;
  readonly name: string;
  readonly rows: TableFunction;
}

/** Values by column name; a column that is left out has its usual value (shapes.ts). */
export type SystemRow = Readonly<Record<string, Value | undefined>>;

/**
 * A relation of PostgreSQL's shape whose rows follow from definitions alone: they are made once per version of the
 * definitions. `fixed`: the rows that every tenant has, made once, in steps: between them it may give undefined.
 * `live`: a column of which the definitions do not say all.
 */
export function definedRelation(
  schema: SystemSchema,
  name: string,
  rows: (view: DefinedView) => Iterable<SystemRow>,
  fixed: () => Iterable<SystemRow | undefined> = () => [],
  live: LiveColumn | null = null,
): SystemRelation {
  const shape = shapeNamed(schema, name);
  const kept = new WeakMap<CatalogView, Map<string, SharedRows>>();
  const shared = new SharedRows(() => valuesInSteps(fixed(), shape));
  const own = (view: SystemView): SharedRows => {
    const byUser = kept.get(view.catalog) ?? new Map<string, SharedRows>();
    kept.set(view.catalog, byUser);
    let made = byUser.get(view.user);
    if (made === undefined) {
      if (byUser.size >= USERS_KEPT) byUser.clear();
      // What is shown by somebody's search path is not kept for others.
      const { catalog, user, database } = view;
      made = new SharedRows(() => valuesInSteps(rows({ catalog, user, database }), shape));
      byUser.set(view.user, made);
    }
    return made;
  };
  const ofNow = (made: Rows, view: SystemView) =>
    shownIn(shape, view, live === null ? made : withLive(made, shape, live, view));
  return relation(shape, (view, mayWait) => {
    const [all, made] = [shared.rows(mayWait), own(view).rows(mayWait)];
    if (!(all instanceof Promise) && !(made instanceof Promise)) return listedRows(all, ofNow(made, view));
    return new MadeRows(async () => {
      const [first, second] = [await all, await made];
      return [...first, ...ofNow(second, view)];
    });
  });
}

/** Rows that are made at the first look; whoever looks meanwhile waits for the same ones. */
class SharedRows {
  private made: Rows | Promise<Rows> | null = null;

  constructor(private readonly make: () => Iterator<undefined, Rows>) {}

  rows(mayWait: boolean): Rows | Promise<Rows> {
    const { made: before } = this;
    if (before !== null && (mayWait || !(before instanceof Promise))) return before;
    const made = mayWait ? inStretches(this.make()) : toEnd(this.make());
    this.made = made;
    if (made instanceof Promise) {
      const ended = (rows: Rows | null): void => {
        if (this.made === made) this.made = rows;
      };
      made.then(ended, () => ended(null));
    }
    return made;
  }
}

function* valuesInSteps(rows: Iterable<SystemRow | undefined>, shape: Shape): Generator<undefined, Rows> {
  const made: (readonly Value[])[] = [];
  for (const row of rows) {
    if (row !== undefined) made.push(valuesOfRow(row, shape));
    yield;
  }
  return made;
}

/** A column that is looked up at every look. */
export interface LiveColumn {
  readonly column: string;
  /** Gives the column's value by the row's OID; null: what the definitions say. */
  valuesOf(view: SystemView): (oid: number) => Value | null;
}

function withLive(
  rows: readonly (readonly Value[])[],
  { columns }: Shape,
  live: LiveColumn,
  view: SystemView,
): readonly (readonly Value[])[] {
  const oidAt = columns.findIndex(({ name }) => name === "oid");
  const liveAt = columns.findIndex(({ name }) => name === live.column);
  const liveValue = live.valuesOf(view);
  return rows.map((row) => {
    const value = liveValue(row[oidAt] as number);
    return value === null ? row : row.with(liveAt, value);
  });
}

/** Users whose rows of one relation are kept at a time. */
const USERS_KEPT = 8;

/** A relation of PostgreSQL's shape whose rows are made at every look, of one moment. */
export function liveRelation(
  schema: SystemSchema,
  name: string,
  rows: (view: SystemView) => Iterable<SystemRow>,
): SystemRelation {
  const shape = shapeNamed(schema, name);
  return relation(shape, (view) => recordRows(shownIn(shape, view, [...valuesOf(rows(view), shape)])));
}

/**
 * A relation of PostgreSQL's shape whose rows are made at every look, of definitions that the session sees in its own
 * way. `rows` works for some microseconds at each step: others get their turns in between.
 */
export function printedRelation(
  schema: SystemSchema,
  name: string,
  rows: (view: SystemView) => Generator<SystemRow, void>,
): SystemRelation {
  const shape = shapeNamed(schema, name);
  return relation(shape, (view, mayWait) => {
    const steps = valuesInSteps(rows(view), shape);
    const made = mayWait ? inStretches(steps) : toEnd(steps);
    if (!(made instanceof Promise)) return recordRows(shownIn(shape, view, made));
    return new MadeRows(async () => shownIn(shape, view, await made));
  });
}

/** Of temporary relations, information_schema shows those of the session that asks; pg_catalog shows all. */
function shownIn(shape: Shape, view: SystemView, all: Rows): Rows {
  if (shape.schema !== "information_schema") return all;
  const { columns } = shape;
  const { searchPath } = view;
  const rows = visibleRows(shape, view, all);
  const place = columns.findIndex(({ name }) => name.endsWith("_schema"));
  if (place < 0) return rows;
  const isHidden = (name: Value) => typeof name === "string" && isTemporarySchema(name) && !searchPath.includes(name);
  return rows.some((row) => isHidden(row[place]!)) ? rows.filter((row) => !isHidden(row[place]!)) : rows;
}

/** List after list. */
function listedRows(...lists: readonly Rows[]): TableRows {
  let list = 0;
  let position = 0;
  return {
    next(out, at, max) {
      while (list < lists.length && position >= lists[list]!.length) {
        list++;
        position = 0;
      }
      if (list === lists.length) return 0;
      const rows = lists[list]!;
      const count = Math.min(max, rows.length - position);
      for (let c = 0; c < out.length; c++) {
        const column = out[c]!;
        for (let i = 0; i < count; i++) column[at + i] = rows[position + i]![c]!;
      }
      position += count;
      return count;
    },
  };
}

function relation(
  { schema, name, columns }: Pick<Shape, "schema" | "name" | "columns">,
  rows: (view: SystemView, mayWait: boolean) => TableRows,
): SystemRelation {
  return {
    schema,
    name,
    rows: Object.freeze({
      name,
      args: [],
      returns: recordOf(columns.map((column) => ({ name: column.name, type: column.type }))),
      strict: true,
      open: (context: EvalContext) => rows(systemView(context), context.isUninterrupted !== true),
    }),
  };
}

/** A relation that PostgreSQL has not: `rows` gives objects by column name; what an object leaves out is NULL. */
export function systemRelation<C extends string>(
  schema: SystemSchema,
  name: string,
  columns: Readonly<Record<C, SqlType>>,
  rows: (view: SystemView) => Iterable<Partial<Record<C, Value>>>,
): SystemRelation {
  const names = Object.keys(columns) as C[];
  const fields = names.map((column) => ({ name: column, type: columns[column], pgType: "", notNull: false }));
  return relation({ schema, name, columns: fields }, (view) =>
    recordRows(valuesOf(rows(view) as Iterable<SystemRow>, { columns: fields })),
  );
}

function shapeNamed(schema: SystemSchema, name: string): Shape {
  return systemShapes().get(`${schema}.${name}`)!;
}

function* valuesOf(rows: Iterable<SystemRow>, shape: Pick<Shape, "columns">): Iterable<readonly Value[]> {
  for (const row of rows) yield valuesOfRow(row, shape);
}

function valuesOfRow(row: SystemRow, { columns }: Pick<Shape, "columns">): readonly Value[] {
  return columns.map((column) => row[column.name] ?? usualValue(column));
}
