/** INSERT, UPDATE, DELETE and MERGE by their kind: as statements of their own, and inside WITH. */
import type { TableDef } from "../../catalog/table.js";
import { emptyOf } from "../../query/plan/empty-plan.js";
import type { Plan } from "../../query/plan/plan.js";
import type { DataStatement } from "../parse/ast.js";
import type { DataModifyingNode, NameNode } from "../parse/ast-query.js";
import { bindDelete } from "./bind-delete.js";
import { bindInsert } from "./bind-insert.js";
import { bindMerge } from "./bind-merge.js";
import { bindUpdate } from "./bind-update.js";
import type { Binding } from "./binding.js";
import { isDropped } from "./instead-of.js";
import { firstFound } from "./names.js";
import { relationOf, type Scope } from "./scope.js";

/** `parent`: of a statement in WITH, the scope that has the tables before it. */
export function bindData(node: DataModifyingNode, parent: Scope | null, binding: Binding): Plan {
  const statement = node as DataStatement;
  if (!isDropped(relationNamed(statement.table.name, binding), statement.kind)) {
    return bindStatement(statement, parent, binding);
  }
  // As in PostgreSQL nothing is asked of who runs it, because it does not run: its rows are not even computed.
  const { rights: _, ...unchecked } = binding.env;
  const plan = binding.within(unchecked, () => bindStatement(statement, parent, binding));
  if (!("input" in plan)) throw new Error(`${plan.kind} has no input`);
  return Object.freeze({ ...plan, input: emptyOf(plan.input as Plan) });
}

/** Without rules, where the name is no relation's. */
function relationNamed(name: NameNode, binding: Binding): Pick<TableDef, "rules"> {
  const { env } = binding;
  const found = firstFound(
    relationOf(name),
    env,
    (schema, own): Pick<TableDef, "rules"> | null => env.catalog.view(schema, own) ?? env.catalog.table(schema, own),
  );
  return found ?? {};
}

function bindStatement(statement: DataStatement, parent: Scope | null, binding: Binding): Plan {
  switch (statement.kind) {
    case "insert":
      return bindInsert(statement, binding, parent);
    case "update":
      return bindUpdate(statement, binding, parent);
    case "delete":
      return bindDelete(statement, binding, parent);
    case "merge":
      return bindMerge(statement, binding, parent);
  }
}
