/** Applies CREATE, ALTER and DROP of types. Called by ddl-namespace.ts. */
import { sqlError } from "../protocol/errors.js";
import type { EnumLabel, SqlType } from "../values/values.js";
import { alterComposite } from "./alter-composite.js";
import { requireTypeDropper } from "./author.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { condemnColumnsOf, condemnTypesOf } from "./columns-of-type.js";
import { type DdlOutcome, NOTHING, ownRows, type Verification } from "./ddl-outcome.js";
import { describeUsers, dropUsers, typeUsersOf } from "./drop-dependents.js";
import { dropTables } from "./drop-tables.js";
import type {
  AlterCompositeCommand,
  AlterDomainCommand,
  AlterEnumCommand,
  CreateTypeCommand,
  DomainCheck,
  DropTypeCommand,
} from "./namespace-command.js";
import { madeUpName, quotedIdentifier } from "./relation-names.js";
import type { CheckDef, TableDef } from "./table.js";
import { type DomainDef, type EnumDef, isRowType, type RangeDef, sqlTypeOf, type TypeDef, usesType } from "./type.js";

type TypeCommand = CreateTypeCommand | AlterEnumCommand | AlterCompositeCommand | AlterDomainCommand | DropTypeCommand;

export function applyTypeCommand(editor: CatalogEditor, command: TypeCommand, nowMicros: number): DdlOutcome {
  switch (command.kind) {
    case "create type":
      return createType(editor, command, nowMicros);
    case "alter enum":
      return alterEnum(editor, command);
    case "alter composite":
      return alterComposite(editor, command, nowMicros);
    case "alter domain":
      return alterDomain(editor, command);
    case "drop type":
      return dropTypes(editor, command);
  }
}

function createType(editor: CatalogEditor, command: CreateTypeCommand, createdAt: number): DdlOutcome {
  const { schema, name, shape } = command;
  if (editor.view.type(schema, name) !== null || editor.view.table(schema, name) !== null) {
    throw sqlError(
      "42710",
      `type "${name}" already exists`,
      command.position > 0 ? { position: command.position } : {},
    );
  }
  const named = { id: editor.nextId(), schema, name, createdAt };
  switch (shape.kind) {
    case "enum": {
      const labels = shape.labels.map((label, order): EnumLabel => ({ label, order: order + 1 }));
      editor.putType(Object.freeze({ kind: "enum", ...named, labels }));
      return { ...NOTHING, tag: "CREATE TYPE" };
    }
    case "composite":
      editor.putType(Object.freeze({ kind: "composite", ...named, fields: shape.fields }));
      return { ...NOTHING, tag: "CREATE TYPE" };
    case "range":
      return createRange(editor, named, shape);
    case "domain": {
      const { base, notNull, defaultSql } = shape;
      const checks: CheckDef[] = [];
      for (const check of shape.checks) checks.push(namedCheck(check, name, checks));
      editor.putType(Object.freeze({ kind: "domain", ...named, base, notNull, defaultSql, checks }));
      return { ...NOTHING, tag: "CREATE DOMAIN" };
    }
  }
}

type RangeShape = Extract<CreateTypeCommand["shape"], { kind: "range" }>;

/** The range and its multirange. Throws 42710 when the latter's name is taken. */
function createRange(
  editor: CatalogEditor,
  named: Pick<RangeDef, "id" | "schema" | "name" | "createdAt">,
  { kind, subtype, multirange, ...shown }: RangeShape,
): DdlOutcome {
  const { schema, name } = multirange;
  const isTaken = editor.view.type(schema, name) ?? editor.view.table(schema, name);
  if (isTaken !== null || (schema === named.schema && name === named.name)) {
    throw sqlError("42710", `type "${name}" already exists`, {
      hint: 'You can manually specify a multirange type name using the "multirange_type_name" attribute.',
    });
  }
  const list = { id: editor.nextId(), schema, name };
  const range: RangeDef = Object.freeze({ kind, ...named, subtype, multirange: list, ...shown });
  editor.putType(range);
  const { createdAt } = named;
  editor.putType(Object.freeze({ kind: "multirange", ...list, createdAt, range: sqlTypeOf(range) }));
  return { ...NOTHING, tag: "CREATE TYPE" };
}

/** Throws 42710 when a given name is taken. */
function namedCheck({ name, sql, notValid }: DomainCheck, domain: string, others: readonly CheckDef[]): CheckDef {
  const taken = (candidate: string) => others.some((other) => other.name === candidate);
  if (name !== null && taken(name)) {
    throw sqlError("42710", `constraint "${name}" for domain "${domain}" already exists`);
  }
  return { name: name ?? madeUpName(domain, [], "check", taken), sql, ...(notValid && { notValid }) };
}

// ---- enums ----

