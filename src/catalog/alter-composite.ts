/**
 * ALTER TYPE of composite types. Called by ddl-types.ts.
 *
 * Stored values keep their bytes: each field has a slot in them (`RecordField.slot`), so adding, dropping and renaming
 * fields touches no row. Keys hold the fields alone, in order, so types of keys cannot change; nor can a field's type
 * while a column holds it (PostgreSQL's find_composite_type_dependencies).
 */
import { type DbError, sqlError } from "../protocol/errors.js";
import type { RecordField, SqlType } from "../values/values.js";
import { alterTable } from "./alter-family.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { AlterAction } from "./ddl-command.js";
import { combined, type DdlOutcome, NOTHING, type Verification } from "./ddl-outcome.js";
import { descendantsOf } from "./inheritance.js";
import type { AlterCompositeCommand, AttributeChange } from "./namespace-command.js";
import { quotedIdentifier } from "./relation-names.js";
import { rename } from "./rename.js";
import type { TableDef } from "./table.js";
import { type CompositeDef, usesType } from "./type.js";

/**
 * Throws 42809 for another kind of type, 42701 and 42703 for the names of fields, 2BP01 and 0A000 for what uses them.
 */
export function alterComposite(editor: CatalogEditor, command: AlterCompositeCommand, nowMicros: number): DdlOutcome {
  const { schema, name, cascade } = command;
  const outcomes = command.changes.map((change) => {
    const type = editor.view.type(schema, name) as CompositeDef;
    const typed = editor.view.tables().filter((table) => table.ofType === type.id);
    const next = changed(editor, type, change);
    if (next === null) {
      return { notices: [`column "${change.name}" of relation "${name}" does not exist, skipping`] };
    }
    if (typed.length > 0 && !cascade) {
      throw sqlError("2BP01", `cannot alter type "${name}" because it is the type of a typed table`, {
        hint: "Use ALTER ... CASCADE to alter the typed tables too.",
      });
    }
    if (change.kind === "drop") dropDependents(editor, type, change.name, cascade);
    editor.putType(Object.freeze(next));
    return combined(typed.map((table) => followed(editor, table, change, nowMicros)));
  });
  const verify = domainsOver(editor, editor.view.type(schema, name)!.id);
  return { ...NOTHING, ...combined([...outcomes, { verify }]), tag: "ALTER TYPE" };
}

/** null: the field does not exist, and need not. */
function changed(editor: CatalogEditor, type: CompositeDef, change: AttributeChange): CompositeDef | null {
  const { fields } = type;
  const at = fields.findIndex((field) => field.name === change.name);
  const exists = (name: string) => sqlError("42701", `column "${name}" of relation "${type.name}" already exists`);
  if (change.kind === "add") {
    if (at >= 0) throw exists(change.name);
    if (usesType(change.type, type.id)) {
      throw sqlError("42P16", `composite type ${type.name} cannot be made a member of itself`);
    }
    refuseKeys(editor, type);
    const slot = type.nextSlot ?? fields.length;
    const field = { name: change.name, type: change.type, slot };
    return { ...type, fields: [...fields, field], nextSlot: slot + 1 };
  }
  if (at < 0) {
    if (change.kind === "drop" && change.ifExists) return null;
    const message =
      change.kind === "drop"
        ? `column "${change.name}" of relation "${type.name}" does not exist`
        : `column "${change.name}" does not exist`;
    throw sqlError("42703", message);
  }
  const replaced = (field: RecordField) => fields.map((other, i) => (i === at ? field : other));
  switch (change.kind) {
    case "rename":
      if (fields.some((field) => field.name === change.newName)) throw exists(change.newName);
      return { ...type, fields: replaced({ ...fields[at]!, name: change.newName }) };
    case "retype":
      refuseColumns(editor, type);
      return { ...type, fields: replaced({ ...fields[at]!, type: change.type }) };
    case "drop": {
      refuseKeys(editor, type);
      const slotted = fields.map((field, i) => ({ ...field, slot: field.slot ?? i }));
      return { ...type, fields: slotted.toSpliced(at, 1), nextSlot: type.nextSlot ?? fields.length };
    }
  }
}

const usedBy = (type: CompositeDef, table: TableDef, column: string): DbError =>
  sqlError("0A000", `cannot alter type "${type.name}" because column "${table.name}.${column}" uses it`);

/** Throws 0A000 when a column or an index expression is made of the type. */
export function refuseColumns(editor: CatalogEditor, { id, ...type }: CompositeDef): void {
  for (const table of editor.view.tables()) {
    const column = table.columns.find((other) => usesType(other.type, id));
    if (column !== undefined) throw usedBy({ id, ...type }, table, column.name);
    for (const index of table.indexes) {
      const isKey = index.columns.some(({ expression }) => expression && readsType(expression.sql, type.name));
      if (isKey) throw usedBy({ id, ...type }, { ...table, name: index.name }, "expr");
    }
  }
}

/** Throws 0A000 when a primary key or an index has values of the type. */
function refuseKeys(editor: CatalogEditor, type: CompositeDef): void {
  for (const table of editor.view.tables()) {
    const keys = new Set([
      ...(table.primaryKey ?? []),
      ...table.indexes.flatMap((index) => index.columns.map((key) => key.columnId)),
    ]);
    const column = table.columns.find((other) => keys.has(other.id) && usesType(other.type, type.id));
    if (column === undefined) continue;
    throw sqlError(
      "0A000",
      `altering type "${type.name}", of which "${table.name}.${column.name}" is a key, is not supported`,
    );
  }
}

