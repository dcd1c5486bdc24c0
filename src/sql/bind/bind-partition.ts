/** PARTITION BY, FOR VALUES and what CREATE TABLE … PARTITION OF takes from the partitioned table. */
import type { NewPartition } from "../../catalog/ddl-command.js";
import { isOrdered, partitionKeyTypes } from "../../catalog/partition-bounds.js";
import { boundConditions } from "../../catalog/partition-constraint.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import {
  EXPRESSION_COLUMN,
  type PartitionBoundDef,
  type PartitionKeyDef,
  type PartitionRangeDatum,
  type TableDef,
} from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { canCoerce } from "../../query/expr/coercion.js";
import { foldExpr } from "../../query/expr/fold.js";
import { toText } from "../../values/text-format.js";
import type { SqlType } from "../../values/values.js";
import type { ConstraintNode, PartitionOfNode } from "../parse/ast-definitions.js";
import type {
  PartitionBoundNode,
  PartitionByNode,
  PartitionDatumNode,
  PartitionElement,
} from "../parse/ast-partition.js";
import type { ExprNode } from "../parse/ast-query.js";
import { type ColumnDraft, isImmutable } from "./bind-column-def.js";
import { contextOf } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import type { Binding } from "./binding.js";
import { coerceAssignment, isUnknown, typeName } from "./coerce.js";
import { Scope } from "./scope.js";
import { columnsRead, refuseParameters, rowContext, storedSql } from "./stored-expression.js";
import { parseStored } from "./stored-names.js";
import { writeConstant } from "./write-constant.js";

/** Columns of a partition key, as in PostgreSQL (PARTITION_MAX_KEYS). */
const KEYS_MAX = 32;

const SYSTEM_COLUMNS = new Set(["tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"]);

type Key = PartitionKeyDef["keys"][number];

/** `table`: as it will be; ids of its columns are final. Throws 42P17, 42703, 42704, 54011. */
export function bindPartitionBy(node: PartitionByNode, table: TableDef, binding: Binding): PartitionKeyDef {
  const { strategy, elements, position } = node;
  if (strategy === "list" && elements.length > 1) {
    throw sqlError("42P17", 'cannot use "list" partition strategy with more than one column', { position });
  }
  if (elements.length > KEYS_MAX) {
    throw sqlError("54011", `cannot partition using more than ${KEYS_MAX} columns`, { position });
  }
  return { strategy, keys: elements.map((element, i) => bindKey(element, i, strategy, table, binding)) };
}

function bindKey(
  element: PartitionElement,
  number: number,
  strategy: PartitionKeyDef["strategy"],
  table: TableDef,
  binding: Binding,
): Key {
  const { position, expr } = element;
  const plain = element.column ?? (expr?.kind === "column" && expr.path.length === 1 ? expr.path[0]! : null);
  const column = table.columns.find(({ name }) => name === plain);
  const method = strategy === "hash" ? "hash" : "btree";
  if (column !== undefined) {
    if (column.generatedSql) throw generatedKey(column.name, position);
    checkKeyType(column.type, element, method);
    return { columnId: column.id };
  }
  if (plain !== null && SYSTEM_COLUMNS.has(plain)) {
    throw sqlError("42P17", `cannot use system column "${plain}" in partition key`, { position });
  }
  if (element.column !== null) {
    throw sqlError("42703", `column "${element.column}" named in partition key does not exist`, { position });
  }
  refuseParameters(expr, "partition key expressions");
  const bound = bindExpr(expr!, rowContext(table, "partition key expressions", binding));
  const generated = table.columns.find(({ name, generatedSql }) => generatedSql && columnsRead(expr!).includes(name));
  if (generated !== undefined) throw generatedKey(generated.name, position);
  if (isUnknown(bound)) {
    throw sqlError("42P16", `partition key column ${number + 1} has pseudo-type unknown`, { position });
  }
  if (!isImmutable(bound)) {
    throw sqlError("42P17", "functions in partition key expression must be marked IMMUTABLE", { position });
  }
  if (foldExpr(bound).kind === "const") {
    throw sqlError("42P17", "cannot use constant expression as partition key", { position });
  }
  checkKeyType(bound.type, element, method);
  return { columnId: EXPRESSION_COLUMN, expression: { sql: storedSql(expr!, binding), type: bound.type } };
}

