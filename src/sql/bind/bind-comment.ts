/** COMMENT ON objects other than functions and triggers. Called by bind-statement.ts. */

import type { CommentCommand } from "../../catalog/ddl-command.js";
import { BUILT_IN_EXTENSION } from "../../catalog/extension.js";
import { BUILT_IN_SCHEMAS } from "../../catalog/schema.js";
import { sqlError } from "../../protocol/errors.js";
import type { CommentStatement } from "../parse/ast-definitions.js";
import type { NameNode } from "../parse/ast-query.js";
import { schemaOf } from "./bind-ddl.js";
import { lookUpTable } from "./bind-from.js";
import { denied, rightsIn, roleNamed } from "./bind-roles.js";
import { findView } from "./bind-view.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment, BoundStatement } from "./bound-statement.js";
import { existingType, firstFound, missingRelation } from "./names.js";
import { relationOf } from "./scope.js";

/** Objects of COMMENT ON, and what each is stored with. */
const COMMENTED: Readonly<Record<string, CommentCommand["object"]>> = {
  table: "table",
  matview: "table",
  foreign_table: "table",
  column: "column",
  index: "index",
  tabconstraint: "constraint",
  domconstraint: "domain constraint",
  view: "view",
  sequence: "sequence",
  type: "type",
  domain: "type",
  schema: "schema",
};

/** Throws 0A000 for other objects. */
export function bindComment(node: CommentStatement, binding: Binding): BoundStatement {
  const { position, comment, object: what } = node;
  const ignored = notKept(node, binding);
  if (ignored !== null) return ignored;
  if (what === "role") return commentOnRole(node.name[0]!, comment, binding.env);
  const object = COMMENTED[what];
  if (object === undefined) {
    throw sqlError("0A000", `COMMENT ON ${what.toUpperCase()} is not supported yet`, { position });
  }
  const hasPart = object === "column" || object === "constraint" || object === "domain constraint";
  const path = hasPart ? node.name.slice(0, -1) : node.name;
  const part = hasPart ? node.name.at(-1)! : null;
  const name: NameNode = { path: [...path], position: 0 };
  const view = object === "column" ? findView(name, binding) : null;
  const place = placeOf(view === null ? object : "view", name, binding);
  const stored = view === null ? object : "view column";
  return {
    kind: "ddl",
    command: { kind: "comment", object: stored, relation: { ...place, position: 0 }, part, comment },
  };
}

/** Throws 42501, 42704. */
function commentOnRole(name: string, comment: string | null, env: BindEnvironment): BoundStatement {
  const rights = rightsIn(env);
  const { comment: _, ...role } = roleNamed({ kind: "named", name }, env);
  const { acting, isSuperuser } = rights;
  if (!isSuperuser && (role.superuser || role.id < 0)) throw denied("must be superuser to comment on this role");
  if (!isSuperuser && acting.role?.createRole !== true) {
    throw denied("must have CREATEROLE privilege to comment on a role");
  }
  const roles = [{ ...role, ...(comment !== null && { comment }) }];
  return { kind: "ddl", command: { kind: "access", tag: "COMMENT", notices: [], roles } };
}

const hasExtension = (name: string, { env }: Binding) =>
  name === BUILT_IN_EXTENSION || env.catalog.extensions().some((extension) => extension.name === name);

/** Of what is built in, the comment is taken and dropped: scripts of dumps have such. Null: another object. */
function notKept({ object, name, position }: CommentStatement, binding: Binding): BoundStatement | null {
  const [first = ""] = name;
  const isBuiltIn =
    object === "database" ||
    (object === "extension" && hasExtension(first, binding)) ||
    (object === "schema" && BUILT_IN_SCHEMAS.includes(first) && binding.env.catalog.schema(first) === null);
  if (object === "extension" && !isBuiltIn)
    throw sqlError("42704", `extension "${first}" does not exist`, { position });
  if (object === "schema" && !binding.env.catalog.hasSchema(first)) {
    throw sqlError("3F000", `schema "${first}" does not exist`, { position });
  }
  if (!isBuiltIn) return null;
  return { kind: "ddl steps", tag: "COMMENT", steps: [], notices: [`comments on a built-in ${object} are not kept`] };
}

function placeOf(
  object: CommentCommand["object"],
  name: NameNode,
  binding: Binding,
): { readonly schema: string; readonly name: string } {
  const { env } = binding;
  const relation = relationOf(name);
  switch (object) {
    case "index":
      return { schema: relation.schema ?? schemaOf(relation.name, "index", binding), name: relation.name };
    case "view": {
      const view = findView(name, binding);
      if (view === null) throw missingRelation(name, env);
      return view;
    }
    case "sequence": {
      const found = firstFound(relation, env, (schema, own) => env.catalog.sequence(schema, own));
      if (found === null) throw missingRelation(name, env);
      return found;
    }
    case "type":
    case "domain constraint":
      return existingType(name, env);
    case "schema":
      return { schema: "", name: name.path[0]! };
    default:
      return lookUpTable(name, binding);
  }
}
