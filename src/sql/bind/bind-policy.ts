/** CREATE, ALTER and DROP POLICY. */
import type { DdlCommand } from "../../catalog/ddl-command.js";
import { accessOf } from "../../catalog/grants.js";
import { functionsOf } from "../../catalog/kept-query.js";
import { type AccessDef, type PolicyCondition, type PolicyDef, PUBLIC_ID } from "../../catalog/role.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { DropPolicyStatement, PolicyStatement, RenamePolicyStatement } from "../parse/ast-access.js";
import type { ExprNode, NameNode } from "../parse/ast-query.js";
import { contextOf } from "./bind-context.js";
import { bindBoolean } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import { requireOwner } from "./bind-owner.js";
import { granteeNamed } from "./bind-roles.js";
import { findView } from "./bind-view.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { RelationRecorder } from "./relation-recorder.js";
import { itemOf } from "./row-item.js";
import { Scope } from "./scope.js";
import { filtered, ONE_ROW } from "./source.js";
import { rowColumnsOf } from "./stored-row.js";
import { exactText } from "./stored-text.js";

/**
 * The table that the statement is about, and who may do what with it. Throws 42501 unless the session owns it, which
 * does not matter where a policy that must not be there is not.
 */
function target(
  name: NameNode,
  binding: Binding,
  absent: string | null = null,
): { readonly table: TableDef; readonly access: AccessDef } {
  const view = findView(name, binding);
  if (view !== null) throw sqlError("42809", `"${view.name}" is not a table`);
  const table = lookUpTable(name, binding);
  if (table.materialized) throw sqlError("42809", `"${table.name}" is not a table`);
  const access = accessOf(binding.env.catalog.accessTo(table.id), table.id, "table");
  const isAbsent = absent !== null && !access.policies?.some((policy) => policy.name === absent);
  if (!isAbsent) requireOwner({ id: table.id, what: "table", name: table.name }, binding.env);
  return { table, access };
}

function changed(
  access: AccessDef,
  policies: readonly PolicyDef[],
  tag: string,
  others: readonly AccessDef[] = [],
): DdlCommand {
  const sorted = [...policies].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { kind: "access", tag, notices: [], accesses: [{ ...access, policies: sorted }, ...others] };
}

/** Functions and types that nobody owns become the administrators': who could change one could open the table. */
function claimed({ using, check }: PolicyDef, { catalog }: BindEnvironment): AccessDef[] {
  const called = new Set([using, check].flatMap((condition) => (condition === null ? [] : functionsOf(condition))));
  return [...called].flatMap((id) => {
    if (catalog.accessTo(id) !== null) return [];
    if (catalog.functionById(id) !== null) return accessOf(null, id, "function");
    return catalog.typeById(id) === null ? [] : accessOf(null, id, "type");
  });
}

export function bindPolicy(node: PolicyStatement, binding: Binding): DdlCommand {
  const { table, access } = target(node.table, binding);
  const { policies = [] } = access;
  const before = policies.find(({ name }) => name === node.name);
  const isNew = node.kind === "create policy";
  if (isNew && before !== undefined) {
    throw sqlError("42710", `policy "${node.name}" for table "${table.name}" already exists`);
  }
  if (!isNew && before === undefined) throw noPolicy(node.name, table);
  const command = before?.command ?? node.command;
  if (node.using !== null && command === "insert") {
    throw sqlError("42601", "only WITH CHECK expression allowed for INSERT");
  }
  if (node.check !== null && (command === "select" || command === "delete")) {
    throw sqlError("42601", "WITH CHECK cannot be applied to SELECT or DELETE");
  }
  const roles = node.roles === null ? (before?.roles ?? [PUBLIC_ID]) : granted(node, binding);
  const policy: PolicyDef = {
    name: node.name,
    permissive: before?.permissive ?? node.permissive,
    command,
    roles,
    using: node.using === null ? (before?.using ?? null) : condition(node.using, node, table, binding),
    check: node.check === null ? (before?.check ?? null) : condition(node.check, node, table, binding),
  };
  const others = policies.filter((other) => other !== before);
  const tag = isNew ? "CREATE POLICY" : "ALTER POLICY";
  return changed(access, [...others, policy], tag, claimed(policy, binding.env));
}

const noPolicy = (name: string, table: TableDef) =>
  sqlError("42704", `policy "${name}" for table "${table.name}" does not exist`);

function granted({ roles }: PolicyStatement, { env }: Binding): number[] {
  const ids = roles!.map((role) => granteeNamed(role, env));
  return ids.includes(PUBLIC_ID) ? [PUBLIC_ID] : [...new Set(ids)];
}

/** The condition by the names of now, once it is proven to bind. */
function condition(expr: ExprNode, node: PolicyStatement, table: TableDef, binding: Binding): PolicyCondition {
  const { env } = binding;
  const relations = new RelationRecorder(env.catalog);
  const plan = binding.within({ ...env, catalog: relations.catalog }, () => {
    relations.catalog.table(table.schema, table.name);
    const scope = new Scope(null);
    scope.items = [{ ...itemOf(table, table.name, rowColumnsOf(table, binding)), own: table.id }];
    const predicate = bindBoolean(expr, "POLICY", contextOf(binding, scope, "policy expressions"));
    // It reads nothing now: each query that it becomes part of is asked.
    binding.deniedSettled = true;
    return filtered(ONE_ROW, predicate);
  });
  if (binding.parameterTypes().length > 0) throw sqlError("42P02", "there is no parameter $1");
  const kept = exactText(node.text, { tree: expr, origin: node.position }, binding.noted);
  return { ...kept, searchPath: env.searchPath, relations: relations.list([plan]) };
}

export function bindDropPolicy(node: DropPolicyStatement, binding: Binding): DdlCommand {
  const { table, access } = target(node.table, binding, node.ifExists ? node.name : null);
  const { policies = [] } = access;
  const left = policies.filter(({ name }) => name !== node.name);
  if (left.length < policies.length) return changed(access, left, "DROP POLICY");
  if (!node.ifExists) throw noPolicy(node.name, table);
  const notices = [`policy "${node.name}" for relation "${table.name}" does not exist, skipping`];
  return { kind: "access", tag: "DROP POLICY", notices };
}

export function bindRenamePolicy(node: RenamePolicyStatement, binding: Binding): DdlCommand {
  const { table, access } = target(node.table, binding);
  const { policies = [] } = access;
  if (!policies.some(({ name }) => name === node.name)) throw noPolicy(node.name, table);
  if (policies.some(({ name }) => name === node.newName)) {
    throw sqlError("42710", `policy "${node.newName}" for table "${table.name}" already exists`);
  }
  const renamed = policies.map((policy) => (policy.name === node.name ? { ...policy, name: node.newName } : policy));
  return changed(access, renamed, "ALTER POLICY");
}
