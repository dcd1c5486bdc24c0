/**
 * The definitions while one statement changes them: writes records through the transaction and keeps the picture in
 * memory up to date. Made by `Catalog.change`; used by ddl.ts and the models that own tables.
 */

import { sqlError } from "../protocol/errors.js";
import { catalogKey } from "../storage/keys.js";
import type { Transaction } from "../storage/store.js";
import { arrayOf, type SqlType } from "../values/values.js";
import {
  type Author,
  accessOfNew,
  requireCreate,
  requireCreateSchema,
  requireDropper,
  requireOpenName,
  requireOwner,
  requireOwnerOfPublic,
  requireTableOwner,
  requireTypeOwner,
  requireUse,
  requireWriting,
} from "./author.js";
import { CatalogSnapshot } from "./catalog-snapshot.js";
import { DEFAULT_SCHEMA } from "./catalog-view.js";
import { checkColumnCount } from "./column-count.js";
import type { Condemned } from "./condemned.js";
import {
  encodeAccess,
  encodeFunction,
  encodePlain,
  encodeRole,
  encodeRoleSettings,
  encodeSchema,
  encodeSequence,
  encodeTable,
  encodeType,
  encodeView,
  internType,
  linkTypes,
} from "./definition-codec.js";
import type { FunctionDef } from "./function.js";
import { byId, PLAIN_RECORDS, type PlainDefinitions } from "./plain-definitions.js";
import { type AccessDef, type DefaultKind, PUBLIC_SCHEMA_ID, type RoleDef, type RoleSettingsDef } from "./role.js";
import { rowOf, rowTypeOf, withStoredTypes } from "./row-type.js";
import type { SchemaDef } from "./schema.js";
import type { SequenceDef } from "./sequence.js";
import { statisticsKey } from "./statistics.js";
import type { IndexDef, TableDef } from "./table.js";
import { type CompositeDef, type RangeDef, sqlTypeOf, type TypeDef, usesType } from "./type.js";
import type { ViewDef } from "./view.js";

/** Names of records in the tenant's catalog space; an id follows the first two. */
export const TABLE_RECORD = "table/";
export const SEQUENCE_RECORD = "sequence/";
export const SCHEMA_RECORD = "schema/";
export const TYPE_RECORD = "type/";
export const VIEW_RECORD = "view/";
export const FUNCTION_RECORD = "function/";
export const ROLE_RECORD = "role/";
export const ACCESS_RECORD = "access/";
export const ROLE_SETTINGS_RECORD = "role-settings/";
export const VERSION_RECORD = "version";
export const NEXT_ID_RECORD = "next-id";

const FIRST_ID = 1;
const ID_BYTES = 4;

export class CatalogEditor {
  private readonly tables: Map<number, TableDef>;
  private readonly sequences: Map<number, SequenceDef>;
  private readonly schemas: Map<number, SchemaDef>;
  private types: Map<number, TypeDef>;
  private readonly views: Map<number, ViewDef>;
  private readonly functions: Map<number, FunctionDef>;
  private readonly plain: { readonly [K in keyof PlainDefinitions]: Map<number, PlainDefinitions[K]> };
  private readonly roles: Map<number, RoleDef>;
  private readonly accesses: Map<number, AccessDef>;
  private readonly roleSettings: Map<number, RoleSettingsDef>;
  /** The definitions as changed so far; null: to be made when somebody asks. */
  private current: CatalogSnapshot | null;
  /** Whether any definition was written or removed. */
  changed = false;
  /** What CASCADE takes as a whole, once the statement has done the rest. */
  readonly condemned: Condemned[] = [];
  /** Who changes definitions, also where the author is asked for nothing. */
  readonly sender: Author | null;

