/**
 * Bound statements about schemas, sequences, types and operators. `sql/bind` makes them, `ddl-namespace.ts` applies
 * them.
 */
import type { SqlType } from "../values/values.js";
import type { OperatorCommand } from "./operator-command.js";
import type { SequenceOptions } from "./sequence.js";

/** A name in its schema; `position` is where it stands in the statement, 0 when not known. */
export interface ObjectName {
  readonly schema: string;
  readonly name: string;
  readonly position: number;
}

export type NamespaceCommand =
  | CreateSchemaCommand
  | DropSchemaCommand
  | RenameSchemaCommand
  | CreateSequenceCommand
  | AlterSequenceCommand
  | DropSequenceCommand
  | CreateTypeCommand
  | AlterEnumCommand
  | AlterCompositeCommand
  | AlterDomainCommand
  | DropTypeCommand
  | CreateExtensionCommand
  | DropExtensionCommand
  | MoveCommand
  | OperatorCommand;

export interface CreateExtensionCommand {
  readonly kind: "create extension";
  readonly name: string;
  readonly ifNotExists: boolean;
}

export interface DropExtensionCommand {
  readonly kind: "drop extension";
  readonly names: readonly string[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
}

export interface CreateSchemaCommand {
  readonly kind: "create schema";
  readonly name: string;
  readonly ifNotExists: boolean;
  /** The role of AUTHORIZATION; absent: whoever makes it. */
  readonly owner?: number;
}

export interface DropSchemaCommand {
  readonly kind: "drop schema";
  readonly names: readonly string[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
}

export interface RenameSchemaCommand {
  readonly kind: "rename schema";
  readonly name: string;
  readonly newName: string;
}

/** The column that owns a sequence. */
export interface SequenceOwner {
  readonly table: ObjectName;
  readonly column: string;
}

export interface CreateSequenceCommand extends ObjectName {
  readonly kind: "create sequence";
  readonly ifNotExists: boolean;
  readonly options: SequenceOptions;
  readonly owner: SequenceOwner | null;
}

export interface AlterSequenceCommand extends ObjectName {
  readonly kind: "alter sequence";
  readonly options: SequenceOptions;
  /** null: as before. */
  readonly owner: SequenceOwner | "none" | null;
}

export interface DropSequenceCommand {
  readonly kind: "drop sequence";
  readonly names: readonly ObjectName[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
}

export interface CreateTypeCommand extends ObjectName {
  readonly kind: "create type";
  readonly shape:
    | { readonly kind: "enum"; readonly labels: readonly string[] }
    | { readonly kind: "composite"; readonly fields: readonly { readonly name: string; readonly type: SqlType }[] }
    | {
        readonly kind: "range";
        readonly subtype: SqlType;
        readonly multirange: ObjectName;
        readonly collation?: string;
        readonly subtypeDiff?: string;
      }
    | {
        readonly kind: "domain";
        readonly base: SqlType;
        readonly notNull: boolean;
        readonly defaultSql: string | null;
        readonly checks: readonly DomainCheck[];
      };
}

/** `name` null: made up as PostgreSQL does (`d_check`). */
export interface DomainCheck {
  readonly name: string | null;
  readonly sql: string;
  /** Stored values need not satisfy it yet. */
  readonly notValid?: boolean;
}

export interface AlterEnumCommand extends ObjectName {
  readonly kind: "alter enum";
  readonly label: string;
  /** Renamed; null: added. */
  readonly oldLabel: string | null;
  readonly neighbor: string | null;
  readonly after: boolean;
  readonly ifNotExists: boolean;
}

/** A field of a composite type; the functions are about stored expressions of typed tables, as in AlterAction. */
export type AttributeChange =
  | { readonly kind: "add"; readonly name: string; readonly type: SqlType }
  | {
      readonly kind: "drop";
      readonly name: string;
      readonly ifExists: boolean;
      readonly reads: (sql: string) => boolean;
    }
  | { readonly kind: "retype"; readonly name: string; readonly type: SqlType; readonly reads: (sql: string) => boolean }
  | {
      readonly kind: "rename";
      readonly name: string;
      readonly newName: string;
      readonly renamed: (sql: string) => string;
    };

export interface AlterCompositeCommand extends ObjectName {
  readonly kind: "alter composite";
  readonly changes: readonly AttributeChange[];
  /** Typed tables follow, and what depends on a dropped field goes. */
  readonly cascade: boolean;
}

export interface AlterDomainCommand extends ObjectName {
  readonly kind: "alter domain";
  readonly change:
    | { readonly kind: "default"; readonly sql: string | null }
    | { readonly kind: "not null"; readonly notNull: boolean }
    | { readonly kind: "add check"; readonly check: DomainCheck }
    | { readonly kind: "validate check"; readonly name: string }
    | { readonly kind: "drop check"; readonly name: string; readonly ifExists: boolean }
    | { readonly kind: "rename check"; readonly name: string; readonly newName: string };
}

export interface DropTypeCommand {
  readonly kind: "drop type";
  readonly names: readonly ObjectName[];
  /** As DROP DOMAIN says, which only takes domains. */
  readonly domain: boolean;
  readonly ifExists: boolean;
  readonly cascade: boolean;
}

/** ALTER … RENAME TO and SET SCHEMA. */
export interface MoveCommand extends ObjectName {
  readonly kind: "move";
  readonly object: "sequence" | "type" | "table";
  readonly toSchema: string;
  readonly toName: string;
}
