/** GRANT and REVOKE of privileges, and default privileges. */

import { DEFAULT_SCHEMA } from "../../catalog/catalog-view.js";
import type { DdlCommand } from "../../catalog/ddl-command.js";
import { accessOf, changedGrants } from "../../catalog/grants.js";
import { type GraphTables, graphOf, graphsOf } from "../../catalog/graph.js";
import { isKept, isOfMemories, keptTables } from "../../catalog/kept-tables.js";
import { accessToModel, NOT_NUMBERED } from "../../catalog/model-access.js";
import { membershipsOf, permissionDenied } from "../../catalog/rights.js";
import {
  type AccessDef,
  ALL_PRIVILEGES,
  DATABASE_ID,
  type DefaultAccess,
  type DefaultKind,
  type Grant,
  LANGUAGE_IDS,
  MEMBER_ROLE,
  type ObjectKind,
  PRIVILEGE_LETTERS,
  type Privilege,
  PUBLIC_ID,
  type RoleDef,
  usualGrants,
} from "../../catalog/role.js";
import { sqlError } from "../../protocol/errors.js";
import { isBuiltInType } from "../../query/expr/type-spellings.js";
import { type MarkedName, markedName } from "../parse/access-dialect.js";
import type { DefaultPrivilegesStatement, GrantStatement, PrivilegeNodes } from "../parse/ast-access.js";
import type { NameNode } from "../parse/ast-query.js";
import { lookUpTable } from "./bind-from.js";
import { findRoutine } from "./bind-function-statement.js";
import { denied, granteeNamed, rightsIn, roleNamed } from "./bind-roles.js";
import { findView } from "./bind-view.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { existingType, firstFound } from "./names.js";
import { relationOf } from "./scope.js";

/** Something that privileges are about. */
export interface Subject {
  readonly id: number;
  readonly kind: ObjectKind;
  /** What errors call it. */
  readonly what: string;
  readonly name: string;
  readonly columns: readonly { readonly id: number; readonly name: string }[];
  /** What there is to grant; absent: what objects of its kind have. */
  readonly privileges?: readonly Privilege[];
  /** What is granted whatever the statement says. */
  readonly granted?: Privilege;
}

const OF_COLUMNS: ReadonlySet<Privilege> = new Set(["r", "a", "w", "x"]);

/** A table, a view or a sequence. Throws 42P01. */
export function relationSubject(name: NameNode, binding: Binding): Subject {
  const { env } = binding;
  const view = findView(name, binding);
  if (view !== null) {
    const columns = view.columns.map((column, id) => ({ id, name: column.name }));
    return { id: view.id, kind: "table", what: "view", name: view.name, columns };
  }
  const sequence = firstFound(relationOf(name), env, (schema, own) =>
    env.catalog.table(schema, own) === null ? env.catalog.sequence(schema, own) : null,
  );
  if (sequence !== null)
    return { id: sequence.id, kind: "sequence", what: "sequence", name: sequence.name, columns: [] };
  const table = lookUpTable(name, binding);
  return { id: table.id, kind: "table", what: "table", name: table.name, columns: table.columns };
}

/** As `relationSubject`. Throws 0A000 for a table that a feature keeps for itself, where a grant would be in vain. */
function grantable(name: NameNode, binding: Binding): Subject {
  const subject = relationSubject(name, binding);
  if (!keptTables(binding.env.catalog).has(subject.id)) return subject;
  if (rightsIn(binding.env).isClosed(subject.id)) throw permissionDenied(subject.what, subject.name);
  throw sqlError("0A000", `a feature keeps the table ${subject.name} for itself: who may use it cannot be changed`, {
    hint: "A view of an administrator's can show a part of it, in a tenant that has roles.",
  });
}

/** Throws 3F000. */
export function schemaSubject(name: string, { catalog }: BindEnvironment): Subject {
  const id = catalog.schemaId(name);
  if (id === null) throw sqlError("3F000", `schema "${name}" does not exist`);
  return { id, kind: "schema", what: "schema", name, columns: [] };
}