  constructor(
    private readonly tx: Transaction,
    private readonly tenantNumber: number,
    before: CatalogSnapshot,
    public author: Author | null = null,
  ) {
    this.sender = author;
    this.tables = byId(before.tables());
    this.sequences = byId(before.sequences());
    this.schemas = byId(before.schemas());
    if (before.droppedPublic) this.schemas.set(PUBLIC_SCHEMA_ID, NO_PUBLIC);
    this.types = byId(before.types());
    this.views = byId<ViewDef>([...before.views(), ...before.propertyGraphs()]);
    this.functions = byId(before.functions());
    this.plain = {
      extension: byId(before.extensions()),
      operator: byId(before.operators()),
      cast: byId(before.casts()),
    };
    this.roles = byId(before.roles());
    this.accesses = new Map(before.accesses().map((access) => [access.objectId, access]));
    this.roleSettings = new Map(before.roleSettings().map((each) => [each.roleId, each]));
    this.current = before;
  }

  /** The definitions as changed so far. */
  get view(): CatalogSnapshot {
    this.current ??= this.snapshot("being changed");
    return this.current;
  }

  /** What follows from something that the author may do, and is asked for nothing more. */
  byEngine<T>(work: () => T): T {
    const { author } = this;
    this.author = null;
    try {
      return work();
    } finally {
      this.author = author;
    }
  }

  /** An id for a table, an index or a sequence; unique within the tenant. */
  nextId(): number {
    const key = catalogKey(this.tenantNumber, NEXT_ID_RECORD);
    const record = this.tx.get(key);
    const id = record === undefined ? FIRST_ID : Buffer.from(record).readUInt32BE(0);
    const next = Buffer.allocUnsafe(ID_BYTES);
    next.writeUInt32BE(id + 1);
    this.tx.put(key, next);
    return id;
  }

  /** Throws 42P07 when a relation of that name exists, 54011 for too many columns. */
  createTable(table: TableDef): void {
    this.checkName(table.schema, table.name);
    checkColumnCount(table.columns.length);
    this.put(table);
    this.own("table", table, table.schema);
  }

  /** A new definition of the table with the same id. */
  replaceTable(table: TableDef): void {
    this.put(table);
  }

  /**
   * Removes the definitions of the table, its indexes and its own sequences, and its parents' note of it; rows are the
   * caller's, and so are tables that inherit from it.
   */
  dropTable(table: TableDef): void {
    requireDropper(this.author, "table", table, this.view);
    this.unlink(this.tables.get(table.id) ?? table);
    this.tx.delete(catalogKey(this.tenantNumber, `${TABLE_RECORD}${table.id}`));
    this.tx.delete(statisticsKey(this.tenantNumber, table.id));
    this.tables.delete(table.id);
    this.dropAccess(table.id);
    const row = this.rowType(table.id);
    if (row !== null) this.dropType(row);
    for (const sequence of this.view.sequencesOf(table)) this.dropSequence(sequence);
    this.refresh();
  }

  private unlink(table: TableDef): void {
    for (const id of table.parents ?? []) {
      const parent = this.tables.get(id);
      if (parent === undefined) continue;
      const children = parent.children?.filter((child) => child !== table.id);
      this.put(Object.freeze({ ...parent, ...(children && { children }) }));
    }
  }

  /** The table with the index added. Throws 42P07. */
  createIndex(table: TableDef, index: IndexDef): TableDef {
    this.checkName(table.schema, index.name);
    const next = Object.freeze({ ...table, indexes: [...table.indexes, index] });
    this.put(next);
    return next;
  }

  /** The table without the index. */
  dropIndex(table: TableDef, index: IndexDef): TableDef {
    const next = Object.freeze({ ...table, indexes: table.indexes.filter((other) => other.id !== index.id) });
    this.put(next);
    return next;
  }

  createSequence(sequence: SequenceDef): void {
    this.createSequences([sequence]);
  }

  /** No two have the same name. Throws 42P07 before it makes any. */
  createSequences(sequences: readonly SequenceDef[]): void {
    for (const { schema, name } of sequences) this.checkName(schema, name);
    for (const sequence of sequences) {
      this.replaceSequence(sequence);
      this.own("sequence", sequence, sequence.schema);
    }
  }

