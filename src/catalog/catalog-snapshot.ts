/**
 * One version of a tenant's definitions in memory: immutable, with lookups by name. `Catalog` and `CatalogEditor`
 * make them.
 */
import { type CatalogView, DEFAULT_SCHEMA } from "./catalog-view.js";
import type { ExtensionDef } from "./extension.js";
import type { FunctionDef } from "./function.js";
import { type CastDef, castKey, type OperatorDef } from "./operator.js";
import { type AccessDef, BUILT_IN_ROLES, PUBLIC_SCHEMA_ID, type RoleDef, type RoleSettingsDef } from "./role.js";
import { BUILT_IN_SCHEMAS, type SchemaDef } from "./schema.js";
import type { SequenceDef } from "./sequence.js";
import type { IndexDef, SearchIndexDef, TableDef } from "./table.js";
import type { TypeDef } from "./type.js";
import type { PropertyGraphDef, ViewDef } from "./view.js";

interface FoundIndex {
  readonly table: TableDef;
  readonly index: IndexDef;
}

interface FoundSearchIndex {
  readonly table: TableDef;
  readonly index: SearchIndexDef;
}

/** Everything that a version of the catalog defines. */
export interface Definitions {
  readonly tables: Iterable<TableDef>;
  readonly sequences: Iterable<SequenceDef>;
  readonly schemas: Iterable<SchemaDef>;
  readonly types: Iterable<TypeDef>;
  readonly views: Iterable<ViewDef>;
  readonly functions: Iterable<FunctionDef>;
  readonly extensions: Iterable<ExtensionDef>;
  readonly operators: Iterable<OperatorDef>;
  readonly casts: Iterable<CastDef>;
  readonly roles: Iterable<RoleDef>;
  readonly accesses: Iterable<AccessDef>;
  readonly roleSettings: Iterable<RoleSettingsDef>;
}

export class CatalogSnapshot implements CatalogView {
  private readonly tablesByName = new Map<string, TableDef>();
  private readonly tablesById = new Map<number, TableDef>();
  private readonly indexesByName = new Map<string, FoundIndex>();
  private readonly searchIndexesByName = new Map<string, FoundSearchIndex>();
  private readonly sequencesByName = new Map<string, SequenceDef>();
  private readonly schemasByName = new Map<string, SchemaDef>();
  private readonly typesByName = new Map<string, TypeDef>();
  private readonly typesById = new Map<number, TypeDef>();
  private readonly viewsByName = new Map<string, ViewDef>();
  private readonly graphsByName = new Map<string, PropertyGraphDef>();
  private readonly functionsByName = new Map<string, FunctionDef[]>();
  private readonly functionsById = new Map<number, FunctionDef>();
  private readonly extensionsByName = new Map<string, ExtensionDef>();
  private readonly operatorsByName = new Map<string, OperatorDef[]>();
  private readonly operatorsById = new Map<number, OperatorDef>();
  private readonly castsByKey = new Map<string, CastDef>();
  private readonly rolesById = new Map<number, RoleDef>();
  private readonly rolesByName = new Map(BUILT_IN_ROLES.map((role) => [role.name, role]));
  private readonly accessById = new Map<number, AccessDef>();
  private readonly settingsByRole = new Map<number, RoleSettingsDef>();
  readonly madeCasts: ReadonlyMap<string, CastDef> | null;
  readonly hasAccess: boolean;
  readonly droppedPublic: boolean;
  hidesMemories = false;
  private sorted: readonly TableDef[] | null = null;

