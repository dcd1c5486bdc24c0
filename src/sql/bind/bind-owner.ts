/** Who owns what: ALTER … OWNER TO, and the switches of row security, which are the owner's. */

import type { DdlCommand } from "../../catalog/ddl-command.js";
import { accessOf, withOwner } from "../../catalog/grants.js";
import { NOT_NUMBERED } from "../../catalog/model-access.js";
import { membershipsOf } from "../../catalog/rights.js";
import type { AccessDef, RoleDef } from "../../catalog/role.js";
import { isRowType } from "../../catalog/type.js";
import { sqlError } from "../../protocol/errors.js";
import { markedName } from "../parse/access-dialect.js";
import type { AlterAccessStatement, AlterOwnerStatement } from "../parse/ast-access.js";
import type { NameNode } from "../parse/ast-query.js";
import { findRoutine } from "./bind-function-statement.js";
import { markedSubjects, relationSubject, type Subject, schemaSubject, typeSubject } from "./bind-grant.js";
import { denied, rightsIn, roleNamed } from "./bind-roles.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";

/** ALTER TABLE … OWNER TO and ROW LEVEL SECURITY. */
export function bindAlterAccess(node: AlterAccessStatement, binding: Binding): DdlCommand {
  const { env } = binding;
  const tag = `ALTER ${node.what.toUpperCase()}`;
  const ignored = (what: string): DdlCommand => {
    return { kind: "access", tag, notices: [`${what} has no effect here and was ignored`] };
  };
  if (node.what === "index") return ignored("OWNER TO");
  const subjects = found(node, binding);
  if (subjects === null) {
    const notices = [`relation "${node.name.path.join(".")}" does not exist, skipping`];
    return { kind: "access", tag, notices };
  }
  // Dumps of databases without roles name an owner that is none here.
  if (node.changes.some((change) => change.kind === "owner" && isOwnerOfDump(change.role, env))) {
    return ignored("OWNER TO");
  }
  const accesses = subjects.map((subject) => changed(subject, node, env));
  const models = subjects.filter(({ kind, id }) => kind === "model" && id === NOT_NUMBERED).map(({ name }) => name);
  return { kind: "access", tag, notices: [], accesses, models };
}

function changed(subject: Subject, { changes }: AlterAccessStatement, env: BindEnvironment): AccessDef {
  let access: AccessDef = {
    ...accessOf(env.catalog.accessTo(subject.id), subject.id, subject.kind),
    ...(subject.kind === "model" && { name: subject.name }),
  };
  for (const change of changes) {
    if (change.kind === "owner") {
      access = withNewOwner(access, roleNamed(change.role, env), subject, env);
      continue;
    }
    requireOwner(subject, env);
    if (subject.what !== "table") throw sqlError("42809", `"${subject.name}" is not a table`);
    const { enabled = false, forced = false } = access.rowSecurity ?? {};
    const { kind: _, ...given } = change;
    access = { ...access, rowSecurity: { enabled, forced, ...given } };
  }
  return access;
}

/** null: there is no such relation, and need not be. */
function found({ name, ifExists }: AlterAccessStatement, binding: Binding): readonly Subject[] | null {
  const marked = markedName(name.path[0]!);
  if (marked !== null) return markedSubjects(marked, false, binding.env);
  try {
    return [relationSubject(name, binding)];
  } catch (error) {
    if (ifExists && (error as { details?: { sqlstate?: string } }).details?.sqlstate === "42P01") return null;
    throw error;
  }
}

/** Throws 42501. Common property has administrators for owners. */
export function requireOwner({ id, what, name }: Pick<Subject, "id" | "what" | "name">, env: BindEnvironment): void {
  if (!rightsIn(env).owns(id)) throw denied(`must be owner of ${what} ${name}`);
}

/** As long as no statement has made a role, and nothing is anybody's, an unknown owner says nothing. */
function isOwnerOfDump(role: AlterOwnerStatement["role"], { catalog }: BindEnvironment): boolean {
  return (
    role.kind === "named" && catalog.roles().length === 0 && !catalog.hasAccess && catalog.role(role.name) === null
  );
}

/** Throws 42501 unless the author may become the role. Null: a dump names it, and there are no roles. */
export function ownerNamed(node: AlterOwnerStatement["role"], env: BindEnvironment): RoleDef | null {
  if (isOwnerOfDump(node, env)) return null;
  const owner = roleNamed(node, env);
  requireMembership(owner, env);
  return owner;
}

function requireMembership(owner: RoleDef, env: BindEnvironment): void {
  const rights = rightsIn(env);
  const mayBe = rights.isSuperuser || membershipsOf(rights.acting.role, env.catalog).has(owner.id);
  if (!mayBe) throw denied(`must be member of role "${owner.name}"`);
}

function withNewOwner(access: AccessDef, owner: RoleDef, subject: Subject, env: BindEnvironment): AccessDef {
  requireOwner(subject, env);
  requireMembership(owner, env);
  return withOwner(access, owner.id);
}

export function bindAlterOwner(node: AlterOwnerStatement, binding: Binding): DdlCommand {
  const { env } = binding;
  const tag = `ALTER ${node.object.replaceAll("_", " ").toUpperCase()}`;
  const subjects = ownedSubjects(node, binding);
  if (subjects === null || isOwnerOfDump(node.role, env)) {
    return { kind: "access", tag, notices: ["OWNER TO has no effect here and was ignored"] };
  }
  const accesses = subjects.map((subject) => {
    const access = accessOf(env.catalog.accessTo(subject.id), subject.id, subject.kind);
    return withNewOwner(access, roleNamed(node.role, env), subject, env);
  });
  return { kind: "access", tag, notices: [], accesses };
}

/** null: of an object that has no owner here. */
function ownedSubjects(
  { object, name, function: fn }: AlterOwnerStatement,
  binding: Binding,
): readonly Subject[] | null {
  if (object === "schema") return [schemaSubject(name.path[0]!, binding.env)];
  if (object === "type" || object === "domain") return typeSubjects(name, object, binding.env);
  if (fn === null) return null;
  const kind = object === "function" || object === "procedure" || object === "aggregate" ? object : "routine";
  const { id, name: own } = findRoutine(fn, kind, binding);
  return [{ id, kind: "function", what: "function", name: own, columns: [] }];
}

/** A range has its multirange with it. Throws 42704, 42809. */
function typeSubjects(name: NameNode, object: "type" | "domain", env: BindEnvironment): readonly Subject[] {
  const subject = typeSubject(name, object, env);
  const type = env.catalog.typeById(subject.id)!;
  if (type.kind === "multirange") {
    const { name: range } = type.range.user!;
    throw sqlError("42809", `cannot alter multirange type ${type.name}`, {
      hint: `You can alter type ${range}, which will alter the multirange type as well.`,
    });
  }
  if (isRowType(type)) {
    throw sqlError("42809", `${type.name} is a table's row type`, { hint: "Use ALTER TABLE instead." });
  }
  return type.kind === "range" ? [subject, { ...subject, id: type.multirange.id }] : [subject];
}
