/**
 * CREATE TRIGGER and what renames, drops or comments on triggers; WHEN conditions over the rows `old` and `new`. What
 * is refused, and how, is PostgreSQL's (src/backend/commands/trigger.c).
 */
import type { RelationName, TriggerCommand } from "../../catalog/ddl-command.js";
import type { TableDef } from "../../catalog/table.js";
import type { SystemTriggerFunction, TriggerDef } from "../../catalog/trigger.js";
import type { ViewDef } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import type { TriggerConditions } from "../../query/plan/bound-table.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import type { ExprNode, NameNode } from "../parse/ast-query.js";
import type { CreateTriggerStatement, TriggerStatement } from "../parse/ast-triggers.js";
import { printExpr } from "../parse/print-expr.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import { bindBoolean } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import { findView } from "./bind-view.js";
import type { Binding } from "./binding.js";
import { schemaNamed } from "./names.js";
import { routinesNamed } from "./resolve-routine.js";
import { itemOf } from "./row-item.js";
import { relationOf, Scope } from "./scope.js";
import { exactNode, refuseParameters } from "./stored-expression.js";
import { parseStored } from "./stored-names.js";
import { rowColumnsOf } from "./stored-row.js";

export function bindTrigger(node: TriggerStatement, binding: Binding): TriggerCommand {
  switch (node.kind) {
    case "create trigger":
      return createTrigger(node, binding);
    case "drop trigger":
      return {
        kind: "drop trigger",
        relation: droppedFrom(node.relation, node.ifExists, binding),
        name: node.name,
        ifExists: node.ifExists,
      };
    case "rename trigger": {
      const { name, newName } = node;
      return { kind: "rename trigger", relation: nameOf(relationNamed(node.relation, binding), node), name, newName };
    }
    case "comment on trigger": {
      const { name, comment } = node;
      return {
        kind: "comment on trigger",
        relation: nameOf(relationNamed(node.relation, binding), node),
        name,
        comment,
      };
    }
  }
}

/** Throws 42P01. */
function relationNamed(name: NameNode, binding: Binding): TableDef | ViewDef {
  return findView(name, binding) ?? lookUpTable(name, binding);
}

function nameOf({ schema, name }: TableDef | ViewDef, { relation }: { readonly relation: NameNode }): RelationName {
  return { schema, name, position: relation.position };
}

/** With IF EXISTS the relation may be missing. */
function droppedFrom(node: NameNode, ifExists: boolean, binding: Binding): RelationName {
  if (!ifExists) return nameOf(relationNamed(node, binding), { relation: node });
  try {
    return nameOf(relationNamed(node, binding), { relation: node });
  } catch {
    const { schema, name } = relationOf(node);
    return { schema: schema === null ? "public" : schemaNamed(schema, binding.env), name, position: 0 };
  }
}

const isView = (relation: TableDef | ViewDef): relation is ViewDef => !("indexes" in relation);

function createTrigger(node: CreateTriggerStatement, binding: Binding): TriggerCommand {
  const relation = relationNamed(node.relation, binding);
  const { position } = node;
  if (node.replace && node.constraint !== null) {
    throw sqlError("0A000", "CREATE OR REPLACE CONSTRAINT TRIGGER is not supported", { position });
  }
  checkKind(node, relation);
  const transitions = bindTransitions(node, relation);
  const { name, timing, level, events, args } = node;
  const columns = node.columns.length === 0 ? {} : { columns: columnIds(node, relation) };
  const when = node.when === null ? {} : { when: bindWhen(node, node.when, relation as TableDef, binding) };
  const from = node.constraint?.from ?? null;
  const constraint =
    node.constraint === null
      ? {}
      : {
          constraint: {
            deferrable: node.constraint.deferrable,
            initiallyDeferred: node.constraint.initiallyDeferred,
            ...(from !== null && { fromTable: lookUpTable(from, binding).id }),
          },
        };
  const calls = triggerFunction(node, binding);
  return {
    kind: "create trigger",
    relation: nameOf(relation, node),
    replace: node.replace,
    trigger: { name, timing, level, events, ...columns, ...when, calls, args, ...constraint, ...transitions },
  };
}

