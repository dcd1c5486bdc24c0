/**
 * Definitions of relations as the catalog stores them (JSON records in the tenant's shard) and as binder, optimizer
 * and executor read them. Definitions are immutable: a DDL statement writes a new one.
 */

import type { SqlType } from "../values/values.js";
import type { VectorForm } from "../values/vector-form.js";
import type { VectorMetric } from "../values/vector-metric.js";
import type { ColumnDetails } from "./detail-change.js";
import type { DocumentCollectionDef } from "./document-collection.js";
import type { ViewQuery } from "./kept-query.js";
import type { TriggerDef } from "./trigger.js";

export interface ColumnDef {
  /** Unique within its table for ever; a dropped column's id is never reused. Position in a stored record. */
  readonly id: number;
  readonly name: string;
  readonly type: SqlType;
  readonly notNull: boolean;
  /** DEFAULT as SQL text, bound when a statement needs it. */
  readonly defaultSql: string | null;
  /** Value of rows stored before the column was added, in its type's text form. */
  readonly missingSql: string | null;
  /** GENERATED … AS IDENTITY or SERIAL. */
  readonly identity: "always" | "by default" | null;
  /** GENERATED ALWAYS AS (…) STORED, as SQL text over the row; absent: an ordinary column. */
  readonly generatedSql?: string | null;
  /** ON UPDATE: what an UPDATE stores that gives it no value, as SQL text; absent: what was there. */
  readonly onUpdateSql?: string;
  /** How many parents (TableDef.parents) have the column; absent: none. */
  readonly inherited?: number;
  /** False: the column is there only because parents have it; absent: true. */
  readonly local?: boolean;
  readonly details?: ColumnDetails;
}

/** The column id of a key that is an expression. */
export const EXPRESSION_COLUMN = -1;

export interface IndexColumn {
  /** EXPRESSION_COLUMN: the key is `expression`. */
  readonly columnId: number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
  /** SQL text over the row, and its type. */
  readonly expression?: { readonly sql: string; readonly type: SqlType };
  /** Without effect, for the catalog; absent: the type's default. */
  readonly operatorClass?: string;
  /** The same; absent: the column's. */
  readonly collation?: string;
}

export interface IndexDef {
  /** Unique within the tenant; part of every key of the index. */
  readonly id: number;
  readonly name: string;
  readonly kind: "btree";
  readonly columns: readonly IndexColumn[];
  readonly unique: boolean;
  /** The constraint that the index backs, if any. */
  readonly constraint: "primary key" | "unique" | null;
  /** Predicate of a partial index, as SQL text over the row: only rows for which it is true have entries. */
  readonly where?: string | null;
  /** Ids of INCLUDE columns. */
  readonly include?: readonly number[];
  /** Entries have the values of the INCLUDE columns; absent: the index is from before they were stored. */
  readonly storesIncluded?: boolean;
  /** NULLS NOT DISTINCT: NULL counts as equal to NULL. */
  readonly nullsNotDistinct?: boolean;
  /** Of a partition's index that is part of one of the partitioned table: that index's id. */
  readonly parentId?: number;
  /** CREATE INDEX ON ONLY a partitioned table: not all partitions have the index yet. */
  readonly invalid?: boolean;
  /**
   * Of a DEFERRABLE key. `unique` is then false: entries of equal values may stand side by side until the statement,
   * or the transaction, ends.
   */
  readonly deferrable?: DeferrableKey;
  /** Of an EXCLUDE constraint (`constraint` is "unique"): whose operators are all "=" unless `operators` has others. */
  readonly exclusion?: true;
  /** Of EXCLUDE USING gist: one for each column, "=" and for the last column perhaps "&&", "~=" or "<>". */
  readonly operators?: readonly string[];
  /** Declared USING hash: without effect, for the catalog. */
  readonly hash?: true;
  /** As a table's: "fillfactor=70". Absent: none. */
  readonly storage?: readonly string[];
}

/** Whether the constraint behind the index forbids more than equal values: ranges that overlap, or what "<>" says. */
export function forbidsOverlap({ operators }: Pick<IndexDef, "operators">): boolean {
  return operators !== undefined && operators.at(-1) !== "=";
}

