/**
 * Applies bound statements about schemas, sequences and types: the part of ddl.ts that is not about tables. What a
 * statement drops by CASCADE is listed like what ddl.ts drops, so that the session removes its rows.
 */
import { sqlError } from "../protocol/errors.js";
import { accessOfNew, requireOpenName } from "./author.js";
import { type CatalogEditor, relationExists } from "./catalog-editor.js";
import { DEFAULT_SCHEMA } from "./catalog-view.js";
import { createExtension, dropExtensions } from "./ddl-extension.js";
import { type DdlOutcome, NOTHING } from "./ddl-outcome.js";
import { applyTypeCommand } from "./ddl-types.js";
import { dropDependents, dropFunctions, dropOperator } from "./drop-dependents.js";
import { dropTables } from "./drop-tables.js";
import type { FunctionDef } from "./function.js";
import { outlivesSchema } from "./kept-tables.js";
import type {
  AlterSequenceCommand,
  CreateSchemaCommand,
  CreateSequenceCommand,
  DropSchemaCommand,
  DropSequenceCommand,
  MoveCommand,
  NamespaceCommand,
  ObjectName,
  RenameSchemaCommand,
  SequenceOwner,
} from "./namespace-command.js";
import type { OperatorDef } from "./operator.js";
import { applyOperatorCommand } from "./operator-ddl.js";
import { quotedIdentifier } from "./relation-names.js";
import type { SchemaDef } from "./schema.js";
import { restartOf, type SequenceDef, type SequencePosition, sequenceShape } from "./sequence.js";
import { dependentsOf, replaceSequenceName, withoutDefaults } from "./sequence-dependents.js";
import type { ColumnDef, TableDef } from "./table.js";
import { isRowType, type TypeDef } from "./type.js";
import type { PropertyGraphDef, ViewDef } from "./view.js";

/** Where a sequence stands, as its allocator knows. */
export type PositionOf = (sequence: SequenceDef) => SequencePosition;

export function applyNamespaceCommand(
  editor: CatalogEditor,
  command: NamespaceCommand,
  nowMicros: number,
  positionOf: PositionOf,
): DdlOutcome {
  switch (command.kind) {
    case "create schema":
      return createSchema(editor, command, nowMicros);
    case "drop schema":
      return dropSchemas(editor, command);
    case "rename schema":
      return renameSchema(editor, command);
    case "create sequence":
      return createSequence(editor, command, nowMicros);
    case "alter sequence":
      return alterSequence(editor, command, nowMicros, positionOf);
    case "drop sequence":
      return dropSequences(editor, command);
    case "create extension":
      return createExtension(editor, command, nowMicros);
    case "drop extension":
      return dropExtensions(editor, command);
    case "move":
      return move(editor, command);
    case "create operator":
    case "alter operator":
    case "create cast":
    case "comment on cast":
    case "drop operators":
      return applyOperatorCommand(editor, command, nowMicros);
    default:
      return applyTypeCommand(editor, command, nowMicros);
  }
}

function at({ position }: { readonly position: number }): { position: number } | undefined {
  return position > 0 ? { position } : undefined;
}

function createSchema(editor: CatalogEditor, command: CreateSchemaCommand, nowMicros: number): DdlOutcome {
  const { name } = command;
  const tag = "CREATE SCHEMA";
  if (name.startsWith("pg_")) {
    throw sqlError("42939", `unacceptable schema name "${name}"`, {
      detail: 'The prefix "pg_" is reserved for system schemas.',
    });
  }
  if (editor.view.hasSchema(name)) {
    if (!command.ifNotExists) throw sqlError("42P06", `schema "${name}" already exists`);
    return { ...NOTHING, tag, notices: [`schema "${name}" already exists, skipping`] };
  }
  const schema = Object.freeze({ id: editor.nextId(), name, createdAt: nowMicros });
  editor.putSchema(schema);
  if (command.owner !== undefined) {
    // As if the role had made it: nobody else has anything of it, unless the role's own defaults say so.
    editor.putAccess(accessOfNew({ maker: command.owner }, "schema", schema, null, editor.view)!);
  }
  return { ...NOTHING, tag };
}

