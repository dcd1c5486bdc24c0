/**
 * Functions about definitions and the session (chapter 9.26): pg_get_…, format_type, to_regclass, set_config and the
 * like. They look into the catalog when the statement runs. Called by bind-call.ts.
 */

import { isTemporarySchema } from "../../../catalog/schema.js";
import { sqlError } from "../../../protocol/errors.js";
import { need } from "../../../query/expr/capability.js";
import { canCoerce } from "../../../query/expr/coercion.js";
import type { EvalContext, Expr, ScalarFunction } from "../../../query/expr/expr.js";
import { SIMILARITY_THRESHOLD } from "../../../query/expr/functions/trigrams.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { displayName, oidOfId } from "../../../query/expr/types.js";
import { REGCLASS } from "../../../values/catalog-types.js";
import { toText } from "../../../values/text-format.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, BOOL, FLOAT4, INT4, NAME, OID, TEXT, type Value } from "../../../values/values.js";
import type { Binding } from "../binding.js";
import { coerceImplicit, resolveUnknown } from "../coerce.js";
import { ACCESS_FUNCTIONS } from "./access-lists.js";
import { shownNames } from "./object-names.js";
import "./catalog-tables.js";
import { catalogIndex, domainCheckOid } from "./catalog-index.js";
import { type Answer, printingFunction, systemFunction } from "./define-function.js";
import {
  argumentDefault,
  functionSqlBody,
  ruleDefinition,
  statisticsColumns,
  statisticsDefinition,
  statisticsExpressions,
} from "./definition-texts.js";
import { describeObject } from "./describe-object.js";
import { shownExpression } from "./expression-text.js";
import { functionArguments, functionDefinition, functionIdentity, functionResult } from "./function-text.js";
import { INDEX_PROPERTIES } from "./index-properties.js";
import { MEASURE_FUNCTIONS } from "./measure-functions.js";
import { existingRelation, relationText, typeText } from "./object-names.js";
import {
  hashPartitionTest,
  partitionConstraint,
  partitionKeyDefinition,
  partitionRoot,
} from "./partition-functions.js";
import { type Description, descriptions } from "./pg-descriptions.js";
import { triggerDefinition } from "./pg-triggers.js";
import { policyNamed } from "./printed-condition.js";
import { domainCheckText, printedSql, printedTable } from "./printed-table.js";
import { PRIVILEGE_FUNCTIONS } from "./privilege-functions.js";
import {
  constraintsOf,
  DATABASE_OWNER_OID,
  indexesOf,
  qualified,
  schemaOid,
  temporarySchemas,
} from "./relation-facts.js";
import { nameOfRole, roleOid } from "./role-facts.js";
import { SERVER_FUNCTIONS } from "./server-functions.js";
import { indexKeyText, prettyDefinition } from "./sql-parentheses.js";
import { SYSTEM, type SystemView, systemView } from "./system-view.js";
import { viewText } from "./view-text.js";

const BPCHAR_OID = 1042;

function domainCheck(view: SystemView, oid: number, pretty: boolean): string | null {
  if (!catalogIndex(view.catalog).domainChecks.has(oid)) return null;
  for (const type of view.catalog.types()) {
    if (type.kind !== "domain") continue;
    const check = type.checks.find(({ name }) => domainCheckOid(type.id, name) === oid);
    if (check !== undefined) return `CHECK (${domainCheckText(view, type, check.sql, pretty)})`;
  }
  return null;
}

function constraintDefinition(view: SystemView, oid: number, pretty = false): Value {
  const { constraints } = catalogIndex(view.catalog);
  const table = constraints.get(oid)?.table;
  const printed = table && constraintsOf(printedTable(view, table, pretty), view.catalog);
  const definition =
    printed?.find((constraint) => constraint.oid === oid)?.definition ?? domainCheck(view, oid, pretty);
  return definition === null || !pretty ? definition : prettyDefinition(definition);
}

function indexDefinition(view: SystemView, oid: number, pretty = false): Value {
  const table = catalogIndex(view.catalog).indexes.get(oid)?.table;
  const printed = table && indexesOf(printedTable(view, table, pretty));
  const definition = printed?.find((index) => index.oid === oid)?.definition ?? null;
  if (definition === null || !pretty) return definition;
  const full = ` ON ${table!.partitionKey === undefined ? "" : "ONLY "}`;
  const shown = `${full}${relationText(view, oidOfId(table!.id))} `;
  return prettyDefinition(definition.replace(`${full}${qualified(table!)} `, () => shown));
}

/** The n-th column of an index; 0: the whole definition. */
function indexPart(view: SystemView, oid: number, column: number, pretty: boolean): Value {
  if (column === 0) return indexDefinition(view, oid, pretty);
  const index = catalogIndex(view.catalog).indexes.get(oid);
  if (index === undefined) return null;
  const ids = [...index.columnIds, ...index.included];
  const id = ids[column - 1];
  if (id === undefined) return null;
  const found = index.table.columns.find((other) => other.id === id);
  if (found !== undefined) return quoteIdentifier(found.name);
  const before = ids.slice(0, column - 1).filter((other) => other === id).length;
  const sql = index.expressions[before]?.sql;
  return sql === undefined ? null : indexKeyText(printedSql(view, index.table, sql, pretty));
}