/** How a graph over vectors is built (HNSW: Malkov and Yashunin, 2016). */
export interface VectorIndexDef {
  readonly metric: VectorMetric;
  /** Links per vector and layer, 2 to 100. */
  readonly m: number;
  /** Candidates kept while a vector is linked in, 4 to 1000. */
  readonly efConstruction: number;
  /** Candidates kept by searches that do not say how many, 1 to 1000; absent: 64. */
  readonly efSearch?: number;
  /** How the graph keeps vectors; answers of the shorter forms are ranked again by the stored rows. */
  readonly storage: "f32" | "int8" | "binary";
  /** The index is on an expression, which takes this of the column; absent: on the column. */
  readonly form?: VectorForm;
  /** It has only the rows that satisfy this condition, and the columns that the condition reads; absent: all rows. */
  readonly where?: { readonly sql: string; readonly columnIds: readonly number[] };
}

export interface TextIndexDef {
  /** Whose stemming and stop words apply, as PostgreSQL names configurations: "english", "simple". */
  readonly language: string;
  /** It has trigrams instead of words (gin_trgm_ops), and no language. */
  readonly trigrams?: true;
}

/**
 * An index for search by likeness. It lives in memory and is built from the rows. Unlike those of `TableDef.indexes`,
 * it has no entries in the shard and orders nothing, so writers of rows need not know of it.
 */
export interface SearchIndexDef {
  /** Unique within the tenant. A change that makes the index another one (of its column's type) gives it a new id. */
  readonly id: number;
  readonly name: string;
  readonly method: "hnsw" | "text" | DeclaredMethod;
  /** One column of vectors or bits for hnsw; one or several of text. */
  readonly columnIds: readonly number[];
  /** Of hnsw. */
  readonly vector?: VectorIndexDef;
  /** Of text. */
  readonly text?: TextIndexDef;
  /** Of the others, which are definitions alone; `columnIds` are the columns that they read. */
  readonly declared?: DeclaredIndexDef;
}

/** Access methods of PostgreSQL's that an index may be declared with. */
export type DeclaredMethod = "gin" | "gist" | "brin" | "spgist";

export interface DeclaredIndexDef {
  /** A key is a column or an expression, as SQL text over the row. */
  readonly keys: readonly {
    readonly columnId?: number;
    readonly sql?: string;
    readonly operatorClass?: string;
  }[];
  readonly where?: string;
  /** As a table's: "fastupdate=off". Absent: none. */
  readonly storage?: readonly string[];
}

export interface DeferrableKey {
  readonly initiallyDeferred: boolean;
  /** A PRIMARY KEY: the table is keyed by row numbers instead. */
  readonly primary: boolean;
}

export interface CheckDef {
  readonly name: string;
  readonly sql: string;
  /** NOT VALID: rows that were there before were not checked. */
  readonly notValid?: boolean;
  /** How many parents have the constraint; absent: none. */
  readonly inherited?: number;
  /** False: the constraint is there only because parents have it; absent: true. */
  readonly local?: boolean;
  /** NO INHERIT: children do not get the constraint. */
  readonly noInherit?: boolean;
  /** COMMENT ON CONSTRAINT … ON DOMAIN; tables keep those of theirs. */
  readonly comment?: string;
}

/** PARTITION BY of a partitioned table, which has no rows of its own. */
export interface PartitionKeyDef {
  readonly strategy: "range" | "list" | "hash";
  /** A key is a column, or an expression as SQL text over the row (columnId is then EXPRESSION_COLUMN). */
  readonly keys: readonly {
    readonly columnId: number;
    readonly expression?: { readonly sql: string; readonly type: SqlType };
  }[];
}

/** A bound of FOR VALUES FROM … TO …: one entry per key; values in their key's text form. */
export type PartitionRangeDatum = { readonly value: string } | "minvalue" | "maxvalue";