function subjectsOf({ on, object, isGrant }: GrantStatement, binding: Binding): Subject[] {
  const { env } = binding;
  if (on.kind === "functions") {
    return on.functions.map((signature): Subject => {
      const fn = findRoutine(signature, object === "procedure" ? "procedure" : "routine", binding);
      return { id: fn.id, kind: "function", what: "function", name: fn.name, columns: [] };
    });
  }
  if (on.kind === "all in schema") return on.schemas.flatMap((schema) => allIn(schema, object, isGrant, env));
  if (on.kind === "defaults") throw new Error("default privileges have no subjects");
  if (object === "table" || object === "sequence") {
    return on.names.flatMap((name) => {
      const marked = markedName(name.path[0]!);
      return marked === null ? [grantable(name, binding)] : markedSubjects(marked, isGrant, env);
    });
  }
  if (object === "schema") return on.names.map(({ path }) => schemaSubject(path[0]!, env));
  if (object === "database") return on.names.map(({ path }) => databaseSubject(path[0]!, env));
  if (object === "language") return on.names.map(({ path }) => languageSubject(path[0]!));
  if (object === "type" || object === "domain") return on.names.map((name) => typeSubject(name, object, env));
  const what = UNSUPPORTED[object] ?? object.replaceAll("_", " ");
  throw sqlError("0A000", `privileges on a ${what} are not supported`);
}

/** What the grammar calls otherwise. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  fdw: "foreign-data wrapper",
  largeobject: "large object",
  parameter_acl: "parameter",
};

const OF_GRAPHS: readonly Privilege[] = ["r", "a", "w", "d"];

/** Throws 42704. */
export function markedSubjects(marked: MarkedName, isGrant: boolean, env: BindEnvironment): Subject[] {
  const { catalog } = env;
  switch (marked.kind) {
    case "all graphs":
      return graphsOf(catalog).flatMap((graph) => graphSubjects(graph, isGrant, env));
    case "graph": {
      const graph = graphOf(catalog, marked.name);
      if (graph === null) throw sqlError("42704", `graph "${marked.name}" does not exist`);
      return graphSubjects(graph, isGrant, env);
    }
    case "collection": {
      const table = catalog.table(null, marked.name);
      if (table?.collection === undefined || table.collection.kind === "graph") {
        throw sqlError("42704", `collection "${marked.name}" does not exist`);
      }
      return [grantable({ path: [table.schema, table.name], position: 0 }, { env } as Binding)];
    }
    case "model": {
      const id = accessToModel(catalog, marked.name)?.objectId ?? NOT_NUMBERED;
      return [{ id, kind: "model", what: "model", name: marked.name, columns: [] }];
    }
  }
}

/** Its two tables; who may read them has to reach them, too. */
function graphSubjects({ name, nodes, edges }: GraphTables, isGrant: boolean, { catalog }: BindEnvironment): Subject[] {
  const tables = [nodes, edges].map(({ id }): Subject => {
    return { id, kind: "table", what: "graph", name, columns: [], privileges: OF_GRAPHS };
  });
  const schema = catalog.schemaId(nodes.schema);
  if (!isGrant || schema === null || catalog.accessTo(schema) === null) return tables;
  return [...tables, { id: schema, kind: "schema", what: "graph", name, columns: [], granted: "U" }];
}

/** Throws 0A000. */
function databaseSubject(name: string, { settings }: BindEnvironment): Subject {
  if (name === settings?.database()) return { id: DATABASE_ID, kind: "database", what: "database", name, columns: [] };
  throw sqlError("0A000", `privileges on the database "${name}" cannot be changed in another one`, {
    hint: "Each database has roles and privileges of its own: connect to it to change them.",
  });
}

/** Throws 42704, 42809. */
function languageSubject(name: string): Subject {
  if (name === "c" || name === "internal") {
    throw sqlError("42809", `language "${name}" is not trusted`, {
      detail:
        "GRANT and REVOKE are not allowed on untrusted languages, because only superusers can use untrusted languages.",
    });
  }
  if (name !== "sql" && name !== "plpgsql") throw sqlError("42704", `language "${name}" does not exist`);
  return { id: LANGUAGE_IDS[name], kind: "language", what: "language", name, columns: [] };
}

/** Throws 42704, 42809, 0A000. */
export function typeSubject(name: NameNode, object: "type" | "domain", env: BindEnvironment): Subject {
  if (isBuiltInType(name.path.at(-1)!) && (name.path.length === 1 || name.path[0] === "pg_catalog")) {
    throw sqlError("0A000", "everybody may use built-in types", { hint: "Privileges are about types of the tenant." });
  }
  const { id, kind, name: own } = existingType(name, env);
  if (object === "domain" && kind !== "domain") throw sqlError("42809", `"${own}" is not a domain`);
  return { id, kind: "type", what: "type", name: own, columns: [] };
}

