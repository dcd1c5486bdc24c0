/**
 * Functions about definitions and the session (chapter 9.26): pg_get_…, format_type, to_regclass, set_config and the
 * like. They look into the catalog when the statement runs. Called by bind-call.ts.
 */
import { parseRelationName, quotedIdentifier } from "../../../catalog/relation-names.js";
import { isTemporarySchema } from "../../../catalog/schema.js";
import { sqlTypeOf } from "../../../catalog/type.js";
import { sqlError } from "../../../protocol/errors.js";
import { need } from "../../../query/expr/capability.js";
import type { EvalContext, Expr, ScalarFunction } from "../../../query/expr/expr.js";
import { SIMILARITY_THRESHOLD } from "../../../query/expr/functions/trigrams.js";
import {
  builtInTypes,
  canCoerce,
  displayName,
  idOfOid,
  oidOfId,
  typeFromName,
  typeOfModifier,
} from "../../../query/expr/types.js";
import { toText } from "../../../values/text-format.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, BOOL, FLOAT4, INT4, NAME, OID, type SqlType, TEXT, type Value } from "../../../values/values.js";
import type { Binding } from "../binding.js";
import { coerceImplicit, resolveUnknown } from "../coerce.js";
import {
  hashPartitionTest,
  partitionConstraint,
  partitionKeyDefinition,
  partitionRoot,
  registerPartitionFunctions,
} from "./partition-functions.js";
import { functionArguments, functionDefinition, functionIdentity, functionResult } from "./pg-proc.js";
import { triggerDefinition } from "./pg-triggers.js";
import {
  constraintsOf,
  indexesOf,
  oidOfRelation,
  qualified,
  queryText,
  relationOfOid,
  schemaOid,
  typeOid,
} from "./relation-facts.js";
import { SYSTEM, type SystemView, systemView } from "./system-view.js";

// biome-ignore lint/suspicious/noExplicitAny: each overload names the parameter types that it declares
type Answer = (view: SystemView, ...args: any[]) => Value;

function systemFunction(name: string, args: readonly SqlType[], returns: SqlType, answer: Answer): ScalarFunction {
  return Object.freeze({
    name,
    args,
    returns,
    volatility: "stable",
    strict: true,
    needsContext: true,
    apply: (context: EvalContext, ...values: Value[]) => answer(systemView(context), ...values),
  });
}

/** The OID of a relation that a text names; digits are an OID. Null when there is none. */
function relationNamed(view: SystemView, text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  const { schema, name } = parseRelationName(text);
  for (const candidate of schema === null ? view.searchPath : [schema]) {
    const oid = oidOfRelation(candidate, name, view);
    if (oid !== null) return oid;
  }
  return null;
}

function existingRelation(view: SystemView, text: string): number {
  const oid = relationNamed(view, text);
  if (oid !== null) return oid;
  throw sqlError("42P01", `relation "${text}" does not exist`);
}

/** As regclass prints: qualified unless the search path finds it. */
function relationText(view: SystemView, oid: number): string {
  const relation = relationOfOid(oid, view);
  if (relation === null) return String(oid);
  const visible = relationNamed(view, quotedIdentifier(relation.name)) === oid;
  return visible ? quotedIdentifier(relation.name) : qualified(relation);
}

function typeNamed(view: SystemView, text: string): SqlType | null {
  if (/^\d+$/.test(text)) return typeOfOid(view, Number(text));
  const [, bare, dimensions] = /^(.*?)((?:\[\d*\])*)$/.exec(text.trim())!;
  const { schema, name } = parseRelationName(bare!);
  const wrap = (type: SqlType) => (dimensions === "" ? type : arrayOf(type));
  for (const candidate of schema === null ? view.searchPath : [schema]) {
    const own = view.catalog.type(candidate, name);
    if (own !== null) return wrap(sqlTypeOf(own));
  }
  try {
    // The SQL name; "char" in quotes is another type.
    const spelled = bare!.replace(/\(.*\)$/, "");
    return wrap(typeFromName(/^char$/i.test(spelled) ? "character" : spelled.replace(/^"(.*)"$/, "$1")));
  } catch {
    return null;
  }
}