/** Which triggers a table or a view can have. Throws 42809, 0A000. */
function checkKind(node: CreateTriggerStatement, relation: TableDef | ViewDef): void {
  const { timing, level, events, position } = node;
  const wrong = (what: string, detail: string) => sqlError("42809", `"${relation.name}" is a ${what}`, { detail });
  if (isView(relation)) {
    if (level === "row" && timing !== "instead of") {
      throw wrong("view", "Views cannot have row-level BEFORE or AFTER triggers.");
    }
    if (events.includes("truncate")) throw wrong("view", "Views cannot have TRUNCATE triggers.");
  } else {
    if (relation.materialized) {
      throw sqlError("42809", `relation "${relation.name}" cannot have triggers`, {
        detail: "This operation is not supported for materialized views.",
      });
    }
    if (timing === "instead of") throw wrong("table", "Tables cannot have INSTEAD OF triggers.");
    if (relation.partitionKey !== undefined && level === "row" && node.transitions.length > 0) {
      const detail = "ROW triggers with transition tables are not supported on partitioned tables.";
      throw sqlError("0A000", `"${relation.name}" is a partitioned table`, { detail });
    }
  }
  if (events.includes("truncate") && level === "row") {
    throw sqlError("0A000", "TRUNCATE FOR EACH ROW triggers are not supported", { position });
  }
  if (timing !== "instead of") return;
  if (level !== "row") throw sqlError("0A000", "INSTEAD OF triggers must be FOR EACH ROW", { position });
  if (node.when !== null) throw sqlError("0A000", "INSTEAD OF triggers cannot have WHEN conditions", { position });
  if (node.columns.length > 0) throw sqlError("0A000", "INSTEAD OF triggers cannot have column lists", { position });
}

/** REFERENCING. Throws 0A000, 42809, 42P17. */
function bindTransitions(
  node: CreateTriggerStatement,
  relation: TableDef | ViewDef,
): Pick<TriggerDef, "oldTable" | "newTable"> {
  const { transitions, events, position } = node;
  const refused = (message: string, hint?: string) =>
    sqlError("0A000", message, { position, ...(hint !== undefined && { hint }) });
  const invalid = (message: string) => sqlError("42P17", message, { position });
  const names: { oldTable?: string; newTable?: string } = {};
  for (const { name, isNew, isTable } of transitions) {
    if (!isTable) {
      throw refused(
        "ROW variable naming in the REFERENCING clause is not supported",
        "Use OLD TABLE or NEW TABLE for naming transition tables.",
      );
    }
    if (isView(relation)) {
      const detail = "Triggers on views cannot have transition tables.";
      throw sqlError("42809", `"${relation.name}" is a view`, { detail });
    }
    if (node.level === "row" && relation.partitionBound !== undefined) {
      throw refused("ROW triggers with transition tables are not supported on partitions");
    }
    if (node.level === "row" && (relation.parents?.length ?? 0) > 0) {
      throw refused("ROW triggers with transition tables are not supported on inheritance children");
    }
    if (node.timing !== "after") throw invalid("transition table name can only be specified for an AFTER trigger");
    if (events.includes("truncate")) throw refused("TRUNCATE triggers with transition tables are not supported");
    if (events.length > 1) {
      throw refused("transition tables cannot be specified for triggers with more than one event");
    }
    if (node.columns.length > 0) {
      throw refused("transition tables cannot be specified for triggers with column lists");
    }
    const [key, which, other] = isNew
      ? (["newTable", "NEW", "insert"] as const)
      : (["oldTable", "OLD", "delete"] as const);
    if (!events.includes(other) && !events.includes("update")) {
      throw invalid(`${which} TABLE can only be specified for ${isNew ? "an INSERT" : "a DELETE"} or UPDATE trigger`);
    }
    if (names[key] !== undefined) throw invalid(`${which} TABLE cannot be specified multiple times`);
    names[key] = name;
  }
  if (names.oldTable !== undefined && names.oldTable === names.newTable) {
    throw invalid("OLD TABLE name and NEW TABLE name cannot be the same");
  }
  return names;
}

/** UPDATE OF. Throws 42703, 42701. */
function columnIds(node: CreateTriggerStatement, relation: TableDef | ViewDef): number[] {
  return node.columns.map((name, i) => {
    const column = isView(relation) ? undefined : relation.columns.find((other) => other.name === name);
    if (column === undefined) throw sqlError("42703", `column "${name}" of relation "${relation.name}" does not exist`);
    if (node.columns.indexOf(name) < i) throw sqlError("42701", `column "${name}" specified more than once`);
    return column.id;
  });
}

