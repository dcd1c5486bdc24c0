/**
 * Converts statements from the grammar's JSON to our syntax tree; definitions in from-pg-ddl.ts. Called by parse.ts.
 */
import type {
  DefineStmt,
  DeleteStmt,
  ExplainStmt,
  InsertStmt,
  MergeStmt,
  MergeWhenClause,
  Node,
  OnConflictClause,
  RangeVar,
  ReturningClause,
  SelectStmt,
  TransactionStmt,
  UpdateStmt,
} from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import type {
  AssignmentNode,
  AssignmentTarget,
  DataStatement,
  DeleteStatement,
  ExplainStatement,
  InsertStatement,
  MergeClause,
  MergeStatement,
  OnConflictNode,
  StatementNode,
  TargetTable,
  TransactionStatement,
  UpdateStatement,
} from "./ast.js";
import { EXPLAIN_FORMATS } from "./ast.js";
import { Conversion, type NodeOf, notSupported, only, type Tag, tagOf } from "./conversion.js";
import { ALL_COLUMNS, ANY_KEY } from "./dialect.js";
import { convertAccess } from "./from-pg-access.js";
import { convertOption } from "./from-pg-columns.js";
import { convertCursor } from "./from-pg-cursor.js";
import { convertDatabase } from "./from-pg-database.js";
import { convertDefinition, createTableAs } from "./from-pg-ddl.js";
import { applyIndirection, convertExpr, convertType } from "./from-pg-expr.js";
import { convertFunctionStatement } from "./from-pg-functions.js";
import { convertJson } from "./from-pg-json.js";
import { convertOperatorStatement } from "./from-pg-operators.js";
import {
  convertAlias,
  convertFrom,
  convertFromItem,
  convertQuery,
  convertTargets,
  convertWith,
  relationName,
} from "./from-pg-query.js";
import { convertRule } from "./from-pg-rules.js";
import { setVariable, transactionModes } from "./from-pg-settings.js";
import { convertTypeDefinition } from "./from-pg-types.js";
import type { GraphTableBody } from "./graph-table.js";

/** The JSON constructs of the standard have a file of their own. */
const expression = (node: Node, c: Conversion) => convertJson(node, c) ?? convertExpr(node, c);

/** One statement; `position` is where it begins, `positionOfByte` maps the grammar's offsets. */
export function convertStatement(
  node: Node,
  position: number,
  positionOfByte: (offset: number) => number,
  graphTable: (index: number) => GraphTableBody,
): StatementNode {
  return statement(node, new Conversion(positionOfByte, expression, convertQuery, dataStatement, graphTable), position);
}

function statement(node: Node, c: Conversion, position: number): StatementNode {
  const tag = tagOf(node);
  switch (tag) {
    case "SelectStmt":
      return select(only(node, tag), c, position);
    case "InsertStmt":
    case "UpdateStmt":
    case "DeleteStmt":
    case "MergeStmt":
      return dataStatement(node, c);
    case "ExplainStmt":
      return c.nested(() => explain(only(node, "ExplainStmt"), c, position));
    case "TransactionStmt":
      return transaction(only(node, tag), position);
    case "VariableSetStmt":
      return setVariable(only(node, tag), position);
    case "PrepareStmt": {
      const prepare = only(node, tag);
      const types = (prepare.argtypes ?? []).map((type) => convertType(only(type, "TypeName"), c));
      const inner = c.nested(() => statement(prepare.query!, c, position));
      return { kind: "prepare", name: prepare.name ?? "", types, statement: inner, position };
    }
    case "ExecuteStmt": {
      const execute = only(node, tag);
      return { kind: "execute", name: execute.name ?? "", args: c.exprs(execute.params), position };
    }
    case "DeallocateStmt":
      return { kind: "deallocate", name: only(node, tag).name ?? null, position };
    case "VariableShowStmt":
      return { kind: "show", name: only(node, tag).name ?? "", position };
    default: {
      const definition =
        convertDatabase(node, position) ??
        convertOperatorStatement(node, c, position) ??
        convertAccess(node, c, position) ??
        convertRule(node, c, position, (action) => statement(action, c, position)) ??
        convertFunctionStatement(node, c, position) ??
        convertDefinition(node, c, position) ??
        convertTypeDefinition(node, c, position) ??
        convertCursor(node, c, position);
      if (definition !== null) return definition;
      throw notSupported(tag === "DefineStmt" ? defined(only(node, tag)) : spelled(tag), position);
    }
  }
}

/** `OBJECT_COLLATION` → `CREATE COLLATION`. */
function defined({ kind = "OBJECT_TYPE", definition }: DefineStmt): string {
  if (kind === "OBJECT_TYPE")
    return definition === undefined ? "CREATE TYPE of a shell type" : "CREATE TYPE of a base type";
  return `CREATE ${kind
    .replace(/^OBJECT_/, "")
    .replace(/^TS/, "TEXT SEARCH ")
    .replaceAll("_", " ")}`;
}

/** `CreateFunctionStmt` → `CREATE FUNCTION`. */
function spelled(tag: Tag): string {
  return tag
    .replace(/Stmt$/, "")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/\bTrig$/, "Trigger")
    .toUpperCase();
}