function existingSchema(editor: CatalogEditor, name: string): SchemaDef {
  const schema = editor.view.schema(name);
  if (schema !== null) return schema;
  if (editor.view.hasSchema(name)) {
    throw sqlError("2BP01", `cannot change schema ${name} because it is required by the database system`);
  }
  throw sqlError("3F000", `schema "${name}" does not exist`);
}

/** The one that every tenant has at first. */
const isBuiltInPublic = ({ view }: CatalogEditor, name: string): boolean =>
  name === DEFAULT_SCHEMA && !view.droppedPublic;

const DROP_TYPE = { domain: false, ifExists: true, cascade: true } as const;
const DROP_FUNCTIONS = { kind: "drop functions", tag: "DROP FUNCTION", cascade: true, notices: [] } as const;

function dropSchemas(editor: CatalogEditor, command: DropSchemaCommand): DdlOutcome {
  const notices: string[] = [];
  const cleared: TableDef[] = [];
  const clearedIndexes: DdlOutcome["clearedIndexes"][number][] = [];
  for (const name of command.names) {
    if (!editor.view.hasSchema(name) && command.ifExists) {
      notices.push(`schema "${name}" does not exist, skipping`);
      continue;
    }
    const { view } = editor;
    const schema = isBuiltInPublic(editor, name) ? null : existingSchema(editor, name);
    // Extensions are made in `public`, whatever the search path says.
    const extensions = name === DEFAULT_SCHEMA ? view.extensions() : [];
    const contents = contentsOf(view, name);
    const inside = [...extensions.map((extension) => `extension ${extension.name}`), ...namesOf(contents)];
    if (inside.length > 0 && !command.cascade) {
      throw sqlError("2BP01", `cannot drop schema ${name} because other objects depend on it`, {
        detail: inside.map((object) => `${object} depends on schema ${name}`).join("\n"),
        hint: "Use DROP ... CASCADE to drop the dependent objects too.",
      });
    }
    const dropped = dropContents(editor, contents);
    cleared.push(...dropped.cleared);
    clearedIndexes.push(...dropped.clearedIndexes);
    notices.push(...dropped.notices);
    for (const extension of extensions) editor.forget("extension", extension);
    if (schema === null) editor.dropPublicSchema();
    else editor.dropSchema(schema);
    notices.push(...inside.map((object) => `drop cascades to ${object}`));
  }
  return { ...NOTHING, tag: "DROP SCHEMA", notices, cleared, clearedIndexes };
}

export interface SchemaContents {
  readonly tables: readonly TableDef[];
  readonly views: readonly ViewDef[];
  readonly sequences: readonly SequenceDef[];
  readonly types: readonly TypeDef[];
  readonly graphs: readonly PropertyGraphDef[];
  readonly functions: readonly FunctionDef[];
  readonly operators: readonly OperatorDef[];
}

/** What goes with the schema. */
export function contentsOf(view: CatalogEditor["view"], name: string): SchemaContents {
  const isInside = ({ schema }: { readonly schema: string }) => schema === name;
  const goesWith = (each: { readonly schema: string; readonly name: string }) =>
    isInside(each) && !outlivesSchema(each);
  return {
    tables: view.tables().filter(goesWith),
    views: view.views().filter(goesWith),
    sequences: view.sequences().filter(goesWith),
    types: typesToDrop(view, name),
    graphs: view.propertyGraphs().filter(isInside),
    functions: view.functions().filter(isInside),
    operators: view.operators().filter(isInside),
  };
}

function namesOf({ tables, views, sequences, types, graphs, functions, operators }: SchemaContents): string[] {
  const full = ({ schema, name }: { readonly schema: string; readonly name: string }) =>
    `${quotedIdentifier(schema)}.${quotedIdentifier(name)}`;
  return [
    ...tables.map((table) => `${tableKind(table)} ${full(table)}`),
    ...views.map((view) => `view ${full(view)}`),
    ...sequences.filter(({ ownedBy }) => ownedBy === null).map((sequence) => `sequence ${full(sequence)}`),
    ...types.map((type) => `type ${full(type)}`),
    ...graphs.map((graph) => `property graph ${full(graph)}`),
    ...functions.map((fn) => `${fn.kind} ${full(fn)}`),
    ...operators.map(({ schema, name }) => `operator ${quotedIdentifier(schema)}.${name}`),
  ];
}