const SYSTEM_FUNCTIONS: readonly SystemTriggerFunction[] = [
  "suppress_redundant_updates_trigger",
  "tsvector_update_trigger",
  "tsvector_update_trigger_column",
];

/** Throws 42883, 42P17. */
function triggerFunction({ function: path, position }: CreateTriggerStatement, { env }: Binding): TriggerDef["calls"] {
  const name = path.join(".");
  const found = routinesNamed(path, env).find(({ kind, parameters }) => kind === "function" && parameters.length === 0);
  if (found === undefined) {
    const system = SYSTEM_FUNCTIONS.find((other) => other === path.at(-1));
    if (system !== undefined && (path.length === 1 || path[0] === "pg_catalog")) return system;
    throw sqlError("42883", `function ${name}() does not exist`, { position });
  }
  if (found.returns.name !== "trigger") throw sqlError("42P17", `function ${found.name} must return type trigger`);
  return found.id;
}

/** The condition as text. Throws 42P17 for a row that the trigger does not have. */
function bindWhen(node: CreateTriggerStatement, when: ExprNode, table: TableDef, binding: Binding): string {
  refuseParameters(when, "trigger WHEN conditions");
  const rows = [rowColumnsOf(table, binding), rowColumnsOf(table, binding)] as const;
  bindBoolean(when, "WHEN", whenContext(table, ...rows, binding));
  visitColumns(when, (path, position) => {
    const [row, column] = path;
    const invalid = (message: string, detail?: string) =>
      sqlError("42P17", message, { position, ...(detail !== undefined && { detail }) });
    if (node.level === "statement") throw invalid("statement trigger's WHEN condition cannot reference column values");
    if (row === "old" && node.events.includes("insert")) {
      throw invalid("INSERT trigger's WHEN condition cannot reference OLD values");
    }
    if (row === "new" && node.events.includes("delete")) {
      throw invalid("DELETE trigger's WHEN condition cannot reference NEW values");
    }
    if (row !== "new" || node.timing !== "before") return;
    if (column === "tableoid") throw invalid("BEFORE trigger's WHEN condition cannot reference NEW system columns");
    const generated = table.columns.find(
      ({ name, generatedSql }) => generatedSql && (column === undefined || name === column),
    );
    if (generated === undefined) return;
    throw invalid(
      "BEFORE trigger's WHEN condition cannot reference NEW generated columns",
      column === undefined
        ? "A whole-row reference is used and the table contains generated columns."
        : `Column "${column}" is a generated column.`,
    );
  });
  return printExpr(exactNode(when, binding));
}

/** Every name of a column, or of a whole row, in the tree. */
function visitColumns(node: unknown, visit: (path: readonly string[], position: number) => void): void {
  if (typeof node !== "object" || node === null) return;
  if ("kind" in node && node.kind === "column") {
    const { path, position } = node as Extract<ExprNode, { kind: "column" }>;
    visit(path, position);
  }
  for (const child of Object.values(node)) visitColumns(child, visit);
}

/** Columns are named by their row: old.a, new.a. */
export function whenContext(
  table: TableDef,
  before: readonly OutputColumn[],
  after: readonly OutputColumn[],
  binding: Binding,
  clause = "trigger WHEN conditions",
): ExprContext {
  const scope = new Scope(null);
  const item = (name: string, columns: readonly OutputColumn[]) => {
    return { ...itemOf(table, name, columns), schema: null };
  };
  scope.items = [item("old", before), item("new", after)];
  return { ...contextOf(binding, scope, clause), subqueries: false };
}

/** WHEN of the table's triggers, WHERE of its rules over both rows; null: none has any. */
export function bindTriggerConditions(table: TableDef, binding: Binding): TriggerConditions | null {
  const conditional = [...(table.triggers ?? []), ...(table.rules ?? [])].filter(({ when }) => when !== undefined);
  if (conditional.length === 0) return null;
  const before = rowColumnsOf(table, binding);
  const after = rowColumnsOf(table, binding);
  const context = whenContext(table, before, after, binding);
  const { schema } = table;
  return {
    before,
    after,
    byTrigger: new Map(
      conditional.map(({ id, when }) => [id, bindBoolean(parseStored(when!, schema), "WHEN", context)]),
    ),
  };
}