  /** A new definition of the sequence with the same id. */
  replaceSequence(sequence: SequenceDef): void {
    const before = this.sequences.get(sequence.id);
    if (before !== undefined) requireOwner(this.author, "sequence", before);
    this.tx.put(catalogKey(this.tenantNumber, `${SEQUENCE_RECORD}${sequence.id}`), encodeSequence(sequence));
    this.sequences.set(sequence.id, sequence);
    this.refresh();
  }

  dropSequence(sequence: SequenceDef): void {
    requireDropper(this.author, "sequence", sequence, this.view);
    this.tx.delete(catalogKey(this.tenantNumber, `${SEQUENCE_RECORD}${sequence.id}`));
    this.sequences.delete(sequence.id);
    this.dropAccess(sequence.id);
    this.refresh();
  }

  /** A new schema, or a new definition of one. */
  putSchema(schema: SchemaDef): void {
    const before = this.schemas.get(schema.id);
    if (before !== undefined) requireOwner(this.author, "schema", before);
    else requireCreateSchema(this.author);
    this.tx.put(catalogKey(this.tenantNumber, `${SCHEMA_RECORD}${schema.id}`), encodeSchema(schema));
    this.schemas.set(schema.id, schema);
    this.refresh();
    if (before === undefined) this.own("schema", schema, null);
  }

  /** Removes the definition of the schema alone. */
  dropSchema(schema: SchemaDef): void {
    requireOwner(this.author, "schema", schema);
    this.tx.delete(catalogKey(this.tenantNumber, `${SCHEMA_RECORD}${schema.id}`));
    this.schemas.delete(schema.id);
    this.dropAccess(schema.id);
    this.dropDefaults(schema.name);
    this.refresh();
  }

  /** As `dropSchema`, of the built-in one: its record says that it is gone. */
  dropPublicSchema(): void {
    requireOwnerOfPublic(this.author);
    this.tx.put(catalogKey(this.tenantNumber, `${SCHEMA_RECORD}${NO_PUBLIC.id}`), encodeSchema(NO_PUBLIC));
    this.schemas.set(NO_PUBLIC.id, NO_PUBLIC);
    this.dropAccess(NO_PUBLIC.id);
    this.dropDefaults(NO_PUBLIC.name);
    this.refresh();
  }

  /** What roles say of what will be made in the schema. */
  private dropDefaults(schema: string): void {
    for (const role of [...this.roles.values()]) {
      const defaults = role.defaults?.filter((each) => each.schema !== schema);
      if (defaults !== undefined && defaults.length < role.defaults!.length) this.putRole({ ...role, defaults });
    }
  }

  /** A new definition of one of these kinds, or a new one with the same id. Who may is the caller's to ask. */
  keep<K extends keyof PlainDefinitions>(kind: K, definition: PlainDefinitions[K]): void {
    const { id } = definition;
    this.tx.put(catalogKey(this.tenantNumber, `${PLAIN_RECORDS[kind]}${id}`), encodePlain(definition));
    (this.plain[kind] as Map<number, PlainDefinitions[K]>).set(id, definition);
    this.refresh();
  }

  forget(kind: keyof PlainDefinitions, { id }: { readonly id: number }): void {
    this.tx.delete(catalogKey(this.tenantNumber, `${PLAIN_RECORDS[kind]}${id}`));
    this.plain[kind].delete(id);
    this.refresh();
  }

  /** A new or changed type; definitions that use it are those of the new one from now on. Throws 42710. */
  putType(definition: TypeDef): void {
    const before = this.types.get(definition.id);
    if (before !== undefined) requireTypeOwner(this.author, before, this.view);
    this.storeType(definition);
    if (before === undefined) this.own("type", definition, definition.schema);
  }

  private storeType(definition: TypeDef): void {
    const type = this.withCurrentMultirange(withStoredTypes(definition, (part) => this.storedType(part)));
    const taken = this.view.type(type.schema, type.name);
    if (taken !== null && taken.id !== type.id) throw sqlError("42710", `type "${type.name}" already exists`);
    this.tx.put(catalogKey(this.tenantNumber, `${TYPE_RECORD}${type.id}`), encodeType(type));
    this.types.set(type.id, type);
    this.relink(type.id);
    this.refresh();
    // A range knows the name of its multirange.
    const range = type.kind === "multirange" ? this.types.get(type.range.user!.id) : undefined;
    if (range !== undefined) this.storeType(range);
  }