function generatedKey(name: string, position: number): Error {
  return sqlError("42P17", "cannot use generated column in partition key", {
    position,
    detail: `Column "${name}" is a generated column.`,
  });
}

/**
 * Throws 42704 for a type without an order (or hash), and for an operator class that is not one of PostgreSQL's own.
 */
function checkKeyType(type: SqlType, { operatorClass, collation, position }: PartitionElement, method: string): void {
  if (!isOrdered(type)) {
    throw sqlError("42704", `data type ${typeName(type)} has no default operator class for access method "${method}"`, {
      position,
      hint: `You must specify a ${method} operator class or define a default ${method} operator class for the data type.`,
    });
  }
  if (operatorClass !== null && !/^(?:\w+?)(?:_pattern)?_ops$/.test(operatorClass))
    throw noClass(operatorClass, method);
  if (operatorClass !== null && !OPERATOR_CLASSES.has(operatorClass)) throw noClass(operatorClass, method);
  if (collation !== null && !isText(type)) {
    throw sqlError("42804", `collations are not supported by type ${typeName(type)}`, { position });
  }
}

const OPERATOR_CLASSES = new Set(
  (
    "array bit bool bpchar bytea date enum float4 float8 int2 int4 int8 interval name numeric oid record text time " +
    "timestamp timestamptz timetz uuid varbit varchar text_pattern varchar_pattern bpchar_pattern"
  )
    .split(" ")
    .map((type) => `${type}_ops`),
);

const isText = (type: SqlType) => ["text", "varchar", "bpchar", "name"].includes(type.name);

function noClass(name: string, method: string): Error {
  return sqlError("42704", `operator class "${name}" does not exist for access method "${method}"`);
}

// ---- bounds ----

/** `parent`: a partitioned table. Throws 42P16, 42P17, 42804 for a bound that does not fit its key. */
function bindPartitionBound(node: PartitionBoundNode, parent: TableDef, binding: Binding): PartitionBoundDef {
  const { position } = node;
  const { strategy, keys } = parent.partitionKey!;
  if (node.kind === "default") {
    if (strategy !== "hash") return { kind: "default" };
    throw sqlError("42P16", "a hash-partitioned table may not have a default partition", { position });
  }
  if (node.kind !== strategy) {
    throw sqlError("42P16", `invalid bound specification for a ${strategy} partition`, { position });
  }
  const types = partitionKeyTypes(parent);
  const names = keys.map(({ columnId, expression }) => {
    return expression?.sql ?? parent.columns.find(({ id }) => id === columnId)!.name;
  });
  const textOf = (value: ExprNode, i: number) => boundValue(value, { name: names[i]!, type: types[i]! }, binding);
  switch (node.kind) {
    case "hash":
      return hashBound(node.modulus, node.remainder);
    case "list":
      return { kind: "list", values: [...new Set(node.values.map((value) => textOf(value, 0)))] };
    case "range": {
      for (const [word, datums] of [
        ["FROM", node.from],
        ["TO", node.to],
      ] as const) {
        if (datums.length === keys.length) continue;
        throw sqlError("42P16", `${word} must specify exactly one value per partitioning column`, { position });
      }
      return { kind: "range", from: rangeBound(node.from, textOf), to: rangeBound(node.to, textOf) };
    }
  }
}

function hashBound(modulus: number, remainder: number): PartitionBoundDef {
  if (modulus <= 0) throw sqlError("42P16", "modulus for hash partition must be an integer value greater than zero");
  if (remainder < 0) {
    throw sqlError("42P16", "remainder for hash partition must be an integer value greater than or equal to zero");
  }
  if (remainder >= modulus) throw sqlError("42P16", "remainder for hash partition must be less than modulus");
  return { kind: "hash", modulus, remainder };
}

function rangeBound(
  datums: readonly PartitionDatumNode[],
  textOf: (value: ExprNode, i: number) => string | null,
): PartitionRangeDatum[] {
  let endless: "minvalue" | "maxvalue" | null = null;
  return datums.map((datum, i) => {
    if (endless !== null && datum !== endless) {
      const word = endless.toUpperCase();
      throw sqlError("42804", `every bound following ${word} must also be ${word}`, {
        ...(typeof datum !== "string" && { position: datum.position }),
      });
    }
    if (datum === "minvalue" || datum === "maxvalue") {
      endless = datum;
      return datum;
    }
    const value = textOf(datum, i);
    if (value === null) {
      throw sqlError("42P17", "cannot specify NULL in range bound", { position: datum.position });
    }
    return { value };
  });
}

