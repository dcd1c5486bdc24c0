/** LOCK TABLE: which tables it locks. Called by bind-statement.ts. */
import { permissionDenied } from "../../catalog/rights.js";
import type { TableDef } from "../../catalog/table.js";
import { storageOf } from "../../catalog/table.js";
import type { ViewDef } from "../../catalog/view.js";
import { tablesOf } from "../../query/plan/read-tables.js";
import type { LockStatement } from "../parse/ast-definitions.js";
import { lookUpTable } from "./bind-from.js";
import { descendantsOf } from "./bind-scan.js";
import { bindViewQuery, findView } from "./bind-view.js";
import type { Binding } from "./binding.js";
import type { BoundLock } from "./bound-statement.js";
import { checkedRights, requireSchema } from "./relation-rights.js";

/** Those that inherit from a table are locked with it; of a view, the tables that it reads. */
export function bindLock(node: LockStatement, binding: Binding): BoundLock {
  const { mode, nowait } = node;
  const tables = node.tables.flatMap((name) => {
    const view = findView(name, binding);
    if (view !== null) {
      requireLock("view", view, node, binding);
      return [...tablesOf(bindViewQuery(view, view.query, binding).plan).values()];
    }
    const table = lookUpTable(name, binding);
    requireLock("table", table, node, binding);
    return [table, ...descendantsOf(table, binding.env)];
  });
  return {
    kind: "lock",
    mode,
    nowait,
    tables: tables.map((table) => ({ storage: storageOf(table), name: table.name })),
  };
}

/** Throws 42501 for a relation whose rows the statement's role may not read, or change, as the mode wants it. */
function requireLock(
  kind: "table" | "view",
  { id, schema, name }: TableDef | ViewDef,
  { mode }: LockStatement,
  { env }: Binding,
): void {
  const rights = checkedRights(env);
  if (rights === null) return;
  requireSchema(schema, env, rights);
  const wanted = mode === "access share" ? READS : mode === "row exclusive" ? [...CHANGES, "a" as const] : CHANGES;
  if (!wanted.some((privilege) => rights.may(id, privilege))) throw permissionDenied(kind, name);
}

const READS = ["r"] as const;
const CHANGES = ["w", "d", "D"] as const;
