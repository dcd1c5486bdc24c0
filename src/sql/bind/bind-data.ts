/** INSERT, UPDATE, DELETE and MERGE by their kind: as statements of their own, and inside WITH. */
import type { Plan } from "../../query/plan/plan.js";
import type { DataStatement } from "../parse/ast.js";
import type { DataModifyingNode } from "../parse/ast-query.js";
import { bindDelete } from "./bind-delete.js";
import { bindInsert } from "./bind-insert.js";
import { bindMerge } from "./bind-merge.js";
import { bindUpdate } from "./bind-update.js";
import type { Binding } from "./binding.js";
import type { Scope } from "./scope.js";

/** `parent`: of a statement in WITH, the scope that has the tables before it. */
export function bindData(node: DataModifyingNode, parent: Scope | null, binding: Binding): Plan {
  const statement = node as DataStatement;
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