function alterEnum(editor: CatalogEditor, command: AlterEnumCommand): DdlOutcome {
  const type = editor.view.type(command.schema, command.name);
  if (type?.kind !== "enum") throw sqlError("42809", `"${command.name}" is not an enum`);
  const tag = "ALTER TYPE";
  if (command.oldLabel !== null) {
    editor.putType(renamedLabel(type, command.oldLabel, command.label));
    return { ...NOTHING, tag };
  }
  if (type.labels.some(({ label }) => label === command.label)) {
    if (!command.ifNotExists) throw sqlError("42710", `enum label "${command.label}" already exists`);
    return { ...NOTHING, tag, notices: [`enum label "${command.label}" already exists, skipping`] };
  }
  const labels = [...type.labels];
  labels.splice(placeOf(command, type), 0, { label: command.label, order: orderFor(command, type) });
  editor.putType(Object.freeze({ ...type, labels }));
  return { ...NOTHING, tag };
}

function renamedLabel(type: EnumDef, before: string, after: string): EnumDef {
  if (!type.labels.some(({ label }) => label === before)) {
    throw sqlError("22023", `"${before}" is not an existing enum label`);
  }
  if (type.labels.some(({ label }) => label === after)) {
    throw sqlError("42710", `enum label "${after}" already exists`);
  }
  const labels = type.labels.map((each) => (each.label === before ? { ...each, label: after } : each));
  return Object.freeze({ ...type, labels });
}

/** Where the new label goes among those there are. Throws 22023. */
function placeOf({ neighbor, after }: AlterEnumCommand, { labels }: EnumDef): number {
  if (neighbor === null) return labels.length;
  const index = labels.findIndex(({ label }) => label === neighbor);
  if (index < 0) throw sqlError("22023", `"${neighbor}" is not an existing enum label`);
  return after ? index + 1 : index;
}

/** A number between those of the neighbours, so that stored values keep theirs. Throws 54000 when there is no room. */
function orderFor(command: AlterEnumCommand, type: EnumDef): number {
  const place = placeOf(command, type);
  const before = type.labels[place - 1]?.order;
  const after = type.labels[place]?.order;
  if (before === undefined) return after === undefined ? 1 : after - 1;
  if (after === undefined) return before + 1;
  const between = (before + after) / 2;
  if (between > before && between < after) return between;
  throw sqlError("54000", `no more labels fit between "${type.labels[place - 1]!.label}" and the next one`);
}

// ---- domains ----

function alterDomain(editor: CatalogEditor, command: AlterDomainCommand): DdlOutcome {
  const { change } = command;
  const domain = editor.view.type(command.schema, command.name);
  if (domain?.kind !== "domain") throw sqlError("42809", `"${command.name}" is not a domain`);
  const outcome = { ...NOTHING, tag: "ALTER DOMAIN", verify: verifications(editor, domain, change) };
  const put = (changes: Partial<DomainDef>) => editor.putType(Object.freeze({ ...domain, ...changes }));
  switch (change.kind) {
    case "default":
      put({ defaultSql: change.sql });
      break;
    case "not null":
      put({ notNull: change.notNull });
      break;
    case "add check":
      put({ checks: [...domain.checks, namedCheck(change.check, domain.name, domain.checks)] });
      break;
    case "validate check": {
      const checks = domain.checks.map((check) => {
        if (check.name !== change.name) return check;
        const { notValid, ...valid } = check;
        return valid;
      });
      put({ checks });
      break;
    }
    case "rename check": {
      if (!domain.checks.some(({ name }) => name === change.name)) throw noConstraint(change.name, domain);
      const checks = domain.checks.map((check) =>
        check.name === change.name ? { ...check, name: change.newName } : check,
      );
      put({ checks });
      break;
    }
    case "drop check": {
      const checks = domain.checks.filter(({ name }) => name !== change.name);
      if (checks.length < domain.checks.length) put({ checks });
      else if (!change.ifExists) throw noConstraint(change.name, domain);
      else {
        const notice = `constraint "${change.name}" of domain "${domain.name}" does not exist, skipping`;
        return { ...outcome, notices: [notice] };
      }
    }
  }
  return outcome;
}

/** The condition that stored values must satisfy from now on. Throws 42704. */
function newCheck(domain: DomainDef, change: AlterDomainCommand["change"]): DomainCheck | null {
  if (change.kind === "add check") return change.check.notValid ? null : change.check;
  if (change.kind !== "validate check") return null;
  const check = domain.checks.find(({ name }) => name === change.name);
  if (check === undefined) throw noConstraint(change.name, domain);
  return check;
}