function select(node: SelectStmt, c: Conversion, position: number): StatementNode {
  if (node.intoClause !== undefined) {
    const { intoClause, ...query } = node;
    return createTableAs({ into: intoClause, query: { SelectStmt: query } }, c, position);
  }
  return { kind: "select", query: c.query(node), position };
}

function dataStatement(node: Node, c: Conversion): DataStatement {
  if ("InsertStmt" in node) return insert(only(node, "InsertStmt"), c);
  if ("UpdateStmt" in node) return update(only(node, "UpdateStmt"), c);
  if ("DeleteStmt" in node) return deleteFrom(only(node, "DeleteStmt"), c);
  return merge(only(node, "MergeStmt"), c);
}

function target(relation: RangeVar | undefined, c: Conversion): TargetTable {
  return { name: relationName(relation!, c), alias: convertAlias(relation!.alias) };
}

function returning(
  clause: ReturningClause | undefined,
  c: Conversion,
): Pick<InsertStatement, "returning" | "returningNames"> {
  if (clause === undefined) return { returning: null };
  const returning = convertTargets(clause.exprs, c);
  if (clause.options === undefined) return { returning };
  const named = (option: "OLD" | "NEW") => {
    const given = clause.options!.map((node) => only(node, "ReturningOption"));
    const found = given.filter((other) => other.option === `RETURNING_OPTION_${option}`);
    if (found.length > 1) {
      throw sqlError("42601", `${option} cannot be specified multiple times`, {
        position: c.position(found[1]!.location),
      });
    }
    return found[0]?.value ?? null;
  };
  return { returning, returningNames: { old: named("OLD"), new: named("NEW") } };
}

const OVERRIDING = {
  OVERRIDING_NOT_SET: null,
  OVERRIDING_USER_VALUE: "user",
  OVERRIDING_SYSTEM_VALUE: "system",
} as const;

function insert(node: InsertStmt, c: Conversion): InsertStatement {
  const table = target(node.relation, c);
  return {
    kind: "insert",
    with: convertWith(node.withClause, c),
    table,
    columns: node.cols === undefined ? null : node.cols.map((column) => assignmentTarget(only(column, "ResTarget"), c)),
    source: node.selectStmt === undefined ? null : c.subquery(node.selectStmt),
    overriding: OVERRIDING[node.override ?? "OVERRIDING_NOT_SET"],
    onConflict: node.onConflictClause === undefined ? null : onConflict(node.onConflictClause, c),
    ...returning(node.returningClause, c),
    position: table.name.position,
  };
}

function onConflict(node: OnConflictClause, c: Conversion): OnConflictNode {
  const infer = node.infer;
  const elements = (infer?.indexElems ?? []).map((element) => {
    const item = only(element, "IndexElem");
    if (item.expr !== undefined) return c.expr(item.expr);
    return {
      kind: "column",
      path: [item.name ?? ""],
      star: false,
      position: infer?.location === undefined ? 0 : c.position(infer.location),
    } as const;
  });
  const anyKey = infer?.conname === ANY_KEY;
  if (anyKey && node.targetList?.some((item) => only(item, "ResTarget").name === ALL_COLUMNS)) {
    return {
      action: "replace",
      target: null,
      anyKey,
      assignments: [],
      where: null,
      position: c.position(node.location),
    };
  }
  return {
    action: node.action === "ONCONFLICT_UPDATE" ? "update" : "nothing",
    anyKey,
    target:
      infer === undefined || anyKey
        ? null
        : {
            elements,
            where: c.optional(infer.whereClause),
            constraint: infer.conname ?? null,
            position: c.position(infer.location),
          },
    assignments: assignments(node.targetList, c),
    where: c.optional(node.whereClause),
    position: c.position(node.location),
  };
}

function assignmentTarget(node: NodeOf<"ResTarget">, c: Conversion): AssignmentTarget {
  const position = c.position(node.location);
  const name = node.name ?? "";
  if (node.indirection === undefined) return { name, indirection: [], position };
  const whole = applyIndirection({ kind: "column", path: [name], star: false, position }, node.indirection, c);
  return { name, indirection: [whole], position };
}

/** `(a, b) = source` arrives as one target per column, each with the same source. */
function assignments(nodes: readonly Node[] | undefined, c: Conversion): AssignmentNode[] {
  const result: AssignmentNode[] = [];
  const targets = (nodes ?? []).map((node) => only(node, "ResTarget"));
  for (let i = 0; i < targets.length; ) {
    const first = targets[i]!;
    const value = first.val!;
    if (!("MultiAssignRef" in value)) {
      result.push({ targets: [assignmentTarget(first, c)], multiple: false, value: c.expr(value) });
      i++;
      continue;
    }
    const { source, ncolumns } = only(value, "MultiAssignRef");
    const group = targets.slice(i, i + (ncolumns ?? 1));
    result.push({
      targets: group.map((item) => assignmentTarget(item, c)),
      multiple: true,
      value: c.expr(source!),
    });
    i += group.length;
  }
  return result;
}