function typeOfOid({ catalog }: SystemView, oid: number): SqlType | null {
  const own = idOfOid(oid);
  const definition = own === null ? null : catalog.typeById(own.id);
  if (definition !== null) return own!.part === 2 ? arrayOf(sqlTypeOf(definition)) : sqlTypeOf(definition);
  return builtInTypes().find((type) => typeOid(type) === oid) ?? null;
}

function constraintDefinition({ catalog }: SystemView, oid: number): string | null {
  for (const table of catalog.tables()) {
    const found = constraintsOf(table, catalog).find((constraint) => constraint.oid === oid);
    if (found !== undefined) return found.definition;
  }
  return null;
}

function indexDefinition({ catalog }: SystemView, oid: number): string | null {
  for (const table of catalog.tables()) {
    const found = indexesOf(table).find((index) => index.oid === oid);
    if (found !== undefined) return found.definition;
  }
  return null;
}

/** The n-th column of an index; 0: the whole definition. */
function indexPart(view: SystemView, oid: number, column: number): string | null {
  if (column === 0) return indexDefinition(view, oid);
  for (const table of view.catalog.tables()) {
    const id = indexesOf(table).find((index) => index.oid === oid)?.columnIds[column - 1];
    const found = table.columns.find((other) => other.id === id);
    if (found !== undefined) return quotedIdentifier(found.name);
  }
  return null;
}

function serialSequence(view: SystemView, tableText: string, column: string): string | null {
  const oid = existingRelation(view, tableText);
  const table = view.catalog.tables().find((other) => oidOfId(other.id) === oid);
  const id = table?.columns.find((other) => other.name === column)?.id;
  if (table === undefined || id === undefined) {
    throw sqlError("42703", `column "${column}" of relation "${tableText}" does not exist`);
  }
  const sequence = view.catalog
    .sequences()
    .find(({ ownedBy }) => ownedBy?.tableId === table.id && ownedBy.columnId === id);
  return sequence === undefined ? null : qualified(sequence);
}

function typeText(view: SystemView, oid: number, modifier: number | null): string {
  const type = typeOfOid(view, oid);
  return type === null ? "???" : displayName(modifier === null ? type : typeOfModifier(type, modifier));
}

function schemaNamed(view: SystemView, text: string): number {
  const name = parseRelationName(text).name;
  if (view.catalog.hasSchema(name)) return schemaOid(name, view);
  throw sqlError("3F000", `schema "${name}" does not exist`);
}

function existingType(view: SystemView, text: string): number {
  const type = typeNamed(view, text);
  if (type !== null) return typeOid(type);
  throw sqlError("42704", `type "${text}" does not exist`);
}

/** COMMENT ON a table, an index or a constraint. */
function commentOn({ catalog }: SystemView, oid: number): string | null {
  for (const table of catalog.tables()) {
    const { comments } = table;
    if (comments === undefined) continue;
    if (oidOfId(table.id) === oid) return comments.table ?? null;
    const index = [...table.indexes, ...(table.searchIndexes ?? [])].find(({ id }) => oidOfId(id) === oid);
    if (index !== undefined) return comments[`index ${index.id}`] ?? null;
    const constraint = constraintsOf(table, catalog).find((other) => other.oid === oid);
    if (constraint !== undefined) return comments[`constraint ${constraint.name}`] ?? null;
    const trigger = table.triggers?.find(({ id }) => oidOfId(id) === oid);
    if (trigger !== undefined) return comments[`trigger ${trigger.id}`] ?? null;
  }
  return null;
}

/** COMMENT ON COLUMN, by the column's position. */
function columnComment({ catalog }: SystemView, oid: number, position: number): string | null {
  const table = catalog.tables().find(({ id }) => oidOfId(id) === oid);
  const column = table?.columns[position - 1];
  return column === undefined ? null : (table!.comments?.[`column ${column.id}`] ?? null);
}

function viewDefinition({ catalog }: SystemView, oid: number): string | null {
  const view = catalog.views().find(({ id }) => oidOfId(id) === oid);
  if (view !== undefined) return queryText(view.query.sql);
  const table = catalog.tables().find(({ id }) => oidOfId(id) === oid);
  return table?.materialized == null ? null : queryText(table.materialized.query.sql);
}

const nothing: Answer = () => null;
const yes: Answer = () => true;
const PRIVILEGE_FUNCTIONS = [
  "has_table_privilege",
  "has_schema_privilege",
  "has_column_privilege",
  "has_database_privilege",
  "has_sequence_privilege",
  "has_type_privilege",
];