/** The value in its type's text form. */
function boundValue(node: ExprNode, column: { name: string; type: SqlType }, binding: Binding): string | null {
  const { position } = node;
  if (columnsRead(node).length > 0) {
    throw sqlError("0A000", "cannot use column reference in partition bound expression", { position });
  }
  refuseParameters(node, "partition bound");
  const context = { ...contextOf(binding, new Scope(null), "partition bound"), subqueries: false };
  const value = bindExpr(node, context);
  if (!isUnknown(value) && !canCoerce(value.type, column.type, "assignment")) {
    const message = `specified value cannot be cast to type ${typeName(column.type)} for column "${column.name}"`;
    throw sqlError("42804", message, { position });
  }
  const folded = foldExpr(coerceAssignment(value, column, binding, position), binding.env.timeZone);
  if (folded.kind === "const") return folded.value === null ? null : toText(column.type, folded.value);
  throw sqlError("0A000", "a partition bound that depends on more than constants is not supported", { position });
}

/** A new partition of the table. */
export function bindPartition(node: PartitionBoundNode, parent: TableDef, binding: Binding): NewPartition {
  const { catalog } = binding.env;
  const bound = bindPartitionBound(node, parent, binding);
  const siblings = (parent.children ?? []).map((id) => catalog.tableById(id)!);
  return {
    parent: { schema: parent.schema, name: parent.name, position: 0 },
    bound,
    condition: boundConditions(parent, bound, siblings, writeConstant).join(" AND "),
    position: node.position,
  };
}

// ---- PARTITION OF ----

/** What the statement takes over from the table. Throws 42P01, 42P17 for an ordinary table, 42809. */
export function draftPartition(node: PartitionOfNode, schema: string, binding: Binding) {
  const parent = lookUpTable(node.parent, binding);
  if (parent.partitionKey === undefined) throw sqlError("42P17", `"${parent.name}" is not partitioned`);
  const [ownTemporary, temporary] = [isTemporarySchema(schema), isTemporarySchema(parent.schema)];
  if (ownTemporary !== temporary) {
    const [kind, of] = temporary ? ["permanent", "temporary"] : ["temporary", "permanent"];
    throw sqlError("42809", `cannot create a ${kind} relation as partition of ${of} relation "${parent.name}"`);
  }
  return { parents: [parent], columns: partitionColumns(node, parent), notices: [] as string[] };
}

/** The partition's columns: the partitioned table's, with defaults and NOT NULL of its own. Throws 42703, 42701. */
function partitionColumns(node: PartitionOfNode, parent: TableDef): ColumnDraft[] {
  node.columns.forEach(({ name, position }, i) => {
    if (!parent.columns.some((column) => column.name === name)) {
      throw sqlError("42703", `column "${name}" does not exist`, { position });
    }
    if (node.columns.findIndex((other) => other.name === name) < i) {
      throw sqlError("42701", `column "${name}" specified more than once`, { position });
    }
  });
  return parent.columns.map((column): ColumnDraft => {
    const { name, type, identity, generatedSql } = column;
    const constraints = node.columns.find((other) => other.name === name)?.constraints ?? [];
    const find = <K extends ConstraintNode["kind"]>(kind: K) =>
      constraints.find((each): each is Extract<ConstraintNode, { kind: K }> => each.kind === kind);
    const unfit = find("generated") ?? find("identity");
    if (unfit !== undefined) {
      const message = `a column of a partition cannot be declared with its own ${unfit.kind === "identity" ? "identity" : "generation expression"}`;
      throw sqlError("0A000", message, { position: unfit.position });
    }
    const ownDefault = find("default")?.expr ?? null;
    if (ownDefault !== null && generatedSql) {
      throw sqlError("42P17", `column "${name}" inherits from generated column but specifies default`);
    }
    const notNull = column.notNull || find("not null") !== undefined;
    // An identity column numbers the rows that come through the partitioned table.
    const defaultSql = ownDefault !== null || identity !== null ? null : column.defaultSql;
    return {
      column: { name, type, notNull, defaultSql, identity: null, sequence: null, inherited: 1, local: false },
      defaultNode: ownDefault,
      generatedNode: generatedSql ? parseStored(generatedSql, parent.schema) : null,
    };
  });
}