function allIn(schema: string, object: string, isGrant: boolean, env: BindEnvironment): Subject[] {
  schemaSubject(schema, env);
  const { catalog } = env;
  const here = <T extends { readonly schema: string }>(all: readonly T[]) =>
    all.filter((each) => each.schema === schema);
  if (object === "table") {
    const tables = here(catalog.tables().filter((table) => !isKept(table) && !(isGrant && isOfMemories(table)))).map(
      (table): Subject => ({ ...table, kind: "table", what: "table" }),
    );
    const views = here(catalog.views()).map((view): Subject => ({ ...view, kind: "table", what: "view", columns: [] }));
    return [...tables, ...views];
  }
  const listed = object === "sequence" ? here(catalog.sequences()) : here(catalog.functions());
  const kind = object === "sequence" ? "sequence" : "function";
  return listed.map(({ id, name }): Subject => ({ id, name, kind, what: kind, columns: [] }));
}

/** A notice, where GRANT … ON ALL TABLES leaves some out. */
function leftOut({ on, object, isGrant }: GrantStatement, { catalog }: BindEnvironment): string[] {
  const opensAll = isGrant && object === "table" && on.kind === "all in schema" && on.schemas.includes(DEFAULT_SCHEMA);
  if (!opensAll || !catalog.tables().some(isOfMemories)) return [];
  return ["memories are left out: whoever shall read those of a namespace is granted its table _memory_… by name"];
}

/** Throws 0LP01, 42703. */
function privilegesOf(
  nodes: PrivilegeNodes,
  { kind, columns, name: of, what, privileges: own, granted }: Omit<Subject, "id">,
): { readonly privilege: Privilege; readonly columnId?: number }[] {
  if (granted !== undefined) return [{ privilege: granted }];
  return (nodes ?? [{ name: "all", columns: [] }]).flatMap(({ name, columns: named }) => {
    const letter = PRIVILEGE_LETTERS[name];
    if (own !== undefined && (named.length > 0 || (name !== "all" && !own.includes(letter!)))) {
      throw sqlError(
        "0LP01",
        `invalid privilege type ${name.toUpperCase()} for ${named.length > 0 ? "column of a " : ""}${what}`,
      );
    }
    const all = ALL_PRIVILEGES[kind].filter((each) => named.length === 0 || OF_COLUMNS.has(each));
    if (name !== "all" && (letter === undefined || !all.includes(letter))) {
      const where = named.length > 0 ? "column" : kind;
      throw sqlError("0LP01", `invalid privilege type ${name.toUpperCase()} for ${where}`);
    }
    const privileges = name === "all" ? all : [letter!];
    if (named.length === 0) return privileges.map((privilege) => ({ privilege }));
    return named.flatMap((column) => {
      const found = columns.find((each) => each.name === column);
      if (found === undefined) throw sqlError("42703", `column "${column}" of relation "${of}" does not exist`);
      return privileges.map((privilege) => ({ privilege, columnId: found.id }));
    });
  });
}

/** What is taken from PUBLIC is taken from `member`, too: each of them is everybody. */
function granteesOf({ grantees, isGrant }: GrantStatement, env: BindEnvironment): number[] {
  const ids = grantees.map((each) => granteeNamed(each, env));
  return !isGrant && ids.includes(PUBLIC_ID) ? [...ids, MEMBER_ROLE.id] : ids;
}

/** Privileges as `privilegesOf` gives them. */
type Asked = ReturnType<typeof privilegesOf>;

/**
 * Throws 42501 for who has no privilege at all of what the statement is about. As in PostgreSQL
 * (restrict_and_check_grant in src/backend/catalog/aclchk.c) that is the relation, and each column that is named.
 * REVOKE on the relation is about all its columns, those of the system among them.
 */
function requireSome(
  { id, kind, what, name, columns }: Subject,
  asked: Asked,
  granted: Asked,
  isGrant: boolean,
  env: BindEnvironment,
): void {
  const has = (privilege: Privilege, columnId?: number): boolean => {
    const own = env.catalog.accessTo(id) === null ? new Set<number>() : rightsIn(env).columns(id, privilege);
    return own === "all" || (columnId !== undefined && own.has(columnId));
  };
  const whole = asked.filter(({ columnId }) => columnId === undefined);
  const ofColumns = (all: Asked) => all.filter(({ privilege }) => kind === "table" && OF_COLUMNS.has(privilege));
  if (whole.length > 0 && !ALL_PRIVILEGES[kind].some((each) => has(each))) throw permissionDenied(what, name);
  const isOfAll = !isGrant && ofColumns(whole).length > 0;
  const system = isOfAll && what === "table" ? [{ id: -1, name: "tableoid" }] : [];
  const named = isOfAll ? columns : columns.filter((column) => asked.some(({ columnId }) => columnId === column.id));
  for (const column of [...system, ...named]) {
    const mayGrant = ofColumns(granted).some(({ columnId = column.id }) => columnId === column.id);
    if (mayGrant || [...OF_COLUMNS].some((each) => has(each, column.id))) continue;
    throw permissionDenied("column", `"${column.name}" of relation "${name}"`);
  }
}