function update(node: UpdateStmt, c: Conversion): UpdateStatement {
  const table = target(node.relation, c);
  return {
    kind: "update",
    with: convertWith(node.withClause, c),
    table,
    assignments: assignments(node.targetList, c),
    from: convertFrom(node.fromClause, c),
    where: c.optional(node.whereClause),
    ...returning(node.returningClause, c),
    position: table.name.position,
  };
}

function deleteFrom(node: DeleteStmt, c: Conversion): DeleteStatement {
  const table = target(node.relation, c);
  return {
    kind: "delete",
    with: convertWith(node.withClause, c),
    table,
    using: convertFrom(node.usingClause, c),
    where: c.optional(node.whereClause),
    ...returning(node.returningClause, c),
    position: table.name.position,
  };
}

function merge(node: MergeStmt, c: Conversion): MergeStatement {
  const table = target(node.relation, c);
  return {
    kind: "merge",
    with: convertWith(node.withClause, c),
    table,
    source: convertFromItem(node.sourceRelation!, c),
    condition: c.expr(node.joinCondition!),
    clauses: (node.mergeWhenClauses ?? []).map((clause) => mergeClause(only(clause, "MergeWhenClause"), c)),
    ...returning(node.returningClause, c),
    position: table.name.position,
  };
}

function mergeClause(node: MergeWhenClause, c: Conversion): MergeClause {
  const action =
    node.commandType === "CMD_INSERT"
      ? "insert"
      : node.commandType === "CMD_UPDATE"
        ? "update"
        : node.commandType === "CMD_DELETE"
          ? "delete"
          : "nothing";
  const match =
    node.matchKind === "MERGE_WHEN_NOT_MATCHED_BY_TARGET"
      ? "not matched by target"
      : node.matchKind === "MERGE_WHEN_NOT_MATCHED_BY_SOURCE"
        ? "not matched by source"
        : "matched";
  const targets = node.targetList;
  return {
    match,
    condition: c.optional(node.condition),
    action,
    overriding: OVERRIDING[node.override ?? "OVERRIDING_NOT_SET"],
    columns:
      action === "insert" && targets !== undefined
        ? targets.map((item) => assignmentTarget(only(item, "ResTarget"), c))
        : null,
    values: node.values === undefined ? null : c.exprs(node.values),
    assignments: action === "update" ? assignments(targets, c) : [],
  };
}

function explain(node: ExplainStmt, c: Conversion, position: number): ExplainStatement {
  const options = (node.options ?? []).map((option) => convertOption(only(option, "DefElem"), c));
  const flag = (name: string) => {
    const value = options.findLast((option) => option.name === name)?.value;
    return value !== undefined && !["false", "off", "0"].includes(String(value).toLowerCase());
  };
  const wanted = options.findLast((option) => option.name === "format");
  const format = EXPLAIN_FORMATS.find((name) => name === String(wanted?.value ?? "text").toLowerCase());
  if (format === undefined) {
    const message = `unrecognized value for EXPLAIN option "format": "${wanted?.value}"`;
    throw sqlError("22023", message, { position: wanted?.position ?? position });
  }
  const analyze = flag("analyze");
  return {
    kind: "explain",
    statement: whatIsPlanned(statement(node.query!, c, position), analyze),
    analyze,
    verbose: flag("verbose"),
    format,
    options,
    position,
  };
}

/** Of a cursor, and of a table that a query fills, the query. */
function whatIsPlanned(explained: StatementNode, analyze: boolean): StatementNode {
  const { kind, position } = explained;
  if (kind === "declare cursor") return { kind: "select", query: explained.query, position };
  if (kind !== "create table as" && kind !== "create table as execute") return explained;
  if (analyze) {
    throw sqlError("0A000", "EXPLAIN ANALYZE makes no table", { position, hint: "Have it run the query alone." });
  }
  return kind === "create table as" ? { kind: "select", query: explained.query, position } : explained.execute;
}

const TRANSACTION_ACTIONS: Record<string, TransactionStatement["action"]> = {
  TRANS_STMT_BEGIN: "begin",
  TRANS_STMT_START: "begin",
  TRANS_STMT_COMMIT: "commit",
  TRANS_STMT_ROLLBACK: "rollback",
  TRANS_STMT_SAVEPOINT: "savepoint",
  TRANS_STMT_RELEASE: "release",
  TRANS_STMT_ROLLBACK_TO: "rollback to",
  TRANS_STMT_PREPARE: "prepare",
  TRANS_STMT_COMMIT_PREPARED: "commit prepared",
  TRANS_STMT_ROLLBACK_PREPARED: "rollback prepared",
};

function transaction(node: TransactionStmt, position: number): TransactionStatement {
  const action = TRANSACTION_ACTIONS[node.kind!]!;
  const savepoint = node.savepoint_name ?? node.gid ?? null;
  return {
    kind: "transaction",
    action,
    ...(node.kind === "TRANS_STMT_START" && { isStart: true }),
    savepoint,
    chain: node.chain ?? false,
    ...transactionModes(node.options),
    position,
  };
}
