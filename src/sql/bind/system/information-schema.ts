/** The views of information_schema (chapter 37) that describe what a tenant has defined. */

import { isTemporarySchema } from "../../../catalog/schema.js";
import type { ColumnDef } from "../../../catalog/table.js";
import type { TriggerDef, TriggerEvent } from "../../../catalog/trigger.js";
import { oidOfId } from "../../../query/expr/types.js";
import { isNamedOid } from "../../../values/catalog-types.js";
import { numericModifier } from "../../../values/text-format.js";
import type { SqlType, Value } from "../../../values/values.js";
import { defaultText, shownExpression } from "./expression-text.js";
import { shownNames } from "./object-names.js";
import { domainCheckText, printedSql } from "./printed-table.js";
import { attnum, CONSTRAINT_TYPES, type ConstraintFacts, constraintsOf, dataType, yesNo } from "./relation-facts.js";
import { systemShapes } from "./shapes.js";
import { type DefinedView, definedRelation, printedRelation, type SystemView } from "./system-view.js";
import { canChange, canChangeColumn } from "./view-changes.js";
import { viewText } from "./view-text.js";

const schemata = definedRelation("information_schema", "schemata", ({ catalog, database, user }) =>
  catalog.schemaNames().map((name) => ({
    catalog_name: database,
    schema_name: name,
    schema_owner: user,
  })),
);

const tables = definedRelation("information_schema", "tables", function* ({ catalog, database }) {
  for (const { schema, name, materialized } of catalog.tables()) {
    if (materialized) continue;
    const facts = { table_type: typeOf(schema, "BASE TABLE"), is_insertable_into: "YES", is_typed: "NO" };
    yield { table_catalog: database, table_schema: schema, table_name: name, ...facts };
  }
  for (const each of catalog.views()) {
    const { schema, name } = each;
    const facts = {
      table_type: typeOf(schema, "VIEW"),
      is_insertable_into: yesNo(canChange(each, "insert")),
      is_typed: "NO",
    };
    yield { table_catalog: database, table_schema: schema, table_name: name, ...facts };
  }
  for (const { schema, name, kind } of systemShapes().values()) {
    const facts = { table_type: kind === "r" ? "BASE TABLE" : "VIEW", is_insertable_into: "NO", is_typed: "NO" };
    yield { table_catalog: database, table_schema: schema, table_name: name, ...facts };
  }
});

const typeOf = (schema: string, type: string) => (isTemporarySchema(schema) ? "LOCAL TEMPORARY" : type);

const views = printedRelation("information_schema", "views", function* (view) {
  for (const each of view.catalog.views()) {
    const { id, schema, name, query, columns, checkOption, triggers = [] } = each;
    yield {
      table_catalog: view.database,
      table_schema: schema,
      table_name: name,
      view_definition: view.rights.matter && !view.rights.mayAlter(id) ? null : viewText(view, query, columns),
      check_option: checkOption === null ? "NONE" : checkOption.toUpperCase(),
      is_updatable: yesNo(canChange(each, "update", "delete")),
      is_insertable_into: yesNo(canChange(each, "insert")),
      is_trigger_updatable: yesNo(isInstead(triggers, "update")),
      is_trigger_deletable: yesNo(isInstead(triggers, "delete")),
      is_trigger_insertable_into: yesNo(isInstead(triggers, "insert")),
    };
  }
});

const isInstead = (triggers: readonly TriggerDef[], event: TriggerEvent) =>
  triggers.some(({ timing, events }) => timing === "instead of" && events.includes(event));

/** pg_type.typname: `int4`, `_text`, or the name of a type that a statement made. */
export function udtName(type: SqlType): string {
  const { user } = type;
  if (user?.kind === "domain") return udtName(user.base!);
  if (user !== undefined) return user.name;
  if (isNamedOid(type)) return type.typeName!;
  return type.element === null ? type.name : `_${udtName(type.element)}`;
}

const LONGEST_TEXT = 2 ** 30;
const UTF8_BYTES_MAX = 4;

const PRECISIONS: Readonly<Record<string, readonly [bits: number, radix: number]>> = {
  int2: [16, 2],
  int4: [32, 2],
  int8: [64, 2],
  float4: [24, 2],
  float8: [53, 2],
};

