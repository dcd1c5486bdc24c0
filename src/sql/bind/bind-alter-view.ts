/** ALTER VIEW, and ALTER TABLE where it names a view. Called by bind-alter-table.ts. */
import type { AlterViewCommand } from "../../catalog/ddl-command.js";
import type { ViewDef } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import type { AlterTableCommand, AlterTableStatement, RenameStatement } from "../parse/ast-definitions.js";
import type { NameNode } from "../parse/ast-query.js";
import { contextOf } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import { findView } from "./bind-view.js";
import type { Binding } from "./binding.js";
import type { BoundDdl, BoundStatement } from "./bound-statement.js";
import { updatableColumns } from "./changed-relation.js";
import { coerceAssignment } from "./coerce.js";
import { firstFound } from "./names.js";
import { relationOf, Scope } from "./scope.js";
import { refuseParameters, storedSql } from "./stored-expression.js";
import { viewOptions, viewReset } from "./view-options.js";

type ViewChange = AlterViewCommand["change"];
type ViewOptionsCommand = Extract<AlterTableCommand, { kind: "options" }>;

/** Null: the statement is about a table. Throws 42P01 and 42809 for ALTER VIEW of anything but a view. */
export function bindAlterView(node: AlterTableStatement, binding: Binding): BoundStatement | null {
  const view = viewOf(node.name, node.object === "view", node.ifExists, binding);
  if (view === null) return null;
  if (view === "absent") return absent(node.name);
  const changes = node.commands.flatMap((command) => changesOf(command, view, binding));
  const steps = changes.map((change) => () => ddl(view, change));
  const ignored = node.commands.flatMap((command) => (command.kind === "ignored" ? [command.what] : []));
  const notices = ignored.map((what) => `${what} has no effect here and was ignored`);
  return { kind: "ddl steps", tag: "ALTER VIEW", steps, notices };
}

/** ALTER … RENAME of a view or of its column; null: of something else. */
export function bindRenameView(node: RenameStatement, binding: Binding): BoundStatement | null {
  const { object, newName } = node;
  if (object !== "view" && object !== "table" && object !== "column") return null;
  const view = viewOf(node.relation, object === "view", node.ifExists, binding);
  if (view === null) return null;
  if (view === "absent") return absent(node.relation);
  if (object === "column") return ddl(view, { kind: "rename column", column: node.part!, newName });
  return ddl(view, { kind: "move", toSchema: view.schema, toName: newName });
}

function ddl({ schema, name }: ViewDef, change: ViewChange): BoundDdl {
  return { kind: "ddl", command: { kind: "alter view", schema, name, change } };
}

function absent(name: NameNode): BoundStatement {
  const notices = [`relation "${relationOf(name).name}" does not exist, skipping`];
  return { kind: "ddl steps", tag: "ALTER VIEW", steps: [], notices };
}

function viewOf(name: NameNode, isNeeded: boolean, ifExists: boolean, binding: Binding): ViewDef | "absent" | null {
  const view = findView(name, binding);
  if (view !== null || !isNeeded) return view;
  const { catalog } = binding.env;
  const at = name.position > 0 ? { position: name.position } : {};
  const table = firstFound(relationOf(name), binding.env, (schema, table) => catalog.table(schema, table));
  if (table !== null) throw sqlError("42809", `"${table.name}" is not a view`, at);
  if (ifExists) return "absent";
  throw sqlError("42P01", `relation "${name.path.join(".")}" does not exist`, at);
}

function changesOf(command: AlterTableCommand, view: ViewDef, binding: Binding): ViewChange[] {
  switch (command.kind) {
    case "set default":
      return [{ kind: "default", column: command.name, sql: defaultSql(command, view, binding) }];
    case "drop default":
      return [{ kind: "default", column: command.name, sql: null }];
    case "options":
      return [options(command, view, binding)];
    case "ignored":
      return [];
    default:
      throw sqlError(
        "42809",
        `ALTER action ${command.kind.toUpperCase()} cannot be performed on relation "${view.name}"`,
        {
          detail: "This operation is not supported for views.",
        },
      );
  }
}

function defaultSql(
  { name, expr }: Extract<AlterTableCommand, { kind: "set default" }>,
  view: ViewDef,
  binding: Binding,
): string {
  refuseParameters(expr, "DEFAULT expressions");
  const column = view.columns.find((other) => other.name === name);
  const context = { ...contextOf(binding, new Scope(null), "DEFAULT expressions"), subqueries: false };
  const bound = bindExpr(expr, context);
  if (column !== undefined) coerceAssignment(bound, column, binding, expr.position);
  return storedSql(expr, binding);
}

/** Throws 22023, and 0A000 for a check of rows that cannot be changed through the view. */
function options({ options, reset }: ViewOptionsCommand, view: ViewDef, binding: Binding): ViewChange {
  const changed = reset ? viewReset(options) : viewOptions(options);
  if (changed.checkOption && updatableColumns(view, binding) === null) {
    throw sqlError("0A000", "WITH CHECK OPTION is supported only on automatically updatable views");
  }
  return { kind: "options", options: changed };
}