/** Drops them with what other schemas have that needs them; the notices are about the latter. */
export function dropContents(editor: CatalogEditor, contents: SchemaContents): DdlOutcome {
  const { tables, views, sequences, types, graphs, functions, operators } = contents;
  for (const graph of graphs) editor.dropView(graph);
  const relations = dropRelations(editor, tables, views);
  const names = types.map((type) => ({ schema: type.schema, name: type.name, position: 0 }));
  const ofTypes = applyTypeCommand(editor, { kind: "drop type", names, ...DROP_TYPE }, 0);
  const ids = new Set(sequences.map(({ id }) => id));
  for (const sequence of editor.view.sequences()) if (ids.has(sequence.id)) dropSequence(editor, sequence, true);
  const used = operators.map((operator) => dropOperator(editor, operator, true));
  const signatures = functions.map((fn) => fn.name);
  const called = dropFunctions(editor, { ...DROP_FUNCTIONS, functions, signatures });
  const dropped = [relations, ofTypes, ...used, called];
  return {
    ...NOTHING,
    tag: "DROP SCHEMA",
    // Those of types repeat what the schema has.
    notices: dropped.flatMap((each) => (each === ofTypes ? [] : each.notices)),
    cleared: dropped.flatMap((each) => each.cleared),
    clearedIndexes: dropped.flatMap((each) => each.clearedIndexes),
  };
}

/** Types that go with a schema by a DROP of their own. A multirange takes its range, wherever that is. */
function typesToDrop(view: CatalogEditor["view"], schema: string): readonly TypeDef[] {
  const types = view.types().filter((type) => type.schema === schema && !isRowType(type));
  return [...new Set(types.map((type) => (type.kind === "multirange" ? view.typeById(type.range.user!.id)! : type)))];
}

export const tableKind = ({ materialized }: TableDef): string => (materialized ? "materialized view" : "table");

/** Drops a schema's tables and views with what other schemas have that needs them; the notices are about the latter. */
function dropRelations(editor: CatalogEditor, tables: readonly TableDef[], views: readonly ViewDef[]): DdlOutcome {
  const names = new Map([
    ...tables.map((table) => [table.id, `${tableKind(table)} ${table.name}`] as const),
    ...views.map((view) => [view.id, `view ${view.name}`] as const),
  ]);
  const others = dropDependents(editor, names, true);
  for (const view of views) editor.dropView(view);
  const materialized = tables.filter((table) => table.materialized);
  for (const table of materialized) editor.dropTable(table);
  const plain = tables
    .filter((table) => !table.materialized)
    .map(({ schema, name }) => ({ schema, name, position: 0 }));
  const dropped = dropTables(editor, { kind: "drop table", tables: plain, ifExists: true, cascade: true });
  return {
    ...dropped,
    notices: [...others.notices, ...dropped.notices],
    cleared: [...others.cleared, ...materialized, ...dropped.cleared],
    clearedIndexes: [...others.clearedIndexes, ...dropped.clearedIndexes],
  };
}

function renameSchema(editor: CatalogEditor, { name, newName }: RenameSchemaCommand): DdlOutcome {
  const schema = existingSchema(editor, name);
  if (editor.view.hasSchema(newName)) throw sqlError("42P06", `schema "${newName}" already exists`);
  if (newName.startsWith("pg_")) throw sqlError("42939", `unacceptable schema name "${newName}"`);
  const { view, author } = editor;
  const isInside = (each: { readonly schema: string }) => each.schema === name;
  for (const relation of [...view.tables(), ...view.views()].filter(isInside))
    requireOpenName(author, { schema: newName, name: relation.name });
  editor.putSchema(Object.freeze({ ...schema, name: newName }));
  // Who owns the schema may rename it, whoever owns what is in it.
  editor.byEngine(() => {
    for (const sequence of view.sequences().filter(isInside)) moveSequence(editor, sequence, newName, sequence.name);
    for (const type of view.types().filter((other) => isInside(other) && !isRowType(other)))
      editor.putType({ ...type, schema: newName });
    for (const table of editor.view.tables()) {
      const moved = renamedWithin(table, name, newName);
      if (moved !== table) editor.replaceTable(Object.freeze(moved));
    }
    for (const each of [...view.views(), ...view.propertyGraphs()].filter(isInside))
      editor.putView(Object.freeze({ ...each, schema: newName }));
    for (const fn of view.functions().filter(isInside)) editor.putFunction(Object.freeze({ ...fn, schema: newName }));
    for (const operator of view.operators().filter(isInside))
      editor.keep("operator", Object.freeze({ ...operator, schema: newName }));
    for (const role of view.roles()) {
      const defaults = role.defaults?.map((each) => (each.schema === name ? { ...each, schema: newName } : each));
      if (role.defaults?.some(({ schema: of }) => of === name)) editor.putRole({ ...role, defaults: defaults! });
    }
  });
  return { ...NOTHING, tag: "ALTER SCHEMA" };
}