/** Existing rows must satisfy the new constraints. */
function verifications(editor: CatalogEditor, domain: DomainDef, change: AlterDomainCommand["change"]): Verification[] {
  const check = newCheck(domain, change);
  if (check === null && !(change.kind === "not null" && change.notNull)) return [];
  const condition = check === null ? "value IS NOT NULL" : `(${check.sql})`;
  const sqlstate = check === null ? "23502" : "23514";
  const wrong = check === null ? "null values" : "values that violate the new constraint";
  return editor.view.tables().flatMap((table) =>
    table.columns.flatMap((column): Verification[] => {
      if (!usesType(column.type, domain.id)) return [];
      const values = valuesOf(column.type, domain, `t.${quotedIdentifier(column.name)}`);
      if (values === null) {
        const used = `${table.name}.${column.name}`;
        throw sqlError("0A000", `cannot alter type "${domain.name}" because column "${used}" uses it`);
      }
      const from = `${ownRows(table)} AS t CROSS JOIN LATERAL (${values}) AS v(value)`;
      const message = `column "${column.name}" of table "${table.name}" contains ${wrong}`;
      const error = () => sqlError(sqlstate, message, { table: table.name, column: column.name });
      return [{ sql: `SELECT 1 FROM ${from} WHERE NOT (${condition}) LIMIT 1`, error }];
    }),
  );
}

/** A query for the values of the domain in a column: the column's own or an array's; null inside of other types. */
function valuesOf(type: SqlType, domain: DomainDef, column: string): string | null {
  if (type.user?.id === domain.id) return `SELECT ${column}`;
  if (type.user?.kind === "domain") return valuesOf(type.user.base!, domain, column);
  if (type.element?.user?.id === domain.id) return `SELECT unnest(${column})`;
  return null;
}

function noConstraint(name: string, domain: DomainDef): Error {
  return sqlError("42704", `constraint "${name}" of domain "${domain.name}" does not exist`);
}

// ---- DROP ----

function dropTypes(editor: CatalogEditor, command: DropTypeCommand): DdlOutcome {
  const notices: string[] = [];
  const gone: Gone = { notices: [], indexes: [], tables: [] };
  for (const name of command.names) {
    const type = editor.view.type(name.schema, name.name);
    if (type === null) {
      if (!command.ifExists) throw sqlError("42704", `type "${name.name}" does not exist`);
      notices.push(`type "${name.name}" does not exist, skipping`);
      continue;
    }
    if (isRowType(type)) {
      throw sqlError("2BP01", `cannot drop type ${name.name} because table ${name.name} requires it`, {
        hint: `You can drop table ${name.name} instead.`,
      });
    }
    if (type.kind === "multirange") {
      const { schema, name: own } = type.range.user!;
      const range = `${schema === "public" ? "" : `${quotedIdentifier(schema)}.`}${quotedIdentifier(own)}`;
      throw sqlError("2BP01", `cannot drop type ${name.name} because type ${range} requires it`, {
        hint: `You can drop type ${range} instead.`,
      });
    }
    if (command.domain && type.kind !== "domain") throw sqlError("42809", `"${name.name}" is not a domain`);
    dropType(editor, type, command, gone);
  }
  const tag = command.domain ? "DROP DOMAIN" : "DROP TYPE";
  return {
    ...NOTHING,
    tag,
    notices: [...notices, ...gone.notices],
    clearedIndexes: gone.indexes,
    cleared: gone.tables,
  };
}

/** What goes with types, and whose data must go. */
export interface Gone {
  readonly notices: string[];
  readonly indexes: DdlOutcome["clearedIndexes"][number][];
  readonly tables: TableDef[];
}

/**
 * Throws 2BP01 when something is made of the type, unless CASCADE, which drops those columns and types. Its own record
 * goes when they are gone.
 */
export function dropType(
  editor: CatalogEditor,
  type: TypeDef,
  { cascade }: Pick<DropTypeCommand, "cascade">,
  gone: Gone,
): void {
  const { view } = editor;
  requireTypeDropper(editor.author, type, view);
  const typed = view.tables().filter((table) => table.ofType === type.id);
  const list = type.kind === "range" ? view.typeById(type.multirange.id) : null;
  const columns = condemnColumnsOf(editor, type.id, new Set(typed.map(({ id }) => id)));
  const dependents = [
    ...columns,
    ...typed.map((table) => `table ${table.name}`),
    ...condemnTypesOf(editor, type, list?.id),
    ...describeUsers(typeUsersOf(editor, type)),
  ];
  if (dependents.length > 0 && !cascade) {
    throw sqlError("2BP01", `cannot drop type ${type.name} because other objects depend on it`, {
      detail: dependents.map((object) => `${object} depends on type ${type.name}`).join("\n"),
      hint: "Use DROP ... CASCADE to drop the dependent objects too.",
    });
  }
  gone.notices.push(...dependents.map((object) => `drop cascades to ${object}`));
  const names = typed.map(({ schema, name }) => ({ schema, name, position: 0 }));
  const dropped = dropTables(editor, { kind: "drop table", tables: names, ifExists: true, cascade: true });
  const users = dropUsers(editor, typeUsersOf(editor, type));
  for (const { notices, cleared, clearedIndexes } of [dropped, users]) {
    gone.notices.push(...notices);
    gone.tables.push(...cleared);
    gone.indexes.push(...clearedIndexes);
  }
  if (list !== null) editor.condemned.push({ kind: "unused type", typeId: list.id });
  editor.condemned.push({ kind: "unused type", typeId: type.id });
}