function expressionOf(view: SystemView, text: string, oid: number, pretty = false): Value {
  const table = catalogIndex(view.catalog).tables.get(oid);
  if (table === undefined && oid !== 0) return shownExpression(view, text, pretty);
  const condition = table === undefined ? null : policyNamed(view, table, text, pretty);
  if (condition !== null) return condition;
  return shownExpression(view, printedSql(view, table ?? null, text, pretty), pretty);
}

function serialSequence(view: SystemView, tableText: string, column: string): string | null {
  const oid = existingRelation(view, tableText);
  const { tables, views } = catalogIndex(view.catalog);
  const table = tables.get(oid);
  const columns: readonly { readonly name: string }[] = (table ?? views.get(oid))?.columns ?? [];
  if (!columns.some(({ name }) => name === column)) {
    throw sqlError("42703", `column "${column}" of relation "${tableText}" does not exist`);
  }
  const id = table?.columns.find(({ name }) => name === column)?.id;
  const sequence = view.catalog
    .sequences()
    .find(({ ownedBy }) => ownedBy !== null && ownedBy.tableId === table?.id && ownedBy.columnId === id);
  return sequence === undefined ? null : qualified(sequence);
}

/** What COMMENT ON wrote; `relation`: the one that lists the object, where the call says it. */
function commentOn({ catalog }: SystemView, oid: number, relation: string | null = null, column = 0): Value {
  const isIt = ({ objoid, objsubid, relation: of }: Description) =>
    objoid === oid && objsubid === column && (relation === null || of === relation);
  return descriptions(catalog).find(isIt)?.description ?? null;
}

const viewDefinition: Answer = (view, oid: number, pretty: boolean | number = false) => {
  const { views, tables } = catalogIndex(view.catalog);
  const found = views.get(oid) ?? tables.get(oid);
  const query = found && ("query" in found ? found.query : found.materialized?.query);
  return query === undefined ? null : viewText(view, query, found!.columns, pretty !== false);
};

/** Whether the schema is searched although search_path does not name it. */
const isImplicit = (schema: string, view: SystemView) =>
  schema === "pg_catalog" ? !view.namesSystemSchema : isTemporarySchema(schema);

const nothing: Answer = () => null;

/** With the names that the search path needs. */
const shown =
  (answer: Answer): Answer =>
  (view, ...args) => {
    const text = answer(view, ...args);
    return typeof text === "string" ? shownNames(view, text) : text;
  };