  private withCurrentMultirange(type: TypeDef): TypeDef {
    const list = type.kind === "range" ? this.types.get(type.multirange.id) : undefined;
    if (list === undefined) return type;
    const { id, schema, name } = list;
    return Object.freeze({ ...(type as RangeDef), multirange: { id, schema, name } });
  }

  /** A new view, or a new definition of one. */
  putView(view: ViewDef): void {
    const before = this.views.get(view.id);
    if (before !== undefined) requireOwner(this.author, "view", before);
    if (before === undefined || isRenamed(before, view)) requireOpenName(this.author, view);
    this.tx.put(catalogKey(this.tenantNumber, `${VIEW_RECORD}${view.id}`), encodeView(view));
    this.views.set(view.id, view);
    this.refresh();
    if (before === undefined) this.own("table", view, view.schema);
  }

  dropView(view: ViewDef): void {
    requireDropper(this.author, "view", view, this.view);
    this.tx.delete(catalogKey(this.tenantNumber, `${VIEW_RECORD}${view.id}`));
    this.views.delete(view.id);
    this.dropAccess(view.id);
    this.refresh();
  }

  /** A new function, or a new definition of one. */
  putFunction(fn: FunctionDef): void {
    const before = this.functions.get(fn.id);
    if (before !== undefined) requireOwner(this.author, "function", before);
    else requireWriting(this.author, fn, this.view);
    this.tx.put(catalogKey(this.tenantNumber, `${FUNCTION_RECORD}${fn.id}`), encodeFunction(fn));
    this.functions.set(fn.id, fn);
    this.refresh();
    if (before === undefined) this.own("function", fn, fn.schema);
  }

  dropFunction(fn: FunctionDef): void {
    requireDropper(this.author, "function", fn, this.view);
    this.tx.delete(catalogKey(this.tenantNumber, `${FUNCTION_RECORD}${fn.id}`));
    this.functions.delete(fn.id);
    this.dropAccess(fn.id);
    this.refresh();
  }

  dropType(type: TypeDef): void {
    this.tx.delete(catalogKey(this.tenantNumber, `${TYPE_RECORD}${type.id}`));
    this.types.delete(type.id);
    this.dropAccess(type.id);
    this.refresh();
  }

  /** Types and columns that are made of a changed type. */
  private relink(id: number): void {
    this.types = new Map(linkTypes([...this.types.values()]).map((type) => [type.id, type]));
    const lookUp = (typeId: number) => sqlTypeOf(this.types.get(typeId)!);
    for (const table of this.tables.values()) {
      if (!table.columns.some((column) => usesType(column.type, id))) continue;
      const columns = table.columns.map((column) => ({ ...column, type: internType(column.type, lookUp) }));
      this.tables.set(table.id, Object.freeze({ ...table, columns }));
    }
  }

  /** The definitions as they are now, under a version. */
  snapshot(version: string): CatalogSnapshot {
    return new CatalogSnapshot(version, {
      tables: this.tables.values(),
      sequences: this.sequences.values(),
      schemas: this.schemas.values(),
      types: this.types.values(),
      views: this.views.values(),
      functions: this.functions.values(),
      extensions: this.plain.extension.values(),
      operators: this.plain.operator.values(),
      casts: this.plain.cast.values(),
      roles: this.roles.values(),
      accesses: this.accesses.values(),
      roleSettings: this.roleSettings.values(),
    });
  }

  /** A new role, or a new definition of one. */
  putRole(role: RoleDef): void {
    this.tx.put(catalogKey(this.tenantNumber, `${ROLE_RECORD}${role.id}`), encodeRole(role));
    this.roles.set(role.id, role);
    this.refresh();
  }

  dropRole(role: RoleDef): void {
    this.tx.delete(catalogKey(this.tenantNumber, `${ROLE_RECORD}${role.id}`));
    this.roles.delete(role.id);
    if (this.roleSettings.has(role.id)) this.putRoleSettings({ roleId: role.id, settings: [] });
    this.refresh();
  }

