/**
 * A tenant's definitions as one statement sees them: an immutable picture of one catalog version. `Catalog.view` hands
 * it out; binders and the routes under /schema read it.
 */
import type { ExtensionDef } from "./extension.js";
import type { FunctionDef } from "./function.js";
import type { CastDef, OperatorDef } from "./operator.js";
import type { AccessDef, RoleDef, RoleSettingsDef } from "./role.js";
import type { SchemaDef } from "./schema.js";
import type { SequenceDef } from "./sequence.js";
import type { IndexDef, SearchIndexDef, TableDef } from "./table.js";
import type { TypeDef } from "./type.js";
import type { PropertyGraphDef, ViewDef } from "./view.js";

/** The schema of every name that is written without one. */
export const DEFAULT_SCHEMA = "public";

/** Whether its name marks the relation as one that routes keep their own things in: data sets, chats, memories … */
export function isInternal({ schema, name }: Pick<TableDef, "schema" | "name">): boolean {
  return schema === DEFAULT_SCHEMA && name.startsWith("_");
}

export interface CatalogView {
  /**
   * Equal versions mean equal definitions, so this is part of a plan cache's key. A number is a committed version; a
   * string belongs to one transaction with uncommitted DDL, and plans bound under it must not be cached.
   */
  readonly version: number | string;
  /** `schema` null: the default schema. */
  table(schema: string | null, name: string): TableDef | null;
  tableById(id: number): TableDef | null;
  /** An index (or the index behind a constraint) by its name, with its table. */
  index(schema: string | null, name: string): { readonly table: TableDef; readonly index: IndexDef } | null;
  /** An index for search by its name, with its table. */
  searchIndex(schema: string | null, name: string): { readonly table: TableDef; readonly index: SearchIndexDef } | null;
  view(schema: string | null, name: string): ViewDef | null;
  /** All views, by schema and name; materialized ones are tables. */
  views(): readonly ViewDef[];
  propertyGraph(schema: string | null, name: string): PropertyGraphDef | null;
  propertyGraphs(): readonly PropertyGraphDef[];
  sequence(schema: string | null, name: string): SequenceDef | null;
  /** Sequences that number columns of the table. */
  sequencesOf(table: TableDef): readonly SequenceDef[];
  /** All tables, by schema and name. */
  tables(): readonly TableDef[];
  /** Those whose rows are audited, in no order. */
  auditedTables(): readonly TableDef[];
  sequences(): readonly SequenceDef[];
  /** Schemas that statements made. */
  schemas(): readonly SchemaDef[];
  /** Whether there is no built-in `public` any more. */
  readonly droppedPublic: boolean;
  /** Whether a schema has that name: one of those, or a built-in one. */
  hasSchema(name: string): boolean;
  /** One that a statement made. */
  schema(name: string): SchemaDef | null;
  /** The names of all, the built-in ones first. */
  schemaNames(): readonly string[];
  /** What who may use the schema is known by: of one that a statement made, and of the built-in `public`. */
  schemaId(name: string): number | null;
  /** Extensions that statements made. */
  extensions(): readonly ExtensionDef[];
  /** Operators that statements made, of that name in any schema. */
  operatorsNamed(name: string): readonly OperatorDef[];
  operatorById(id: number): OperatorDef | null;
  operators(): readonly OperatorDef[];
  casts(): readonly CastDef[];
  /** Casts that statements made, by castKey; null: none. */
  readonly madeCasts: ReadonlyMap<string, CastDef> | null;
  /** A type that a statement made. */
  type(schema: string, name: string): TypeDef | null;
  /** The type's definition by its id (`SqlType.user`). */
  typeById(id: number): TypeDef | null;
  types(): readonly TypeDef[];
  /** Functions, procedures and aggregates of that name in the schema. */
  functionsNamed(schema: string, name: string): readonly FunctionDef[];
  functions(): readonly FunctionDef[];
  functionById(id: number): FunctionDef | null;
  /** Roles that statements made, and built-in ones that they changed. */
  roles(): readonly RoleDef[];
  /** Also a built-in one. */
  role(name: string): RoleDef | null;
  /** Also a built-in one. */
  roleById(id: number): RoleDef | null;
  /** What sessions begin with. */
  roleSettings(): readonly RoleSettingsDef[];
  /** Of a role, or EVERY_ROLE_ID; null: none. */
  settingsOfRole(roleId: number): RoleSettingsDef | null;
  /** Who may do what with the object (of a schema: PUBLIC_SCHEMA_ID or its id); null: it is common property. */
  accessTo(objectId: number): AccessDef | null;
  /** All objects that are no common property. */
  accesses(): readonly AccessDef[];
  /** Whether there is any: otherwise everybody may do everything. */
  readonly hasAccess: boolean;
  /** It is of a past in which nobody but superusers reads memories: who reads them now may be others. */
  readonly hidesMemories?: boolean;
}