export const SYSTEM_FUNCTIONS: readonly ScalarFunction[] = [
  systemFunction("to_regclass", [TEXT], OID, relationNamed),
  systemFunction("regclass", [TEXT], OID, existingRelation),
  systemFunction("regclassout", [OID], TEXT, relationText),
  systemFunction("to_regtype", [TEXT], OID, (view, text: string) => {
    const type = typeNamed(view, text);
    return type === null ? null : typeOid(type);
  }),
  systemFunction("regtype", [TEXT], OID, existingType),
  systemFunction("regtypeout", [OID], TEXT, (view, oid: number) => typeText(view, oid, null)),
  systemFunction("regnamespace", [TEXT], OID, schemaNamed),
  systemFunction("regnamespaceout", [OID], TEXT, (view, oid: number) => {
    const names = ["pg_catalog", "public", "information_schema", ...view.catalog.schemas().map(({ name }) => name)];
    return names.find((name) => schemaOid(name, view) === oid) ?? String(oid);
  }),
  systemFunction("format_type", [OID, INT4], TEXT, (view, oid: number, modifier: number) =>
    typeText(view, oid, modifier < 0 ? null : modifier),
  ),
  systemFunction("pg_get_indexdef", [OID], TEXT, indexDefinition),
  systemFunction("pg_get_indexdef", [OID, INT4, BOOL], TEXT, indexPart),
  systemFunction("pg_get_constraintdef", [OID], TEXT, constraintDefinition),
  systemFunction("pg_get_constraintdef", [OID, BOOL], TEXT, constraintDefinition),
  systemFunction("pg_get_partkeydef", [OID], TEXT, partitionKeyDefinition),
  systemFunction("pg_get_partition_constraintdef", [OID], TEXT, partitionConstraint),
  systemFunction("pg_partition_root", [TEXT], TEXT, (view, name: string) =>
    partitionRoot(view, existingRelation(view, name), relationText),
  ),
  systemFunction("pg_partition_root", [OID], TEXT, (view, oid: number) => partitionRoot(view, oid, relationText)),
  hashPartitionTest([]),
  systemFunction("pg_get_functiondef", [OID], TEXT, functionDefinition),
  systemFunction("pg_get_function_arguments", [OID], TEXT, functionArguments),
  systemFunction("pg_get_function_identity_arguments", [OID], TEXT, functionIdentity),
  systemFunction("pg_get_function_result", [OID], TEXT, functionResult),
  systemFunction("pg_get_triggerdef", [OID], TEXT, triggerDefinition),
  systemFunction("pg_get_triggerdef", [OID, BOOL], TEXT, triggerDefinition),
  Object.freeze({
    ...systemFunction("pg_trigger_depth", [], INT4, nothing),
    apply: (context: EvalContext) => need(context, SYSTEM).triggerDepth(),
  }),
  systemFunction("pg_get_viewdef", [OID], TEXT, viewDefinition),
  systemFunction("pg_get_viewdef", [OID, BOOL], TEXT, viewDefinition),
  systemFunction("pg_get_viewdef", [TEXT], TEXT, (view, name: string) =>
    viewDefinition(view, existingRelation(view, name)),
  ),
  systemFunction("pg_get_expr", [TEXT, OID], TEXT, (_view, text: string) => text),
  systemFunction("pg_get_expr", [TEXT, OID, BOOL], TEXT, (_view, text: string) => text),
  systemFunction("pg_get_serial_sequence", [TEXT, TEXT], TEXT, serialSequence),
  systemFunction("pg_get_userbyid", [OID], NAME, ({ user }) => user),
  systemFunction("pg_table_is_visible", [OID], BOOL, (view, oid: number) => {
    const relation = relationOfOid(oid, view);
    return relation === null ? null : relationNamed(view, quotedIdentifier(relation.name)) === oid;
  }),
  systemFunction("pg_type_is_visible", [OID], BOOL, yes),
  systemFunction("pg_is_other_temp_schema", [OID], BOOL, () => false),
  systemFunction("pg_encoding_to_char", [INT4], NAME, () => "UTF8"),
  systemFunction("pg_my_temp_schema", [], OID, (view) => {
    const own = view.searchPath.find(isTemporarySchema);
    return own === undefined ? 0 : schemaOid(own, view);
  }),
  systemFunction("obj_description", [OID], TEXT, commentOn),
  systemFunction("obj_description", [OID, NAME], TEXT, commentOn),
  systemFunction("col_description", [OID, INT4], TEXT, columnComment),
  systemFunction("shobj_description", [OID, NAME], TEXT, nothing),
  ...PRIVILEGE_FUNCTIONS.flatMap((name) => [
    systemFunction(name, [TEXT, TEXT], BOOL, yes),
    systemFunction(name, [OID, TEXT], BOOL, yes),
    systemFunction(name, [NAME, TEXT, TEXT], BOOL, yes),
  ]),
  systemFunction("current_schemas", [BOOL], arrayOf(NAME), ({ searchPath, catalog }, implicit: boolean) =>
    sqlArray(
      searchPath.filter((schema) => {
        if (schema === "pg_catalog" || isTemporarySchema(schema)) return implicit;
        return catalog.hasSchema(schema);
      }),
    ),
  ),
  systemFunction("current_schema", [], NAME, ({ searchPath, catalog }) => {
    const usable = (schema: string) => schema !== "pg_catalog" && !isTemporarySchema(schema);
    return searchPath.find((schema) => usable(schema) && catalog.hasSchema(schema)) ?? null;
  }),
  Object.freeze({
    ...systemFunction("set_config", [TEXT, TEXT, BOOL], TEXT, nothing),
    volatility: "volatile",
    strict: false,
    apply: (context: EvalContext, name: string | null, value: string | null, local: boolean | null) => {
      if (name === null) throw sqlError("22004", "SET requires parameter name");
      return need(context, SYSTEM).setSetting(name, value, local === true);
    },
  }),
  Object.freeze({
    ...systemFunction("set_limit", [FLOAT4], FLOAT4, nothing),
    volatility: "volatile",
    apply: (context: EvalContext, limit: number) => {
      need(context, SYSTEM).setSetting(SIMILARITY_THRESHOLD, toText(FLOAT4, limit), false);
      return limit;
    },
  }),
];