const quoted = (name: string) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const readsType = (sql: string, name: string) => new RegExp(`::\\s*(?:\\w+\\.)?"?${quoted(name)}"?(?!\\w)`).test(sql);
/** Whether an expression selects a field of that name out of something. */
const readsField = (sql: string, name: string) => new RegExp(`[)\\]]\\s*\\.\\s*"?${quoted(name)}"?(?!\\w)`).test(sql);

/** Constraints that read the field go with it. Throws 2BP01 unless CASCADE. */
function dropDependents(editor: CatalogEditor, type: CompositeDef, field: string, cascade: boolean): void {
  const { view } = editor;
  const tables = view.tables().flatMap((table) => {
    const columns = table.columns.filter((column) => usesType(column.type, type.id));
    const reads = (sql: string) => readsField(sql, field) && columns.some(({ name }) => sql.includes(name));
    const checks = table.checks.filter((check) => reads(check.sql));
    return checks.length === 0 ? [] : [{ table, checks }];
  });
  const domains = view.types().flatMap((domain) => {
    if (domain.kind !== "domain" || !usesType(domain.base, type.id)) return [];
    const checks = domain.checks.filter((check) => readsField(check.sql, field));
    return checks.length === 0 ? [] : [{ domain, checks }];
  });
  if (!cascade && tables.length + domains.length > 0) {
    const what = `column ${field} of composite type ${type.name}`;
    throw sqlError("2BP01", `cannot drop ${what} because other objects depend on it`, {
      detail: [
        ...tables.flatMap(({ table, checks }) =>
          checks.map((check) => `constraint ${check.name} on table ${table.name}`),
        ),
        ...domains.flatMap(({ domain, checks }) =>
          checks.map((check) => `constraint ${check.name} on type ${domain.name}`),
        ),
      ]
        .map((object) => `${object} depends on ${what}`)
        .join("\n"),
      hint: "Use DROP ... CASCADE to drop the dependent objects too.",
    });
  }
  for (const { table, checks } of tables) {
    const left = table.checks.filter((check) => !checks.includes(check));
    editor.replaceTable(Object.freeze({ ...table, checks: left }));
  }
  for (const { domain, checks } of domains) {
    editor.putType(Object.freeze({ ...domain, checks: domain.checks.filter((check) => !checks.includes(check)) }));
  }
}

/** Conditions of domains over the type must still have a meaning: queries that bind them and find nothing. */
function domainsOver(editor: CatalogEditor, id: number): Verification[] {
  return editor.view.types().flatMap((domain): Verification[] => {
    if (domain.kind !== "domain" || domain.checks.length === 0 || !usesType(domain.base, id)) return [];
    const name = `${quotedIdentifier(domain.schema)}.${quotedIdentifier(domain.name)}`;
    const error = () => sqlError("23514", `value for domain ${domain.name} violates a check constraint`);
    return [
      { sql: `SELECT value FROM (SELECT v::${name} AS value FROM unnest(ARRAY[NULL]) AS v) AS t WHERE false`, error },
    ];
  });
}

/** A typed table has the columns that its type has. It counts as untyped while they change. */
function followed(editor: CatalogEditor, table: TableDef, change: AttributeChange, nowMicros: number) {
  const { ofType, ...untyped } = table;
  editor.replaceTable(Object.freeze(untyped));
  const relation = { schema: table.schema, name: table.name, position: 0 };
  const outcome =
    change.kind === "rename"
      ? rename(editor, {
          kind: "rename",
          object: "column",
          relation,
          part: change.name,
          newName: change.newName,
          renamed: change.renamed,
        })
      : combined(
          actionsOf(editor, table, change).map(({ member, action }) =>
            alterTable(editor, { kind: "alter table", table: { ...relation, ...nameOf(member) }, action }, nowMicros),
          ),
        );
  editor.replaceTable(Object.freeze({ ...editor.view.tableById(table.id)!, ofType: ofType! }));
  return outcome;
}

const nameOf = ({ schema, name }: TableDef) => ({ schema, name });

/** What the change is of the table; a column's type is changed in each table of the family. */
function actionsOf(
  editor: CatalogEditor,
  table: TableDef,
  change: Exclude<AttributeChange, { readonly kind: "rename" }>,
): { readonly member: TableDef; readonly action: AlterAction }[] {
  const { name } = change;
  switch (change.kind) {
    case "add": {
      const plain = { notNull: false, defaultSql: null, identity: null, sequence: null } as const;
      const column = { name, type: change.type, ...plain };
      return [
        { member: table, action: { kind: "add column", column, ifNotExists: false, missing: null, refill: null } },
      ];
    }
    case "drop": {
      const { reads } = change;
      return [{ member: table, action: { kind: "drop column", name, ifExists: false, cascade: true, reads } }];
    }
    case "retype":
      return [table, ...descendantsOf(table, editor.view)].map((member) => {
        const column = member.columns.find((other) => other.name === name)!;
        if (!keepsBytes(column.type, change.type)) {
          throw sqlError(
            "0A000",
            `changing the values of column "${name}" of typed table "${member.name}" is not supported`,
          );
        }
        const { defaultSql } = column;
        const following = member === table ? null : table.id;
        const { type, reads } = change;
        return {
          member,
          action: { kind: "set type", name, type, collation: null, rewrites: false, defaultSql, reads, following },
        };
      });
  }
}

const keepsBytes = (from: SqlType, to: SqlType) =>
  from === to || ([from, to].every(({ name }) => name === "text" || name === "varchar") && to.modifier === null);