  constructor(
    readonly version: number | string,
    definitions: Definitions,
  ) {
    const { tables, sequences, schemas, types, views, functions, extensions } = definitions;
    const { operators, casts, roles, accesses, roleSettings } = definitions;
    for (const table of tables) {
      this.tablesByName.set(nameKey(table.schema, table.name), table);
      this.tablesById.set(table.id, table);
      for (const index of table.indexes) this.indexesByName.set(nameKey(table.schema, index.name), { table, index });
      for (const index of table.searchIndexes ?? []) {
        this.searchIndexesByName.set(nameKey(table.schema, index.name), { table, index });
      }
    }
    for (const sequence of sequences) this.sequencesByName.set(nameKey(sequence.schema, sequence.name), sequence);
    for (const extension of extensions) this.extensionsByName.set(extension.name, extension);
    for (const operator of operators) {
      const named = this.operatorsByName.get(operator.name);
      if (named === undefined) this.operatorsByName.set(operator.name, [operator]);
      else named.push(operator);
      this.operatorsById.set(operator.id, operator);
    }
    for (const cast of casts) this.castsByKey.set(castKey(cast.source, cast.target), cast);
    this.madeCasts = this.castsByKey.size === 0 ? null : this.castsByKey;
    let droppedPublic = false;
    for (const schema of schemas) {
      if (schema.dropped) droppedPublic = true;
      else this.schemasByName.set(schema.name, schema);
    }
    this.droppedPublic = droppedPublic;
    for (const view of views) {
      const key = nameKey(view.schema, view.name);
      if (isPropertyGraph(view)) this.graphsByName.set(key, view);
      else this.viewsByName.set(key, view);
    }
    for (const fn of functions) {
      const key = nameKey(fn.schema, fn.name);
      const named = this.functionsByName.get(key);
      if (named === undefined) this.functionsByName.set(key, [fn]);
      else named.push(fn);
      this.functionsById.set(fn.id, fn);
    }
    for (const type of types) {
      this.typesByName.set(nameKey(type.schema, type.name), type);
      this.typesById.set(type.id, type);
    }
    for (const role of roles) {
      this.rolesById.set(role.id, role);
      this.rolesByName.set(role.name, role);
    }
    for (const access of accesses) this.accessById.set(access.objectId, access);
    for (const each of roleSettings) this.settingsByRole.set(each.roleId, each);
    this.hasAccess = this.accessById.size > 0;
  }

  roleSettings(): readonly RoleSettingsDef[] {
    return [...this.settingsByRole.values()];
  }

  settingsOfRole(roleId: number): RoleSettingsDef | null {
    return this.settingsByRole.get(roleId) ?? null;
  }

  roles(): readonly RoleDef[] {
    return [...this.rolesById.values()];
  }

  role(name: string): RoleDef | null {
    return this.rolesByName.get(name) ?? null;
  }

  roleById(id: number): RoleDef | null {
    return this.rolesById.get(id) ?? BUILT_IN_ROLES.find((role) => role.id === id) ?? null;
  }

  accessTo(objectId: number): AccessDef | null {
    return this.accessById.get(objectId) ?? null;
  }

  accesses(): readonly AccessDef[] {
    return [...this.accessById.values()];
  }

  table(schema: string | null, name: string): TableDef | null {
    return this.tablesByName.get(nameKey(schema ?? DEFAULT_SCHEMA, name)) ?? null;
  }

  tableById(id: number): TableDef | null {
    return this.tablesById.get(id) ?? null;
  }

  index(schema: string | null, name: string): FoundIndex | null {
    return this.indexesByName.get(nameKey(schema ?? DEFAULT_SCHEMA, name)) ?? null;
  }

  searchIndex(schema: string | null, name: string): FoundSearchIndex | null {
    return this.searchIndexesByName.get(nameKey(schema ?? DEFAULT_SCHEMA, name)) ?? null;
  }

  sequence(schema: string | null, name: string): SequenceDef | null {
    return this.sequencesByName.get(nameKey(schema ?? DEFAULT_SCHEMA, name)) ?? null;
  }

  view(schema: string | null, name: string): ViewDef | null {
    return this.viewsByName.get(nameKey(schema ?? DEFAULT_SCHEMA, name)) ?? null;
  }

  propertyGraph(schema: string | null, name: string): PropertyGraphDef | null {
    return this.graphsByName.get(nameKey(schema ?? DEFAULT_SCHEMA, name)) ?? null;
  }

  propertyGraphs(): readonly PropertyGraphDef[] {
    return [...this.graphsByName.values()];
  }