export function measures(type: SqlType): Record<string, Value> {
  const { name, modifier } = type;
  if (type.element !== null || (type.user !== undefined && type.user.kind !== "domain")) return {};
  if (name === "text") return { character_octet_length: LONGEST_TEXT };
  if (name === "varchar" || name === "bpchar" || name === "bit" || name === "varbit") {
    const isText = name === "varchar" || name === "bpchar";
    const octets = modifier === null ? LONGEST_TEXT : modifier * UTF8_BYTES_MAX;
    return { character_maximum_length: modifier, character_octet_length: isText ? octets : null };
  }
  if (name === "numeric") {
    if (modifier === null) return { numeric_precision_radix: 10 };
    const { precision, scale } = numericModifier(modifier);
    return { numeric_precision: precision, numeric_precision_radix: 10, numeric_scale: scale };
  }
  if (name.startsWith("time") || name === "interval") return { datetime_precision: modifier ?? 6 };
  if (name === "date") return { datetime_precision: 0 };
  const known = PRECISIONS[name];
  if (known === undefined) return {};
  const scale = name.startsWith("int") ? 0 : null;
  return { numeric_precision: known[0], numeric_precision_radix: known[1], numeric_scale: scale };
}

const columns = printedRelation("information_schema", "columns", function* (view) {
  for (const table of view.catalog.tables()) {
    if (table.materialized) continue;
    for (const column of table.columns) {
      const number = attnum(table, column.id);
      const isKey = table.primaryKey?.includes(column.id) ?? false;
      yield {
        table_catalog: view.database,
        table_schema: table.schema,
        table_name: table.name,
        column_name: column.name,
        ordinal_position: number,
        column_default: defaultOf(column, view),
        is_nullable: yesNo(!column.notNull && !isKey),
        data_type: dataType(column.type),
        ...measures(column.type),
        ...typeNames(column, view),
        ...identityOf(column, table.id, view),
        dtd_identifier: String(number),
        is_self_referencing: "NO",
        is_generated: column.generatedSql ? "ALWAYS" : "NEVER",
        generation_expression: column.generatedSql
          ? shownNames(view, printedSql(view, table, column.generatedSql))
          : null,
        is_updatable: column.generatedSql ? "NO" : "YES",
        ...(column.details?.collation && {
          collation_catalog: view.database,
          collation_schema: "pg_catalog",
          collation_name: column.details.collation,
        }),
      };
    }
  }
  for (const each of view.catalog.views()) {
    const { schema, name, columns: outputs } = each;
    for (const [i, output] of outputs.entries()) {
      yield {
        table_catalog: view.database,
        table_schema: schema,
        table_name: name,
        column_name: output.name,
        ordinal_position: i + 1,
        is_nullable: "YES",
        data_type: dataType(output.type),
        ...measures(output.type),
        ...typeNames(output, view),
        dtd_identifier: String(i + 1),
        is_self_referencing: "NO",
        is_identity: "NO",
        identity_cycle: "NO",
        is_generated: "NEVER",
        is_updatable: yesNo(canChangeColumn(each, i)),
      };
    }
  }
  for (const { schema, name, columns: own } of systemShapes().values()) {
    for (const [i, { name: column, type, notNull }] of own.entries()) {
      yield {
        table_catalog: view.database,
        table_schema: schema,
        table_name: name,
        column_name: column,
        ordinal_position: i + 1,
        dtd_identifier: String(i + 1),
        is_nullable: yesNo(!notNull),
        data_type: dataType(type),
        ...measures(type),
        ...typeNames({ type }, view),
        is_self_referencing: "NO",
        is_identity: "NO",
        identity_cycle: "NO",
        is_generated: "NEVER",
        is_updatable: "NO",
      };
    }
  }
});

function defaultOf({ identity, generatedSql, defaultSql, type }: ColumnDef, view: SystemView): string | null {
  if (identity !== null || generatedSql || defaultSql === null) return null;
  return shownExpression(view, printedSql(view, null, defaultText(defaultSql, type)), false);
}

