/**
 * CREATE, DROP, ALTER STATISTICS: names to schemas, columns to ids, expressions proven to bind. Called by
 * bind-statement.ts.
 */
import type { StatisticsCommand } from "../../catalog/ddl-command.js";
import { findStatistics } from "../../catalog/extended-statistics.js";
import { sqlError } from "../../protocol/errors.js";
import type { NameNode } from "../parse/ast-query.js";
import type { CreateStatisticsStatement, StatisticsStatement } from "../parse/ast-statistics.js";
import { bindExpr } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import type { Binding } from "./binding.js";
import type { BoundStatement } from "./bound-statement.js";
import { creationSchema, existingSchema, firstFound } from "./names.js";
import { relationOf } from "./scope.js";
import { columnsRead, refuseParameters, rowContext, storedSql } from "./stored-expression.js";

const KINDS = ["ndistinct", "dependencies", "mcv"] as const;

export function bindStatistics(node: StatisticsStatement, binding: Binding): BoundStatement {
  switch (node.kind) {
    case "create statistics":
      return { kind: "ddl", command: createStatistics(node, binding) };
    case "drop statistics": {
      const names = node.names.map((name) => nameOf(name, binding));
      return { kind: "ddl", command: { kind: "drop statistics", names, ifExists: node.ifExists } };
    }
    case "alter statistics": {
      const name = nameOf(node.name, binding);
      if (node.ifExists && findStatistics(binding.env.catalog, name.schema, name.name) === null) {
        const notices = [`statistics object "${name.name}" does not exist, skipping`];
        return { kind: "ddl steps", tag: "ALTER STATISTICS", steps: [], notices };
      }
      const { schema, ...change } = node.change;
      const moved = schema === undefined ? {} : { schema: existingSchema(schema, binding.env, 0) };
      return { kind: "ddl", command: { kind: "alter statistics", name, change: { ...change, ...moved } } };
    }
  }
}

/** Where it is, or would be. */
function nameOf(node: NameNode, { env }: Binding): { readonly schema: string; readonly name: string } {
  const { schema, name } = relationOf(node);
  const found = firstFound({ schema, name }, env, (inSchema, own) => findStatistics(env.catalog, inSchema, own));
  return { schema: found?.statistics.schema ?? schema ?? creationSchema(env, 0), name };
}

/** Throws 42P17, 42701, 42703, 42809. */
function createStatistics(node: CreateStatisticsStatement, binding: Binding): StatisticsCommand {
  const { position, tables } = node;
  if (tables.length !== 1) {
    throw sqlError("0A000", "only a single relation is allowed in CREATE STATISTICS", { position });
  }
  const unknown = node.kinds.find((kind) => !KINDS.some((known) => known === kind));
  if (unknown !== undefined) throw sqlError("42601", `unrecognized statistics kind "${unknown}"`, { position });
  const table = lookUpTable(tables[0]!, binding);
  const keys = node.keys.map((key): { columnId?: number; sql?: string } => {
    if ("column" in key || key.expr.kind === "column") {
      const name = "column" in key ? key.column : key.expr.kind === "column" ? key.expr.path.at(-1)! : "";
      const column = table.columns.find((other) => other.name === name);
      if (column === undefined) throw sqlError("42703", `column "${name}" does not exist`, { position });
      return { columnId: column.id };
    }
    refuseParameters(key.expr, "statistics expressions");
    bindExpr(key.expr, rowContext(table, "statistics expressions", binding));
    return { sql: storedSql(key.expr, binding) };
  });
  if (keys.length > 8) throw sqlError("54011", "cannot have more than 8 columns in statistics", { position });
  const texts = keys.map((key) => JSON.stringify(key));
  if (new Set(texts).size < texts.length) {
    const isExpression = keys.some(({ sql }, i) => sql !== undefined && texts.indexOf(texts[i]!) < i);
    throw sqlError("42701", `duplicate ${isExpression ? "expression" : "column name"} in statistics definition`);
  }
  if (keys.length === 1 && keys[0]!.sql === undefined) {
    throw sqlError("42P17", "extended statistics require at least 2 columns", { position });
  }
  const read = node.keys.flatMap((key) => ("column" in key ? [key.column] : columnsRead(key.expr)));
  const columnIds = table.columns.filter(({ name }) => read.includes(name)).map(({ id }) => id);
  const relation = node.name === null ? { schema: null, name: null } : relationOf(node.name);
  const schema =
    relation.schema === null
      ? node.name === null
        ? table.schema
        : creationSchema(binding.env, position)
      : existingSchema(relation.schema, binding.env, position);
  return {
    kind: "create statistics",
    schema,
    name: relation.name,
    table: { schema: table.schema, name: table.name, position: tables[0]!.position },
    kinds: node.kinds.length === 0 ? KINDS : KINDS.filter((kind) => node.kinds.includes(kind)),
    keys,
    columnIds,
    ifNotExists: node.ifNotExists,
  };
}
