/**
 * The sources of pg_catalog's and information_schema's relations: the definitions that a statement's transaction sees,
 * and the session that runs it.
 */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import type { SequenceDef, SequencePosition } from "../../../catalog/sequence.js";
import type { SearchIndexDef } from "../../../catalog/table.js";
import { Capability, need } from "../../../query/expr/capability.js";
import type { EvalContext } from "../../../query/expr/expr.js";
import { recordRows, type TableFunction } from "../../../query/expr/table-function.js";
import { recordOf, type SqlType, type Value } from "../../../values/values.js";

export interface SystemServices {
  catalogView(): CatalogView;
  /** Schemas in which unqualified names are looked up, in order. */
  searchPath(): readonly string[];
  settings(): readonly (readonly [name: string, value: string])[];
  /** Answers with the new value in its canonical form; `value` null is the default. Throws 42704, 22023, 55P02. */
  setSetting(name: string, value: string | null, local: boolean): string;
  cursors(): SystemView["cursors"];
  sequencePosition(sequence: SequenceDef): SequencePosition;
  searchIndexLife(index: SearchIndexDef): SearchIndexLife;
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
}

export interface SystemView {
  readonly catalog: CatalogView;
  readonly user: string;
  /** The tenant's name, which stands for the database. */
  readonly database: string;
  readonly searchPath: readonly string[];
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
  readonly positionOf: (sequence: SequenceDef) => SequencePosition;
  readonly indexLifeOf: (index: SearchIndexDef) => SearchIndexLife;
}

export function systemView(context: EvalContext): SystemView {
  const services = need(context, SYSTEM);
  return {
    catalog: services.catalogView(),
    user: context.user,
    database: context.tenant,
    searchPath: services.searchPath(),
    settings: services.settings(),
    cursors: services.cursors(),
    positionOf: (sequence) => services.sequencePosition(sequence),
    indexLifeOf: (index) => services.searchIndexLife(index),
  };
}

/** A relation: its columns, and its rows in the order of the columns. */
export interface SystemRelation {
  readonly schema: "pg_catalog" | "information_schema";
  readonly name: string;
  readonly rows: TableFunction;
}

/** `rows` gives objects by column name; what an object leaves out is NULL. */
export function systemRelation<C extends string>(
  schema: SystemRelation["schema"],
  name: string,
  columns: Readonly<Record<C, SqlType>>,
  rows: (view: SystemView) => Iterable<Partial<Record<C, Value>>>,
): SystemRelation {
  const names = Object.keys(columns) as C[];
  const fields = names.map((column) => ({ name: column, type: columns[column] }));
  return {
    schema,
    name,
    rows: Object.freeze({
      name,
      args: [],
      returns: recordOf(fields),
      strict: true,
      open: (context: EvalContext) => recordRows(valuesOf(rows(systemView(context)), names)),
    }),
  };
}

function* valuesOf<C extends string>(rows: Iterable<Partial<Record<C, Value>>>, names: readonly C[]) {
  for (const row of rows) yield names.map((name) => row[name] ?? null);
}