  putRoleSettings(definition: RoleSettingsDef): void {
    const { roleId, settings } = definition;
    const key = catalogKey(this.tenantNumber, `${ROLE_SETTINGS_RECORD}${roleId}`);
    if (settings.length === 0) {
      this.tx.delete(key);
      this.roleSettings.delete(roleId);
    } else {
      this.tx.put(key, encodeRoleSettings(definition));
      this.roleSettings.set(roleId, definition);
    }
    this.refresh();
  }

  putAccess(access: AccessDef): void {
    this.tx.put(catalogKey(this.tenantNumber, `${ACCESS_RECORD}${access.objectId}`), encodeAccess(access));
    this.accesses.set(access.objectId, access);
    this.refresh();
  }

  dropAccess(objectId: number): void {
    if (!this.accesses.delete(objectId)) return;
    this.tx.delete(catalogKey(this.tenantNumber, `${ACCESS_RECORD}${objectId}`));
    this.refresh();
  }

  /** Says who owns an object that is new. Throws 42501. */
  private own(kind: DefaultKind, object: { readonly id: number; readonly name: string }, schema: string | null): void {
    if (schema !== null) requireCreate(this.author, schema, this.view);
    const access = this.accesses.has(object.id) ? null : accessOfNew(this.author, kind, object, schema, this.view);
    if (access !== null) this.putAccess(access);
  }

  private put(definition: TableDef): void {
    const before = this.tables.get(definition.id);
    if (before !== undefined) requireTableOwner(this.author, before, definition, this.view);
    const known = new Map(before?.columns.map(({ id, type }) => [id, type]));
    const others = definition.columns.filter(({ id, type }) => known.get(id) !== type);
    requireUse(
      this.author,
      others.map(({ type }) => type),
      this.view,
    );
    if (before === undefined || isRenamed(before, definition)) requireOpenName(this.author, definition);
    const table = this.withRowTypes(definition);
    this.tx.put(catalogKey(this.tenantNumber, `${TABLE_RECORD}${table.id}`), encodeTable(table));
    this.tables.set(table.id, table);
    const row = this.rowType(table.id);
    if (row !== null) this.storeType(rowTypeOf(table, row));
    this.refresh();
  }

  /** The type of a table's rows, if columns of others hold it. */
  rowType(tableId: number): CompositeDef | null {
    for (const type of this.types.values()) if (type.kind === "composite" && type.rowOf === tableId) return type;
    return null;
  }

  /** With types of their own for the rows of tables that its columns hold. */
  private withRowTypes(table: TableDef): TableDef {
    if (!table.columns.some((column) => rowOf(column.type) !== null)) return table;
    const columns = table.columns.map((column) => Object.freeze({ ...column, type: this.storedType(column.type) }));
    return Object.freeze({ ...table, columns });
  }

  /** A type as definitions have it: rows of a table by a type of their own, made when it is first needed. */
  private storedType(type: SqlType): SqlType {
    const tableId = rowOf(type);
    if (tableId === null) return type;
    if (type.element !== null) return arrayOf(this.storedType(type.element));
    const known = this.rowType(tableId);
    if (known !== null) return sqlTypeOf(known);
    const made = rowTypeOf(this.tables.get(tableId)!, { id: this.nextId() });
    this.storeType(made);
    return sqlTypeOf(made);
  }

  private refresh(): void {
    this.changed = true;
    this.current = null;
  }

  private checkName(schema: string, name: string): void {
    if (this.view.hasRelation(schema, name)) throw relationExists(name);
  }
}

const NO_PUBLIC: SchemaDef = Object.freeze({
  id: PUBLIC_SCHEMA_ID,
  name: DEFAULT_SCHEMA,
  dropped: true,
  createdAt: 0,
});

type Named = Pick<TableDef, "schema" | "name">;

function isRenamed(before: Named, after: Named): boolean {
  return before.name !== after.name || before.schema !== after.schema;
}

export function relationExists(name: string): Error {
  return sqlError("42P07", `relation "${name}" already exists`);
}