registerPartitionFunctions(existingRelation, relationText);

const NAMES = new Set(SYSTEM_FUNCTIONS.map((fn) => fn.name));

export function isSystemFunction(name: string): boolean {
  return NAMES.has(name);
}

/** Throws 42883. */
export function bindSystemCall(name: string, args: readonly Expr[], binding: Binding, position: number): Expr {
  if (name === "satisfies_hash_partition" && args.length > 3) {
    const keys = args.slice(3).map((arg) => resolveUnknown(arg, binding));
    const fn = hashPartitionTest(keys.map(({ type }) => type));
    const fixed = args.slice(0, 3).map((arg, i) => coerceImplicit(arg, fn.args[i]!, binding, position));
    return Object.freeze({ kind: "call", type: fn.returns, fn, args: [...fixed, ...keys] });
  }
  const fits = (fn: ScalarFunction) =>
    fn.name === name &&
    fn.args.length === args.length &&
    args.every((arg, i) => canCoerce(arg.type, fn.args[i]!, "implicit"));
  const fn = SYSTEM_FUNCTIONS.find(fits);
  if (fn === undefined) {
    const types = args.map((arg) => displayName(arg.type)).join(", ");
    throw sqlError("42883", `function ${name}(${types}) does not exist`, { position });
  }
  const converted = args.map((arg, i) => coerceImplicit(arg, fn.args[i]!, binding, position));
  return Object.freeze({ kind: "call", type: fn.returns, fn, args: converted });
}

const REGISTERED = new Set(["regclass", "regtype", "regnamespace"]);

/** Types whose values are OIDs that are written as names. */
export function isNamedOid(typeName: string): boolean {
  return REGISTERED.has(typeName);
}

/** The OID of the object that a text names. */
export function namedOid(typeName: string, input: Expr, binding: Binding, position: number): Expr {
  return bindSystemCall(typeName, [input], binding, position);
}

/** The name of the object with an OID. */
export function nameOfOid(typeName: string, input: Expr, binding: Binding, position: number): Expr {
  return bindSystemCall(`${typeName}out`, [input], binding, position);
}