export const SYSTEM_FUNCTIONS: readonly ScalarFunction[] = [
  Object.freeze({
    ...systemFunction("format_type", [OID, INT4], TEXT, nothing),
    strict: false,
    apply: (context: EvalContext, oid: number | null, modifier: number | null) => {
      if (oid === null) return null;
      // "character" would be one of a single character when it is read again.
      if (oid === BPCHAR_OID && modifier !== null && modifier < 0) return "bpchar";
      return typeText(systemView(context), oid, modifier === null || modifier < 0 ? null : modifier);
    },
  }),
  printingFunction("pg_get_indexdef", [OID], TEXT, shown(indexDefinition)),
  printingFunction("pg_get_indexdef", [OID, INT4, BOOL], TEXT, shown(indexPart)),
  printingFunction("pg_get_constraintdef", [OID], TEXT, shown(constraintDefinition)),
  printingFunction("pg_get_partkeydef", [OID], TEXT, shown(partitionKeyDefinition)),
  printingFunction("pg_get_partition_constraintdef", [OID], TEXT, shown(partitionConstraint)),
  systemFunction("pg_partition_root", [REGCLASS], REGCLASS, partitionRoot),
  hashPartitionTest([]),
  printingFunction("pg_get_functiondef", [OID], TEXT, shown(functionDefinition)),
  printingFunction("pg_get_function_arguments", [OID], TEXT, shown(functionArguments)),
  systemFunction("pg_get_function_identity_arguments", [OID], TEXT, functionIdentity),
  systemFunction("pg_get_function_result", [OID], TEXT, functionResult),
  printingFunction("pg_get_triggerdef", [OID], TEXT, shown(triggerDefinition)),
  printingFunction("pg_get_triggerdef", [OID, BOOL], TEXT, shown(triggerDefinition)),
  Object.freeze({
    ...systemFunction("pg_trigger_depth", [], INT4, nothing),
    apply: (context: EvalContext) => need(context, SYSTEM).triggerDepth(),
  }),
  printingFunction("pg_get_viewdef", [TEXT], TEXT, (view, name: string) =>
    viewDefinition(view, existingRelation(view, name)),
  ),
  printingFunction("pg_get_viewdef", [TEXT, BOOL], TEXT, (view, name: string, pretty: boolean) =>
    viewDefinition(view, existingRelation(view, name), pretty),
  ),
  printingFunction("pg_get_viewdef", [OID], TEXT, viewDefinition),
  printingFunction("pg_get_viewdef", [OID, INT4], TEXT, viewDefinition),
  printingFunction("pg_get_viewdef", [OID, BOOL], TEXT, viewDefinition),
  printingFunction("pg_get_expr", [TEXT, OID], TEXT, expressionOf),
  printingFunction("pg_get_expr", [TEXT, OID, BOOL], TEXT, expressionOf),
  systemFunction("pg_describe_object", [OID, OID, INT4], TEXT, describeObject),
  systemFunction("pg_get_serial_sequence", [TEXT, TEXT], TEXT, serialSequence),
  systemFunction("pg_get_userbyid", [OID], NAME, (view, oid: number) =>
    oid === DATABASE_OWNER_OID ? "pg_database_owner" : (nameOfRole(view, oid) ?? `unknown (OID=${oid})`),
  ),
  // Operator classes are the system's own.
  systemFunction("amvalidate", [OID], BOOL, () => true),
  printingFunction("pg_get_ruledef", [OID], TEXT, ruleDefinition),
  printingFunction("pg_get_ruledef", [OID, BOOL], TEXT, ruleDefinition),
  printingFunction("pg_get_function_sqlbody", [OID], TEXT, functionSqlBody),
  systemFunction("pg_get_function_arg_default", [OID, INT4], TEXT, shown(argumentDefault)),
  systemFunction("pg_get_statisticsobjdef", [OID], TEXT, shown(statisticsDefinition)),
  systemFunction("pg_get_statisticsobjdef_columns", [OID], TEXT, shown(statisticsColumns)),
  systemFunction("pg_get_statisticsobjdef_expressions", [OID], arrayOf(TEXT), statisticsExpressions),
  printingFunction("pg_get_constraintdef", [OID, BOOL], TEXT, shown(constraintDefinition)),
  systemFunction("pg_is_other_temp_schema", [OID], BOOL, (view, oid: number) =>
    [...temporarySchemas(view)].some((name) => schemaOid(name, view) === oid && !view.searchPath.includes(name)),
  ),
  systemFunction("pg_my_temp_schema", [], OID, (view) => {
    const own = view.searchPath.find(isTemporarySchema);
    return own === undefined ? 0 : schemaOid(own, view);
  }),
  systemFunction("obj_description", [OID], TEXT, (view, oid: number) => commentOn(view, oid)),
  systemFunction("obj_description", [OID, NAME], TEXT, commentOn),
  systemFunction("col_description", [OID, INT4], TEXT, (view, oid: number, column: number) =>
    commentOn(view, oid, "pg_class", column),
  ),
  systemFunction("shobj_description", [OID, NAME], TEXT, ({ catalog }, oid: number, relation: string) => {
    if (relation !== "pg_authid") return null;
    return catalog.roles().find(({ id }) => roleOid(id) === oid)?.comment ?? null;
  }),
  ...PRIVILEGE_FUNCTIONS,
  ...ACCESS_FUNCTIONS,
  ...SERVER_FUNCTIONS,
  ...MEASURE_FUNCTIONS,
  ...INDEX_PROPERTIES,
  systemFunction("current_schemas", [BOOL], arrayOf(NAME), (view, implicit: boolean) =>
    sqlArray(
      view.searchPath.filter((schema) => (isImplicit(schema, view) ? implicit : view.catalog.hasSchema(schema))),
    ),
  ),
  systemFunction("current_schema", [], NAME, (view) => {
    const isThere = (schema: string) => !isImplicit(schema, view) && view.catalog.hasSchema(schema);
    return view.searchPath.find(isThere) ?? null;
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

const BY_NAME = new Map<string, ScalarFunction[]>();
for (const fn of SYSTEM_FUNCTIONS) BY_NAME.set(fn.name, [...(BY_NAME.get(fn.name) ?? []), fn]);

export function isSystemFunction(name: string): boolean {
  return BY_NAME.has(name);
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
    fn.args.length === args.length && args.every((arg, i) => canCoerce(arg.type, fn.args[i]!, "implicit"));
  const named = BY_NAME.get(name) ?? [];
  const exact = named.find((fn) => fits(fn) && args.every((arg, i) => arg.type === fn.args[i]));
  const fn = exact ?? named.find(fits);
  if (fn === undefined) {
    const types = args.map((arg) => displayName(arg.type)).join(", ");
    throw sqlError("42883", `function ${name}(${types}) does not exist`, { position });
  }
  const converted = args.map((arg, i) => coerceImplicit(arg, fn.args[i]!, binding, position));
  return Object.freeze({ kind: "call", type: fn.returns, fn, args: converted });
}
