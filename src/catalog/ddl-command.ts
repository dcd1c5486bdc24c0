/**
 * Definition statements after binding: names are resolved to schemas, types to SqlTypes, defaults and checks are
 * proven to bind and kept as SQL text. `sql/bind` makes them, `ddl.ts` applies them.
 */
import type { SqlType } from "../values/values.js";
import type { AccessCommand } from "./access-command.js";
import type { DetailChange } from "./detail-change.js";
import type { FunctionCommand } from "./function-command.js";
import type { GraphCommand } from "./graph-command.js";
import type { ViewQuery } from "./kept-query.js";
import type { NamespaceCommand } from "./namespace-command.js";
import type { NewColumn } from "./new-column.js";
import type { PropertyGraph } from "./property-graph.js";
import type { SequenceOptions } from "./sequence.js";
import type {
  AuditedUse,
  DeferrableKey,
  ExtendedStatisticsDef,
  ForeignKeyAction,
  GivenIdentity,
  PartitionBoundDef,
  PartitionKeyDef,
  SearchIndexDef,
  VectorIndexDef,
} from "./table.js";
import type { NewTrigger, TriggerDef } from "./trigger.js";
import type { ViewColumn, ViewDef } from "./view.js";

export type DdlCommand =
  | CreateTableCommand
  | DropTableCommand
  | CreateIndexCommand
  | CreateSearchIndexCommand
  | DropIndexCommand
  | ReindexCommand
  | TruncateCommand
  | AlterTableCommand
  | RenameCommand
  | CommentCommand
  | CreateViewCommand
  | AlterViewCommand
  | DropViewsCommand
  | CreatePropertyGraphCommand
  | DropPropertyGraphsCommand
  | RefreshCommand
  | TriggerCommand
  | RuleCommand
  | StatisticsCommand
  | FunctionCommand
  | GraphCommand
  | AccessCommand
  | NamespaceCommand;

/** A PRIMARY KEY or UNIQUE constraint; `name` null: made up as PostgreSQL does (`t_pkey`, `t_a_b_key`). */
export interface NewKey {
  readonly name: string | null;
  readonly columns: readonly string[];
  readonly include?: readonly string[];
  readonly nullsNotDistinct?: boolean;
  readonly deferrable?: DeferrableKey;
}

/** `column`: the one column that the check is about, for its made-up name (`t_a_check`). */
export interface NewCheck {
  readonly name: string | null;
  readonly sql: string;
  readonly column: string | null;
  readonly notValid?: boolean;
  /** As in CheckDef. */
  readonly inherited?: number;
  readonly local?: boolean;
  readonly noInherit?: boolean;
}

export interface NewForeignKey {
  readonly name: string | null;
  readonly columns: readonly string[];
  /** null: the table itself. */
  readonly table: RelationName | null;
  readonly references: readonly string[];
  readonly match: "simple" | "full";
  readonly onUpdate: ForeignKeyAction;
  readonly onDelete: ForeignKeyAction;
  readonly onDeleteColumns: readonly string[];
  readonly deferrable: boolean;
  readonly initiallyDeferred: boolean;
  readonly notValid: boolean;
}

export interface CreateTableCommand {
  readonly kind: "create table";
  readonly schema: string;
  readonly name: string;
  readonly ifNotExists: boolean;
  /** Of a temporary table; absent: rows stay. */
  readonly onCommit?: "delete" | "drop";
  readonly columns: readonly NewColumn[];
  readonly primaryKey: NewKey | null;
  readonly uniques: readonly NewKey[];
  readonly checks: readonly NewCheck[];
  readonly foreignKeys: readonly NewForeignKey[];
  /** Of LIKE … INCLUDING INDEXES, and nothing else. */
  readonly indexes: readonly Omit<CreateIndexCommand, "kind" | "table" | "ifNotExists">[];
  /** The same of indexes for search; absent: none. */
  readonly searchIndexes?: readonly NewSearchIndex[];
  /** The same of extended statistics. */
  readonly statistics?: readonly (Pick<ExtendedStatisticsDef, "kinds"> & {
    readonly keys: readonly { readonly column?: string; readonly sql?: string }[];
    readonly columns: readonly string[];
  })[];
  /** As in TableDef. */
  readonly ofType?: number;
  /**
   * Ids of the tables that it inherits from; their columns and checks are merged into the lists above. Absent: none.
   */
  readonly parents?: readonly number[];
  readonly notices?: readonly string[];
  /** PARTITION BY. */
  readonly partitionKey?: PartitionKeyDef;
  /** PARTITION OF; then `parents` has the one table. */
  readonly partition?: NewPartition;
  /** As in TableDef. */
  readonly unlogged?: true;
  readonly storage?: readonly string[];
  readonly immutable: boolean;
  /** Its rows come with the command (CREATE TABLE AS). */
  readonly filled?: boolean;
  readonly materialized?: { readonly query: ViewQuery; readonly populated: boolean };
}