export function bindGrant(node: GrantStatement, binding: Binding): DdlCommand {
  const { env } = binding;
  const rights = rightsIn(env);
  const grantees = granteesOf(node, env);
  const notices = leftOut(node, env);
  const subjects = subjectsOf(node, binding);
  const accesses = subjects.map((subject): AccessDef => {
    const asked = privilegesOf(node.privileges, subject);
    const found = env.catalog.accessTo(subject.id);
    const before = {
      ...accessOf(found, subject.id, subject.kind),
      ...(subject.kind === "model" && { name: subject.name }),
    };
    // What is everybody's is nobody's to give: only administrators may make it somebody's.
    const isOwner = rights.isSuperuser || (found !== null && rights.owns(subject.id));
    const privileges = isOwner
      ? asked
      : asked.filter(({ privilege, columnId }) => found !== null && rights.mayGrant(subject.id, privilege, columnId));
    if (!isOwner) requireSome(subject, asked, privileges, node.isGrant, env);
    if (privileges.length === 0) {
      notices.push(`no privileges ${node.isGrant ? "were granted for" : "could be revoked for"} "${subject.name}"`);
      return before;
    }
    if (privileges.length < asked.length) {
      notices.push(
        `not all privileges ${node.isGrant ? "were granted for" : "could be revoked for"} "${subject.name}"`,
      );
    }
    const grantor = isOwner ? before.owner : rights.acting.role!.id;
    const { isGrant, option, cascade } = node;
    const grants = changedGrants(before.grants, { isGrant, privileges, grantees, grantor, option, cascade });
    return { ...before, grants };
  });
  const models = subjects.filter(({ kind, id }) => kind === "model" && id === NOT_NUMBERED).map(({ name }) => name);
  return { kind: "access", tag: node.isGrant ? "GRANT" : "REVOKE", notices: [...new Set(notices)], accesses, models };
}

const DEFAULT_KINDS: Readonly<Record<string, DefaultKind>> = {
  table: "table",
  sequence: "sequence",
  function: "function",
  routine: "function",
  schema: "schema",
  type: "type",
};

export function bindDefaultPrivileges(node: DefaultPrivilegesStatement, env: BindEnvironment): DdlCommand {
  const { action, schemas } = node;
  const kind = DEFAULT_KINDS[action.object];
  if (kind === undefined) throw sqlError("0A000", `default privileges on ${action.object}s are not supported`);
  const roles = (node.roles.length === 0 ? [{ kind: "current", name: "" } as const] : node.roles).map((each) =>
    roleNamed(each, env),
  );
  const grantees = granteesOf(action, env);
  const privileges = privilegesOf(action.privileges, { kind, what: kind, columns: [], name: "" });
  const { isGrant, option, cascade } = action;
  for (const schema of schemas) schemaSubject(schema, env);
  const changed = roles.map((role): RoleDef => {
    const rights = rightsIn(env);
    if (!rights.isSuperuser && (role.id < 0 || !membershipsOf(rights.acting.role, env.catalog).has(role.id)))
      throw denied("permission denied to change default privileges");
    let { defaults = [] } = role;
    for (const schema of schemas.length === 0 ? [null] : schemas) {
      const found = defaults.find((each) => each.kind === kind && each.schema === schema);
      const before: readonly Grant[] = found?.grants ?? (schema === null ? usualGrants(kind, role.id) : []);
      const change = { isGrant, privileges, grantees, grantor: role.id, option, cascade };
      const next: DefaultAccess = { kind, schema, grants: changedGrants(before, change) };
      defaults = [...defaults.filter((each) => each !== found), next];
    }
    return { ...role, defaults };
  });
  return { kind: "access", tag: "ALTER DEFAULT PRIVILEGES", notices: [], roles: changed };
}