export function typeNames(
  { type }: Pick<ColumnDef, "type">,
  { database }: Pick<SystemView, "database">,
): Record<string, Value> {
  const { user } = type;
  const names = { udt_catalog: database, udt_schema: user?.schema ?? "pg_catalog", udt_name: udtName(type) };
  if (user?.kind !== "domain") return names;
  const base = user.base!.user;
  const domain = { domain_catalog: database, domain_schema: user.schema, domain_name: user.name };
  return { ...names, udt_schema: base?.schema ?? "pg_catalog", ...domain };
}

function identityOf(column: ColumnDef, tableId: number, { catalog }: DefinedView): Record<string, Value> {
  if (column.identity === null) return { is_identity: "NO", identity_cycle: "NO" };
  const generation = { is_identity: "YES", identity_generation: column.identity.toUpperCase() };
  const sequence = catalog
    .sequences()
    .find(({ ownedBy }) => ownedBy?.tableId === tableId && ownedBy.columnId === column.id);
  if (sequence === undefined) return generation;
  return {
    ...generation,
    identity_start: String(sequence.start),
    identity_increment: String(sequence.increment),
    identity_maximum: String(sequence.max),
    identity_minimum: String(sequence.min),
    identity_cycle: yesNo(sequence.cycle),
  };
}

const tableConstraints = definedRelation("information_schema", "table_constraints", function* ({ catalog, database }) {
  for (const table of catalog.tables()) {
    const place = { table_catalog: database, table_schema: table.schema, table_name: table.name };
    const shared = {
      ...place,
      constraint_catalog: database,
      constraint_schema: table.schema,
      is_deferrable: "NO",
      initially_deferred: "NO",
      enforced: "YES",
    };
    for (const { name, type, references, deferrable } of constraintsOf(table, catalog)) {
      yield {
        ...shared,
        constraint_name: name,
        constraint_type: CONSTRAINT_TYPES[type],
        is_deferrable: yesNo(references?.key.deferrable ?? deferrable !== undefined),
        initially_deferred: yesNo(references?.key.initiallyDeferred ?? deferrable?.initiallyDeferred ?? false),
      };
    }
  }
});

const keyColumnUsage = definedRelation("information_schema", "key_column_usage", function* (view) {
  for (const usage of usages(view, (type) => type !== "c")) {
    const { position, references, ...names } = usage;
    yield { ...names, ordinal_position: position, position_in_unique_constraint: references ? position : null };
  }
});

const constraintColumnUsage = definedRelation("information_schema", "constraint_column_usage", function* (view) {
  const { catalog, database } = view;
  for (const { position: _, references: __, ...usage } of usages(view, (type) => type !== "f")) yield usage;
  for (const table of catalog.tables()) {
    for (const { name, references } of constraintsOf(table, catalog)) {
      for (const id of references?.columnIds ?? []) {
        const referred = references!.table;
        yield {
          constraint_catalog: database,
          constraint_schema: table.schema,
          constraint_name: name,
          table_catalog: database,
          table_schema: referred.schema,
          table_name: referred.name,
          column_name: referred.columns.find((column) => column.id === id)?.name ?? null,
        };
      }
    }
  }
});

/** Columns of constraints; of a foreign key those of its own table. */
function* usages({ catalog, database }: DefinedView, wanted: (type: keyof typeof CONSTRAINT_TYPES) => boolean) {
  for (const table of catalog.tables()) {
    for (const constraint of constraintsOf(table, catalog)) {
      if (!wanted(constraint.type)) continue;
      for (const [i, id] of constraint.columnIds.entries()) {
        yield {
          constraint_catalog: database,
          constraint_schema: table.schema,
          constraint_name: constraint.name,
          table_catalog: database,
          table_schema: table.schema,
          table_name: table.name,
          column_name: table.columns.find((column) => column.id === id)?.name ?? null,
          position: i + 1,
          references: constraint.references !== null,
        };
      }
    }
  }
}

/** The key that a foreign key refers to: a primary key or a unique constraint of those columns. */
function referredKey(
  { table, columnIds }: NonNullable<ConstraintFacts["references"]>,
  catalog: DefinedView["catalog"],
) {
  return constraintsOf(table, catalog).find(
    ({ type, columnIds: key }) =>
      (type === "p" || type === "u") && key.length === columnIds.length && columnIds.every((id) => key.includes(id)),
  );
}