  views(): readonly ViewDef[] {
    return [...this.viewsByName.values()].sort((a, b) => compare(a.schema, b.schema) || compare(a.name, b.name));
  }

  sequencesOf(table: TableDef): readonly SequenceDef[] {
    return this.sequences().filter((sequence) => sequence.ownedBy?.tableId === table.id);
  }

  sequences(): readonly SequenceDef[] {
    return [...this.sequencesByName.values()];
  }

  schemas(): readonly SchemaDef[] {
    return [...this.schemasByName.values()];
  }

  hasSchema(name: string): boolean {
    return this.schemasByName.has(name) || this.isBuiltIn(name);
  }

  private isBuiltIn(name: string): boolean {
    return BUILT_IN_SCHEMAS.includes(name) && !(name === DEFAULT_SCHEMA && this.droppedPublic);
  }

  schemaNames(): readonly string[] {
    return [...BUILT_IN_SCHEMAS.filter((name) => this.isBuiltIn(name)), ...this.schemasByName.keys()];
  }

  schemaId(name: string): number | null {
    const made = this.schemasByName.get(name)?.id ?? null;
    return made ?? (name === DEFAULT_SCHEMA && !this.droppedPublic ? PUBLIC_SCHEMA_ID : null);
  }

  schema(name: string): SchemaDef | null {
    return this.schemasByName.get(name) ?? null;
  }

  extensions(): readonly ExtensionDef[] {
    return [...this.extensionsByName.values()];
  }

  extension(name: string): ExtensionDef | null {
    return this.extensionsByName.get(name) ?? null;
  }

  operatorsNamed(name: string): readonly OperatorDef[] {
    return this.operatorsByName.get(name) ?? NO_OPERATORS;
  }

  operatorById(id: number): OperatorDef | null {
    return this.operatorsById.get(id) ?? null;
  }

  operators(): readonly OperatorDef[] {
    return [...this.operatorsById.values()];
  }

  casts(): readonly CastDef[] {
    return [...this.castsByKey.values()];
  }

  type(schema: string, name: string): TypeDef | null {
    return this.typesByName.get(nameKey(schema, name)) ?? null;
  }

  typeById(id: number): TypeDef | null {
    return this.typesById.get(id) ?? null;
  }

  types(): readonly TypeDef[] {
    return [...this.typesById.values()];
  }

  functionsNamed(schema: string, name: string): readonly FunctionDef[] {
    return this.functionsByName.get(nameKey(schema, name)) ?? NO_FUNCTIONS;
  }

  functions(): readonly FunctionDef[] {
    return [...this.functionsById.values()];
  }

  functionById(id: number): FunctionDef | null {
    return this.functionsById.get(id) ?? null;
  }

  tables(): readonly TableDef[] {
    this.sorted ??= [...this.tablesByName.values()].sort(
      (a, b) => compare(a.schema, b.schema) || compare(a.name, b.name),
    );
    return this.sorted;
  }

  auditedTables(): readonly TableDef[] {
    const found: TableDef[] = [];
    for (const table of this.tablesByName.values()) if (table.audit !== undefined) found.push(table);
    return found;
  }

  /** Whether a table, a view, an index, a primary key or a sequence has the name: they share one space of names. */
  hasRelation(schema: string, name: string): boolean {
    return (
      this.table(schema, name) !== null ||
      this.view(schema, name) !== null ||
      this.propertyGraph(schema, name) !== null ||
      this.index(schema, name) !== null ||
      this.searchIndex(schema, name) !== null ||
      this.sequence(schema, name) !== null ||
      this.tables().some((table) => table.schema === schema && table.primaryKeyName === name)
    );
  }
}

const isPropertyGraph = (view: ViewDef): view is PropertyGraphDef => view.graph !== undefined;

const NO_OPERATORS: readonly OperatorDef[] = [];
const NO_FUNCTIONS: readonly FunctionDef[] = [];

function nameKey(schema: string, name: string): string {
  return `${schema}\0${name}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