/** Which rows of a partitioned table a new partition has. */
export interface NewPartition {
  readonly parent: RelationName;
  readonly bound: PartitionBoundDef;
  /** What those rows satisfy, as SQL over the row; empty: any row. */
  readonly condition: string;
  /** Of the bound in the statement. */
  readonly position: number;
}

export interface RelationName {
  readonly schema: string;
  readonly name: string;
  /** Of the name in the statement, for messages. */
  readonly position: number;
}

export interface DropTableCommand {
  readonly kind: "drop table";
  readonly tables: readonly RelationName[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
}

/** A column, or an expression, whose name is used in made-up names of indexes. */
export interface NewIndexColumn {
  readonly name: string;
  readonly expression?: { readonly sql: string; readonly type: SqlType };
  readonly descending: boolean;
  readonly nullsFirst: boolean;
  readonly operatorClass?: string;
  readonly collation?: string;
}

export interface CreateIndexCommand {
  readonly kind: "create index";
  /** null: made up as PostgreSQL does (`t_a_b_idx`). */
  readonly name: string | null;
  readonly table: RelationName;
  readonly unique: boolean;
  readonly ifNotExists: boolean;
  readonly columns: readonly NewIndexColumn[];
  readonly where: string | null;
  readonly include: readonly string[];
  readonly nullsNotDistinct: boolean;
  /** An EXCLUDE constraint. */
  readonly exclusion?: { readonly deferrable: DeferrableKey | null; readonly operators?: readonly string[] };
  /** ON ONLY a partitioned table: its partitions' indexes are attached later. Absent: false. */
  readonly only?: boolean;
  readonly hash?: true;
  readonly storage?: readonly string[];
  readonly notices: readonly string[];
}

/** What an index for search is, by the names of its columns. */
export interface NewSearchIndex extends Pick<SearchIndexDef, "method" | "text"> {
  /** Absent or null: made up. */
  readonly name?: string | null;
  readonly columns: readonly string[];
  readonly vector?: Omit<VectorIndexDef, "where">;
  /** Of hnsw: the condition of a partial index, and the columns that it reads. */
  readonly where?: { readonly sql: string; readonly columns: readonly string[] };
  readonly declared?: {
    readonly keys: readonly { readonly column?: string; readonly sql?: string; readonly operatorClass?: string }[];
    readonly where?: string;
    readonly storage?: readonly string[];
  };
}

export interface CreateSearchIndexCommand extends NewSearchIndex {
  readonly kind: "create search index";
  /** null: made up as PostgreSQL does. */
  readonly name: string | null;
  readonly table: RelationName;
  readonly ifNotExists: boolean;
  readonly notices?: readonly string[];
}

export interface DropIndexCommand {
  readonly kind: "drop index";
  readonly indexes: readonly RelationName[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
}

/** A table and one of its indexes; null: all of them. */
export interface ReindexTarget extends RelationName {
  readonly index: string | null;
}

export interface ReindexCommand {
  readonly kind: "reindex";
  readonly tables: readonly ReindexTarget[];
  /** The database that the statement names, which must be the one that is open. */
  readonly database: string | null;
}

/** Empties the tables. */
export interface TruncateCommand {
  readonly kind: "truncate";
  /** `isPart`: it inherits from one that the statement names. */
  readonly tables: readonly (RelationName & { readonly isPart?: boolean })[];
  readonly restartIdentity: boolean;
  readonly cascade: boolean;
}

/** One action of ALTER TABLE on a table that exists; a statement with several is several commands. */
export interface AlterTableCommand {
  readonly kind: "alter table";
  readonly table: RelationName;
  /** Leaves the tables alone that inherit from it; absent: they follow. */
  readonly only?: boolean;
  readonly action: AlterAction;
}

export type AlterAction =
  | {
      readonly kind: "add column";
      readonly column: NewColumn;
      readonly ifNotExists: boolean;
      /** What rows that are there have in it, in the type's text form. */
      readonly missing: string | null;
      /** SQL that gives its value row by row; null: no row need be written. */
      readonly refill: string | null;
    }
  | {
      readonly kind: "drop column";
      readonly name: string;
      readonly ifExists: boolean;
      readonly cascade: boolean;
      /** Whether a stored expression reads the column. */
      readonly reads: (sql: string) => boolean;
    }
  | {
      readonly kind: "set type";
      readonly name: string;
      readonly type: SqlType;
      /** As in ColumnDetails. */
      readonly collation: string | null;
      /** Stored values differ under the new type. */
      readonly rewrites: boolean;
      /** The default under the new type. */
      readonly defaultSql: string | null;
      readonly reads: (sql: string) => boolean;
      /** Of a table that follows: the id of the one that the statement names. */
      readonly following: number | null;
    }
  | { readonly kind: "inherit" | "no inherit"; readonly parent: RelationName }
  /** The id of a composite type; null: the table is typed no longer. */
  | { readonly kind: "of"; readonly type: number | null }
  | { readonly kind: "set default"; readonly name: string; readonly defaultSql: string | null }
  | { readonly kind: "set not null" | "drop not null"; readonly name: string }
  | { readonly kind: "drop expression"; readonly name: string; readonly ifExists: boolean }
  | { readonly kind: "replica identity"; readonly identity: GivenIdentity }
  | DetailChange
  /** As in TableDef from now on. */
  | { readonly kind: "set storage"; readonly storage: readonly string[] }
  /** The uses that are audited from now on; empty: none. */
  | { readonly kind: "set audit"; readonly uses: readonly AuditedUse[] }
  | {
      readonly kind: "add identity";
      readonly name: string;
      readonly identity: "always" | "by default";
      readonly sequence: SequenceOptions;
    }
  | {
      readonly kind: "set identity";
      readonly name: string;
      readonly identity: "always" | "by default" | null;
      readonly options: SequenceOptions;
    }
  | { readonly kind: "drop identity"; readonly name: string; readonly ifExists: boolean }
  | { readonly kind: "add key"; readonly primary: boolean; readonly key: NewKey }
  | {
      readonly kind: "add key using index";
      readonly primary: boolean;
      readonly name: string | null;
      readonly index: string;
    }
  | { readonly kind: "add check"; readonly check: NewCheck }
  | { readonly kind: "add foreign key"; readonly foreignKey: NewForeignKey }
  | { readonly kind: "drop constraint"; readonly name: string; readonly ifExists: boolean; readonly cascade: boolean }
  | {
      readonly kind: "attach partition";
      readonly schema: string;
      readonly table: string;
      readonly partition: NewPartition;
    }
  | { readonly kind: "detach partition"; readonly schema: string; readonly table: string }
  /** ALTER INDEX … ATTACH PARTITION: of the table, and of one of its partitions. */
  | { readonly kind: "attach index"; readonly index: string; readonly schema: string; readonly partition: string }
  | { readonly kind: "validate constraint"; readonly name: string }
  /** ENABLE, DISABLE TRIGGER; null: all. */
  | {
      readonly kind: "set trigger";
      readonly name: string | null;
      readonly isAll?: true;
      readonly enabled: TriggerDef["enabled"];
    }
  | { readonly kind: "set rule"; readonly name: string; readonly enabled: TriggerDef["enabled"] }
  | {
      readonly kind: "alter constraint";
      readonly name: string;
      readonly deferrable: boolean;
      readonly initiallyDeferred: boolean;
    };

export interface RenameCommand {
  readonly kind: "rename";
  readonly object: "table" | "index" | "column" | "constraint";
  /** The table, or the index. */
  readonly relation: RelationName;
  /** As in AlterTableCommand. */
  readonly only?: boolean;
  /** The column or constraint. */
  readonly part: string | null;
  readonly newName: string;
  /** A stored expression with the column under its new name. */
  readonly renamed: (sql: string) => string;
}

/** COMMENT ON; null removes it. */
export interface CommentCommand {
  readonly kind: "comment";
  readonly object:
    | "table"
    | "column"
    | "constraint"
    | "domain constraint"
    | "index"
    | "view"
    | "view column"
    | "sequence"
    | "type"
    | "schema";
  /** Of a schema the name alone counts. */
  readonly relation: RelationName;
  /** The column or constraint. */
  readonly part: string | null;
  readonly comment: string | null;
}

export interface CreateViewCommand {
  readonly kind: "create view";
  readonly notices: readonly string[];
  readonly schema: string;
  readonly name: string;
  readonly replace: boolean;
  readonly columns: readonly ViewColumn[];
  readonly query: ViewQuery;
  readonly checkOption: "local" | "cascaded" | null;
  readonly updatable: readonly boolean[] | null;
}

export interface AlterViewCommand {
  readonly kind: "alter view";
  readonly schema: string;
  readonly name: string;
  readonly change:
    | { readonly kind: "move"; readonly toSchema: string; readonly toName: string }
    | { readonly kind: "rename column"; readonly column: string; readonly newName: string }
    | { readonly kind: "default"; readonly column: string; readonly sql: string | null }
    | { readonly kind: "options"; readonly options: Partial<Pick<ViewDef, "checkOption" | "invoker" | "barrier">> };
}

export interface DropViewsCommand {
  readonly kind: "drop views";
  readonly views: readonly RelationName[];
  readonly materialized: boolean;
  readonly ifExists: boolean;
  readonly cascade: boolean;
}

export interface CreatePropertyGraphCommand {
  readonly kind: "create property graph";
  readonly schema: string;
  readonly name: string;
  readonly ifNotExists: boolean;
  readonly graph: PropertyGraph;
  /** The statement, and the tables that it names. */
  readonly query: ViewQuery;
}

export interface DropPropertyGraphsCommand {
  readonly kind: "drop property graphs";
  readonly graphs: readonly RelationName[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
}

/** REFRESH MATERIALIZED VIEW; its rows come with the command. */
export interface RefreshCommand {
  readonly kind: "refresh";
  readonly table: RelationName;
  readonly populated: boolean;
}

/** Triggers of a table or view. */
export type TriggerCommand =
  | {
      readonly kind: "create trigger";
      readonly relation: RelationName;
      readonly replace: boolean;
      readonly trigger: NewTrigger;
    }
  | {
      readonly kind: "drop trigger";
      readonly relation: RelationName;
      readonly name: string;
      readonly ifExists: boolean;
    }
  | {
      readonly kind: "rename trigger";
      readonly relation: RelationName;
      readonly name: string;
      readonly newName: string;
    }
  | {
      readonly kind: "comment on trigger";
      readonly relation: RelationName;
      readonly name: string;
      readonly comment: string | null;
    };

/** CREATE, DROP, ALTER STATISTICS, COMMENT ON STATISTICS. */
export type StatisticsCommand =
  | ({
      readonly kind: "create statistics";
      /** null: made up. */
      readonly name: string | null;
      readonly table: RelationName;
      readonly ifNotExists: boolean;
    } & Pick<ExtendedStatisticsDef, "schema" | "kinds" | "keys" | "columnIds">)
  | {
      readonly kind: "drop statistics";
      readonly names: readonly Pick<ExtendedStatisticsDef, "schema" | "name">[];
      readonly ifExists: boolean;
    }
  | {
      readonly kind: "alter statistics";
      readonly name: Pick<ExtendedStatisticsDef, "schema" | "name">;
      /** `comment` null removes it. */
      readonly change: { readonly schema?: string; readonly name?: string; readonly comment?: string | null };
    };

/** Rules of a table or view. */
export type RuleCommand =
  | {
      readonly kind: "create rule";
      readonly relation: RelationName;
      readonly replace: boolean;
      readonly rule: NewTrigger;
    }
  | {
      readonly kind: "drop rule";
      readonly relation: RelationName;
      readonly name: string;
      readonly ifExists: boolean;
    }
  | { readonly kind: "rename rule"; readonly relation: RelationName; readonly name: string; readonly newName: string };