/** FOR VALUES of a partition. */
export type PartitionBoundDef =
  | { readonly kind: "default" }
  | {
      readonly kind: "range";
      readonly from: readonly PartitionRangeDatum[];
      readonly to: readonly PartitionRangeDatum[];
    }
  /** Values in their key's text form; null is NULL. */
  | { readonly kind: "list"; readonly values: readonly (string | null)[] }
  | { readonly kind: "hash"; readonly modulus: number; readonly remainder: number };

export type ForeignKeyAction = "no action" | "restrict" | "cascade" | "set null" | "set default";

/** A FOREIGN KEY of the table that has the columns. */
export interface ForeignKeyDef {
  /** Unique within the tenant. */
  readonly id: number;
  readonly name: string;
  readonly columns: readonly number[];
  /** The table it refers to, and there the columns of a primary key or unique index, parallel to `columns`. */
  readonly tableId: number;
  readonly references: readonly number[];
  readonly match: "simple" | "full";
  readonly onUpdate: ForeignKeyAction;
  readonly onDelete: ForeignKeyAction;
  /** ON DELETE SET NULL|DEFAULT (columns); empty: all columns of the key. */
  readonly onDeleteColumns: readonly number[];
  readonly deferrable: boolean;
  readonly initiallyDeferred: boolean;
  readonly notValid: boolean;
  /** DISABLE TRIGGER ALL of its table: new rows are not checked. */
  readonly unchecked?: true;
  /** Of a partition: the id of the partitioned table's foreign key that it is part of. */
  readonly parentId?: number;
}

/** What makes a table a collection: routes of its kind find it, and know what its columns are for. */
export type CollectionDef =
  | DocumentCollectionDef
  /** The metric is also its index's, as long as it has one. */
  | { readonly kind: "vector"; readonly metric: VectorMetric }
  | GraphDef;

/** One of the two tables of a graph (graph.ts). */
export interface GraphDef {
  readonly kind: "graph";
  readonly graph: string;
  readonly of: "nodes" | "edges";
  /** What statements of Cypher made beside the table's own indexes; absent: nothing. */
  readonly indexes?: readonly GraphIndexDef[];
  readonly constraints?: readonly GraphConstraintDef[];
}

/** CREATE INDEX FOR (n:Label) ON (n.a, n.b); of relationships the label is their type. */
export interface GraphIndexDef {
  readonly name: string;
  readonly method: "range" | "text" | "point" | "vector" | "fulltext";
  readonly label: string;
  /** Of fulltext over several: all of them. */
  readonly labels?: readonly string[];
  readonly properties: readonly string[];
  /** Of the IndexDef; of vector and fulltext of the SearchIndexDef, which is on a generated column. */
  readonly indexId: number;
}

export interface GraphConstraintDef {
  readonly name: string;
  readonly label: string;
  readonly properties: readonly string[];
  readonly requires: "unique" | "key" | "not-null" | "type";
  /** Of a "type", as `writtenType` gives it: what the property is, where there is one. */
  readonly valueType?: string;
  /** Of its unique index; null: it has none. */
  readonly indexId: number | null;
}

/** The other end of a ForeignKeyDef, kept with the table it refers to. */
export interface ReferenceDef {
  readonly foreignKeyId: number;
  /** The table that has the foreign key. */
  readonly tableId: number;
  /** Columns of this table. */
  readonly columns: readonly number[];
  /** The unique index that has them; null: the primary key. */
  readonly indexId: number | null;
  /** DISABLE TRIGGER ALL of this table: nothing happens to the rows that refer to one that goes. */
  readonly unchecked?: true;
}

/** What CREATE STATISTICS declares of columns that belong together. */
export interface ExtendedStatisticsDef {
  /** Unique within the tenant. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly kinds: readonly ("ndistinct" | "dependencies" | "mcv")[];
  /** Columns, and expressions as SQL text over the row. */
  readonly keys: readonly { readonly columnId?: number; readonly sql?: string }[];
  /** All columns that the keys read. */
  readonly columnIds: readonly number[];
  readonly comment?: string;
}

export type AuditedUse = "read" | "write";

