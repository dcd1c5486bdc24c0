/** Statements about roles, privileges and policies by their kind. */
import type { DdlCommand } from "../../catalog/ddl-command.js";
import type { StatementNode } from "../parse/ast.js";
import { bindDefaultPrivileges, bindGrant } from "./bind-grant.js";
import { bindAlterAccess, bindAlterOwner } from "./bind-owner.js";
import { bindDropPolicy, bindPolicy, bindRenamePolicy } from "./bind-policy.js";
import { bindRoleSetting } from "./bind-role-settings.js";
import { bindAlterRole, bindCreateRole, bindDropRole, bindGrantRole, bindOwned, bindRenameRole } from "./bind-roles.js";
import type { Binding } from "./binding.js";
import type { BoundStatement } from "./bound-statement.js";

/** null: another statement. */
export function bindAccess(node: StatementNode, binding: Binding): BoundStatement | null {
  if (node.kind === "create role") return bindCreateRole(node, binding.env);
  const command = commandOf(node, binding);
  return command === null ? null : { kind: "ddl", command };
}

function commandOf(node: StatementNode, binding: Binding): DdlCommand | null {
  const { env } = binding;
  switch (node.kind) {
    case "alter role":
      return bindAlterRole(node, env);
    case "role setting":
      return bindRoleSetting(node, env);
    case "drop role":
      return bindDropRole(node, env);
    case "rename role":
      return bindRenameRole(node, env);
    case "grant role":
      return bindGrantRole(node, env);
    case "grant":
      return bindGrant(node, binding);
    case "default privileges":
      return bindDefaultPrivileges(node, env);
    case "alter access":
      return bindAlterAccess(node, binding);
    case "alter owner":
      return bindAlterOwner(node, binding);
    case "owned":
      return bindOwned(node, env);
    case "create policy":
    case "alter policy":
      return bindPolicy(node, binding);
    case "drop policy":
      return bindDropPolicy(node, binding);
    case "rename policy":
      return bindRenamePolicy(node, binding);
    default:
      return null;
  }
}