/** Extended statistics are in a schema of their own, whatever table they are about. */
function renamedWithin(table: TableDef, name: string, newName: string): TableDef {
  const { extendedStatistics: statistics } = table;
  const moved = table.schema === name ? { ...table, schema: newName } : table;
  if (!statistics?.some(({ schema }) => schema === name)) return moved;
  const renamed = statistics.map((each) => (each.schema === name ? { ...each, schema: newName } : each));
  return { ...moved, extendedStatistics: renamed };
}

// ---- sequences ----

function createSequence(editor: CatalogEditor, command: CreateSequenceCommand, nowMicros: number): DdlOutcome {
  const { schema, name, options } = command;
  const tag = "CREATE SEQUENCE";
  if (editor.view.hasRelation(schema, name)) {
    if (!command.ifNotExists) throw relationExists(name);
    return { ...NOTHING, tag, notices: [`relation "${name}" already exists, skipping`] };
  }
  const shape = sequenceShape(options, null);
  const ownedBy = command.owner === null ? null : ownerOf(editor, command.owner, schema);
  const id = editor.nextId();
  editor.createSequence(Object.freeze({ id, schema, name, ...shape, ownedBy, from: null, createdAt: nowMicros }));
  return { ...NOTHING, tag };
}

function existingSequence(editor: CatalogEditor, name: ObjectName): SequenceDef {
  const sequence = editor.view.sequence(name.schema, name.name);
  if (sequence !== null) return sequence;
  if (editor.view.hasRelation(name.schema, name.name)) {
    throw sqlError("42809", `"${name.name}" is not a sequence`, at(name));
  }
  throw sqlError("42P01", `relation "${name.name}" does not exist`, at(name));
}

/** Throws 42P01, 42703, and 55000 for a table of another schema. */
function ownerOf(editor: CatalogEditor, owner: SequenceOwner, schema: string): NonNullable<SequenceDef["ownedBy"]> {
  const { table: name, column } = owner;
  const table = editor.view.table(name.schema, name.name);
  if (table === null) {
    throw editor.view.hasRelation(name.schema, name.name)
      ? sqlError("42809", `sequence cannot be owned by relation "${name.name}"`, at(name))
      : sqlError("42P01", `relation "${name.name}" does not exist`, at(name));
  }
  if (table.schema !== schema) throw sqlError("55000", "sequence must be in same schema as table it is linked to");
  const owned = table.columns.find((other) => other.name === column);
  if (owned === undefined) {
    throw sqlError("42703", `column "${column}" of relation "${table.name}" does not exist`, at(name));
  }
  return { tableId: table.id, columnId: owned.id };
}

function alterSequence(
  editor: CatalogEditor,
  command: AlterSequenceCommand,
  nowMicros: number,
  positionOf: PositionOf,
): DdlOutcome {
  const { options, owner } = command;
  const before = existingSequence(editor, command);
  const shape = sequenceShape(options, before);
  const from = restartOf(shape, options, positionOf(before));
  const ownedBy = owner === null ? before.ownedBy : owner === "none" ? null : ownerOf(editor, owner, before.schema);
  if (owner !== null && identityColumn(editor, before) !== null) {
    throw sqlError("0A000", "cannot change ownership of identity sequence");
  }
  const createdAt = Math.max(nowMicros, before.createdAt + 1);
  editor.replaceSequence(Object.freeze({ ...before, ...shape, ownedBy, from, createdAt }));
  return { ...NOTHING, tag: "ALTER SEQUENCE" };
}

function identityColumn(editor: CatalogEditor, { ownedBy }: SequenceDef): ColumnDef | null {
  if (ownedBy === null) return null;
  const table = editor.view.tables().find((other) => other.id === ownedBy.tableId);
  const column = table?.columns.find((other) => other.id === ownedBy.columnId);
  return column !== undefined && column.identity !== null ? column : null;
}