export type GivenIdentity = "default" | "full" | "nothing" | { readonly index: string };

/** Kept for dumps and the catalog. `indexId`: of a unique index; null: the primary key. */
export type ReplicaIdentity = "full" | "nothing" | { readonly indexId: number | null };

export interface TableDef {
  /** Unique within the tenant. */
  readonly id: number;
  /** Part of every key of the table's rows and index entries; absent: the id. TRUNCATE gives a table another one. */
  readonly storageId?: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly ColumnDef[];
  /** Column ids of the primary key; null: rows are keyed by a hidden row number. */
  readonly primaryKey: readonly number[] | null;
  readonly primaryKeyName: string | null;
  /** Ids of the columns that the primary key names in INCLUDE; absent: none. */
  readonly primaryKeyInclude?: readonly number[];
  /** What replication tells of a changed row's old values; absent: DEFAULT. */
  readonly replicaIdentity?: ReplicaIdentity;
  /** Of a partition: whether its primary key is part of the partitioned table's; absent: false. */
  readonly primaryKeyInherited?: boolean;
  /** Of a partitioned table: not all partitions have its primary key yet (ADD PRIMARY KEY to ONLY the table). */
  readonly primaryKeyInvalid?: boolean;
  readonly indexes: readonly IndexDef[];
  /** Indexes without entries in the shard; absent: none. */
  readonly searchIndexes?: readonly SearchIndexDef[];
  readonly checks: readonly CheckDef[];
  /** Absent: none. */
  readonly foreignKeys?: readonly ForeignKeyDef[];
  /** Foreign keys of this and other tables that refer to this one; absent: none. */
  readonly referencedBy?: readonly ReferenceDef[];
  /** Of a typed table: the id of the composite type whose fields its columns are. */
  readonly ofType?: number;
  /** INHERITS, PARTITION OF: ids of the tables whose rows include this table's, in the order named; absent: none. */
  readonly parents?: readonly number[];
  /** The other end of `parents`: ids of the tables that name this one there, oldest first; absent: none. */
  readonly children?: readonly number[];
  /** PARTITION BY; absent: an ordinary table. */
  readonly partitionKey?: PartitionKeyDef;
  /** Of a partition: which rows of its parent it holds. */
  readonly partitionBound?: PartitionBoundDef;
  /** Absent: a table like any other. */
  readonly collection?: CollectionDef;
  /** CREATE IMMUTABLE TABLE: rows are only added, and hash-chained. */
  readonly immutable?: boolean;
  /** COMMENT ON, by object: "table", "column 3", "constraint name", "index 7". */
  readonly comments?: Readonly<Record<string, string>>;
  /** Of a materialized view: its query, and whether its rows are there. */
  readonly materialized?: { readonly query: ViewQuery; readonly populated: boolean };
  /** CREATE STATISTICS; absent: none. */
  readonly extendedStatistics?: readonly ExtendedStatisticsDef[];
  /** In the order of their names, in which they are fired; absent: none. */
  readonly triggers?: readonly TriggerDef[];
  /** CREATE RULE, in the same order; absent: none. */
  readonly rules?: readonly TriggerDef[];
  readonly nextColumnId: number;
  /** Uses of its rows that the tenant's audit trail keeps (session/data-audit.ts); absent: none. */
  readonly audit?: readonly AuditedUse[];
  /** Storage parameters as PostgreSQL has them, "fillfactor=70": without effect, for the catalog. Absent: none. */
  readonly storage?: readonly string[];
  /** Without effect, for the catalog: CREATE UNLOGGED TABLE, and the id of the index that CLUSTER ON names. */
  readonly unlogged?: true;
  readonly clusteredOn?: number | "primary key";
  /** For a temporary table: what happens to it or its rows when a transaction commits; absent: nothing. */
  readonly onCommit?: "delete" | "drop";
  /** Microseconds since the epoch. */
  readonly createdAt: number;
}

/**
 * What the keys of the table's rows and index entries name it by; unique within the tenant, among table ids as well.
 */
export function storageOf({ storageId, id }: TableDef): number {
  return storageId ?? id;
}
