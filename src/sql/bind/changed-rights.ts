/**
 * Whether a statement may change a relation, and which rows: privileges of the relation that it names and of what is
 * behind a view, and the policies of the table as conditions of old rows and checks of new ones.
 */
import type { Privilege } from "../../catalog/role.js";
import type { Expr } from "../../query/expr/expr.js";
import type { MergeAction, OnConflict } from "../../query/plan/change-plans.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import type { Binding } from "./binding.js";
import { ANY_COLUMN, type ChangedRelation } from "./changed-relation.js";
import { checkedRights, requireChange, requireReadable } from "./relation-rights.js";
import { existingChecks, policyChecks, policyFilter } from "./row-security.js";

const PRIVILEGES = { insert: "a", update: "w", delete: "d" } as const;

type Command = keyof typeof PRIVILEGES;

/** Throws 42501. `columns`: ids of the face's columns that get values; null: the command is about whole rows. */
export function requireChanges(
  relation: ChangedRelation,
  command: Command,
  columns: readonly number[] | null,
  binding: Binding,
): void {
  const { face, table, views, rights } = relation;
  note(table.id, columns ?? [], binding);
  if (checkedRights(binding.env) === null) return;
  const privilege: Privilege = PRIVILEGES[command];
  if (views.length === 0) {
    requireChange(face, privilege, columns, "table", binding.env);
    return;
  }
  views.forEach(({ view, env, bases }, i) => {
    // Columns of a view go by their places; of the named one they may be several of one of the table's.
    const ids = columns === null || i === 0 ? face.columns.map(({ id }) => id) : bases();
    requireChange(view, privilege, columns?.map((id) => ids.indexOf(id)) ?? null, "view", env);
  });
  if (rights !== null) requireChange(table, privilege, columns, "table", { ...binding.env, rights });
}

function note(tableId: number, columns: readonly number[], { noted: { changed } }: Binding): void {
  const known = changed.get(tableId);
  if (known === undefined) changed.set(tableId, new Set(columns));
  else for (const id of columns) known.add(id);
}

/** Throws 42501 where what the statement computes reads columns of the row that its role may not read. */
export function requireReads(
  relation: ChangedRelation,
  row: readonly OutputColumn[],
  exprs: readonly (Expr | null)[],
  binding: Binding,
): void {
  const { table, views, rights } = relation;
  if (checkedRights(binding.env) === null) return;
  for (const { view, env } of views) {
    // Whoever may not read all of a view changes rows only without looking at them.
    requireReadable({ ...table, id: view.id, name: view.name, columns: table.columns }, row, exprs, env, "view");
  }
  if (rights !== null) requireReadable(table, row, exprs, { ...binding.env, rights });
}

/** Whoever looks at rows through a view needs its owner to see all columns that the view is made of. Throws 42501. */
export function requireViewed(relation: ChangedRelation, row: readonly OutputColumn[], binding: Binding): void {
  const { table, views, rights, over } = relation;
  if (rights === null || views.length === 0) return;
  const { item, conditions } = over(table.name, row, () => ANY_COLUMN);
  const read = [...item.columns.map(({ expr }) => expr), ...conditions.map(({ predicate }) => predicate)];
  requireReadable(table, row, read, { ...binding.env, rights });
}

/** Whether policies decide about new rows of the table. What rules do instead has checks of its own. */
function isRestricted({ table, rights, instead }: ChangedRelation): boolean {
  return instead === undefined && rights?.isRestricted(table.id) === true;
}

/** The rows that the statement, or the rules that do its work, may find. `reads`: it also looks at them. */
export function foundRows(
  relation: ChangedRelation,
  rows: { readonly plan: Plan; readonly columns: readonly OutputColumn[] },
  command: "update" | "delete",
  reads: boolean,
  binding: Binding,
): Plan {
  const { rights } = relation;
  if (!rights?.isRestricted(relation.table.id)) return rows.plan;
  const commands = reads ? (["select", command] as const) : [command];
  return binding.within({ ...binding.env, rights }, () =>
    policyFilter(relation.table, rows, commands, rights, binding),
  );
}

/** The relation with the table's policies among the checks of new rows. */
export function withPolicies(
  relation: ChangedRelation,
  command: "insert" | "update",
  reads: boolean,
  binding: Binding,
): ChangedRelation {
  if (!isRestricted(relation)) return relation;
  const rights = relation.rights!;
  return {
    ...relation,
    over: (name, columns, rowKey) => {
      const row = relation.over(name, columns, rowKey);
      const policies = binding.within({ ...binding.env, rights }, () =>
        policyChecks(relation.table, columns, command, reads, rights, binding),
      );
      return { ...row, checks: [...policies, ...row.checks] };
    },
  };
}

/** What ON CONFLICT DO UPDATE asks of the stored row and of what becomes of it; undefined: no policy decides. */
export function conflictPolicies(
  relation: ChangedRelation,
  existing: readonly OutputColumn[],
  row: readonly OutputColumn[],
  binding: Binding,
): OnConflict["policies"] {
  if (!isRestricted(relation)) return undefined;
  const { table } = relation;
  const rights = relation.rights!;
  return binding.within({ ...binding.env, rights }, () => ({
    using: existingChecks(table, existing, ["update", "select"], true, rights, binding),
    checks: policyChecks(table, row, "update", true, rights, binding),
  }));
}

/** The rows that MERGE may match: those that the role sees. What an action does with one is asked of each. */
export function matchedRows(
  relation: ChangedRelation,
  rows: { readonly plan: Plan; readonly columns: readonly OutputColumn[] },
  binding: Binding,
): Plan {
  if (!isRestricted(relation)) return rows.plan;
  const rights = relation.rights!;
  return binding.within({ ...binding.env, rights }, () =>
    policyFilter(relation.table, rows, ["select"], rights, binding),
  );
}

/**
 * What the actions of MERGE ask of the old row and of the new one; null: no policy decides. As in PostgreSQL a row that
 * is inserted need only be seen where RETURNING shows it, and the role may do what all policies do, whichever action
 * there is.
 */
export function actionPolicies(
  relation: ChangedRelation,
  existing: readonly OutputColumn[],
  row: readonly OutputColumn[],
  returns: boolean,
  binding: Binding,
): Readonly<Record<Command, NonNullable<MergeAction["policies"]>>> | null {
  if (!isRestricted(relation)) return null;
  const { table } = relation;
  const rights = relation.rights!;
  const using = (command: Command) => existingChecks(table, existing, [command], "target", rights, binding);
  const checks = (command: "insert" | "update", reads: boolean) =>
    policyChecks(table, row, command, reads, rights, binding);
  return binding.within({ ...binding.env, rights }, () => ({
    insert: { using: [], checks: checks("insert", returns) },
    update: { using: using("update"), checks: checks("update", true) },
    delete: { using: using("delete"), checks: [] },
  }));
}

/** Whether any column is named in a part of a statement. */
export function namesColumns(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  if ("kind" in node && (node.kind === "column" || node.kind === "subquery")) return true;
  return Object.values(node).some(namesColumns);
}