function dropSequences(editor: CatalogEditor, command: DropSequenceCommand): DdlOutcome {
  const notices: string[] = [];
  for (const name of command.names) {
    const known = editor.view.sequence(name.schema, name.name);
    if (known === null && command.ifExists && !editor.view.hasRelation(name.schema, name.name)) {
      notices.push(`sequence "${name.name}" does not exist, skipping`);
      continue;
    }
    if (known === null && !editor.view.hasRelation(name.schema, name.name)) {
      throw sqlError("42P01", `sequence "${name.name}" does not exist`, at(name));
    }
    dropSequence(editor, known ?? existingSequence(editor, name), command.cascade);
  }
  return { ...NOTHING, tag: "DROP SEQUENCE", notices };
}

/** Throws 2BP01 when a column needs the sequence, unless `cascade`, which takes away the column's default. */
function dropSequence(editor: CatalogEditor, sequence: SequenceDef, cascade: boolean): void {
  const { name } = sequence;
  const identity = identityColumn(editor, sequence);
  if (identity !== null && !cascade) {
    const message = `cannot drop sequence ${name} because column ${identity.name} requires it`;
    throw sqlError("2BP01", message, { hint: `You can drop column ${identity.name} instead.` });
  }
  const dependents = dependentsOf(sequence, editor.view);
  if (dependents.length > 0 && !cascade) {
    throw sqlError("2BP01", `cannot drop sequence ${name} because other objects depend on it`, {
      detail: dependents
        .map(({ table, column }) => `default value for column ${column.name} of table ${table.name} depends on it`)
        .join("\n"),
      hint: "Use DROP ... CASCADE to drop the dependent objects too.",
    });
  }
  for (const table of new Set(dependents.map((dependent) => dependent.table))) {
    editor.replaceTable(withoutDefaults(table, sequence));
  }
  editor.dropSequence(sequence);
}

/** Defaults name their sequences by schema and name, so they follow. */
function moveSequence(editor: CatalogEditor, sequence: SequenceDef, toSchema: string, toName: string): void {
  const next = Object.freeze({ ...sequence, schema: toSchema, name: toName });
  editor.replaceSequence(next);
  for (const table of new Set(dependentsOf(sequence, editor.view).map((dependent) => dependent.table))) {
    editor.replaceTable(replaceSequenceName(table, sequence, next));
  }
}

// ---- ALTER … RENAME TO, SET SCHEMA ----

function move(editor: CatalogEditor, command: MoveCommand): DdlOutcome {
  const { object, schema, name, toSchema, toName } = command;
  const same = schema === toSchema && name === toName;
  switch (object) {
    case "sequence": {
      const sequence = existingSequence(editor, command);
      if (editor.view.hasRelation(toSchema, toName)) throw relationExists(toName);
      moveSequence(editor, sequence, toSchema, toName);
      return { ...NOTHING, tag: "ALTER SEQUENCE" };
    }
    case "type": {
      const type = editor.view.type(schema, name)!;
      if (!same) editor.putType({ ...type, schema: toSchema, name: toName });
      return { ...NOTHING, tag: "ALTER TYPE" };
    }
    case "table": {
      if (!same) moveTable(editor, command);
      return { ...NOTHING, tag: "ALTER TABLE" };
    }
  }
}

/** To another schema, with its indexes (which have no schema of their own) and the sequences of its columns. */
function moveTable(editor: CatalogEditor, command: MoveCommand): void {
  const { toSchema } = command;
  const table = editor.view.table(command.schema, command.name)!;
  const { view } = editor;
  const sequences = view.sequencesOf(table);
  const names = [
    table.name,
    ...table.indexes.map((index) => index.name),
    ...(table.searchIndexes ?? []).map((index) => index.name),
    ...(table.primaryKeyName === null ? [] : [table.primaryKeyName]),
    ...sequences.map((sequence) => sequence.name),
  ];
  const taken = names.find((name) => view.hasRelation(toSchema, name));
  if (taken !== undefined) throw sqlError("42P07", `relation "${taken}" already exists in schema "${toSchema}"`);
  editor.replaceTable(Object.freeze({ ...table, schema: toSchema }));
  for (const sequence of sequences) moveSequence(editor, sequence, toSchema, sequence.name);
}