const referentialConstraints = definedRelation(
  "information_schema",
  "referential_constraints",
  function* ({ catalog, database }) {
    for (const table of catalog.tables()) {
      for (const { name, references } of constraintsOf(table, catalog)) {
        if (references === null) continue;
        yield {
          constraint_catalog: database,
          constraint_schema: table.schema,
          constraint_name: name,
          unique_constraint_catalog: database,
          unique_constraint_schema: references.table.schema,
          unique_constraint_name: referredKey(references, catalog)?.name ?? null,
          match_option: references.key.match === "full" ? "FULL" : "NONE",
          update_rule: references.key.onUpdate.toUpperCase(),
          delete_rule: references.key.onDelete.toUpperCase(),
        };
      }
    }
  },
);

const checkConstraints = definedRelation("information_schema", "check_constraints", function* (view) {
  const { catalog, database } = view;
  const shared = (schema: string) => ({ constraint_catalog: database, constraint_schema: schema });
  for (const table of catalog.tables()) {
    for (const { name, sql } of table.checks) {
      yield {
        ...shared(table.schema),
        constraint_name: name,
        check_clause: `(${shownNames(view, printedSql(view, table, sql))})`,
      };
    }
  }
  for (const type of catalog.types()) {
    if (type.kind !== "domain") continue;
    for (const { name, sql } of type.checks) {
      yield { ...shared(type.schema), constraint_name: name, check_clause: `(${domainCheckText(view, type, sql)})` };
    }
  }
});

/** Without those of identity columns. */
const sequences = definedRelation("information_schema", "sequences", function* ({ catalog, database }) {
  for (const sequence of catalog.sequences()) {
    const { ownedBy } = sequence;
    const owner = ownedBy === null ? null : catalog.tableById(ownedBy.tableId);
    if (owner?.columns.some(({ id, identity }) => id === ownedBy?.columnId && identity !== null)) continue;
    yield {
      sequence_catalog: database,
      sequence_schema: sequence.schema,
      sequence_name: sequence.name,
      data_type: dataType(sequence.type),
      numeric_precision: PRECISIONS[sequence.type.name]![0],
      numeric_precision_radix: 2,
      numeric_scale: 0,
      start_value: String(sequence.start),
      minimum_value: String(sequence.min),
      maximum_value: String(sequence.max),
      increment: String(sequence.increment),
      cycle_option: yesNo(sequence.cycle),
    };
  }
});

const domains = definedRelation("information_schema", "domains", function* (view) {
  const { catalog, database } = view;
  for (const type of catalog.types()) {
    if (type.kind !== "domain") continue;
    yield {
      domain_catalog: database,
      domain_schema: type.schema,
      domain_name: type.name,
      data_type: dataType(type.base),
      ...measures(type.base),
      domain_default: type.defaultSql && shownNames(view, type.defaultSql),
      udt_catalog: database,
      udt_schema: type.base.user?.schema ?? "pg_catalog",
      udt_name: udtName(type.base),
      dtd_identifier: "1",
    };
  }
});

const routines = definedRelation("information_schema", "routines", function* ({ catalog, database }) {
  for (const fn of catalog.functions()) {
    const { schema, name, kind, returns } = fn;
    yield {
      specific_catalog: database,
      specific_schema: schema,
      specific_name: `${name}_${oidOfId(fn.id)}`,
      routine_catalog: database,
      routine_schema: schema,
      routine_name: name,
      routine_type: kind === "procedure" ? "PROCEDURE" : "FUNCTION",
      data_type: kind === "procedure" ? null : (returns.polymorphic ?? returns.name ?? dataType(returns.type)),
      routine_body: fn.standard ? "SQL" : "EXTERNAL",
      routine_definition: fn.standard ? shownNames({ catalog }, fn.body) : fn.body,
      external_language: fn.language.toUpperCase(),
      is_deterministic: yesNo(fn.volatility === "immutable"),
      sql_data_access: "MODIFIES",
      is_null_call: kind === "procedure" ? null : yesNo(fn.strict),
      security_type: fn.securityDefiner ? "DEFINER" : "INVOKER",
    };
  }
});

export const INFORMATION_SCHEMA = [
  schemata,
  tables,
  views,
  columns,
  tableConstraints,
  keyColumnUsage,
  constraintColumnUsage,
  referentialConstraints,
  checkConstraints,
  sequences,
  domains,
  routines,
];
