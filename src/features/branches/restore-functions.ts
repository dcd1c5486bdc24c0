/**
 * RESTORE TABLE and RESTORE GRAPH: calls of this function (sql/parse/restore-statements.ts), with the rights of POST
 * /v1/history/undo. What is written is written in the transaction of the statement.
 */
import Type from "typebox";
import { CALLER, type Request } from "../../actor/request.js";
import { requireDoor } from "../../actor/table-doors.js";
import { DEFAULT_GRAPH, graphOf } from "../../catalog/graph.js";
import { TablesToRestore } from "../../protocol/endpoints/branches.js";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
import { need } from "../../query/expr/capability.js";
import type { DeferredContext, ScalarFunction } from "../../query/expr/expr.js";
import { deferredFn } from "../../query/expr/functions/define.js";
import { stampOfMoment } from "../../session/as-of.js";
import { readCallOptions } from "../../session/call-options.js";
import { isAdministrator } from "../../session/owner.js";
import type { CommitStamp } from "../../storage/operation.js";
import type { ShardTransaction } from "../../storage/transaction.js";
import { INT8, JSONB, Json, TIMESTAMPTZ, type Value } from "../../values/values.js";
import { shownName } from "./row-changes.js";
import { rowsToWrite, undo } from "./undo.js";

const WANTED = Strict({
  tables: Type.Optional(TablesToRestore),
  /** Null: the one without a name. */
  graph: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  where: Type.Optional(Type.String({ minLength: 1 })),
  dry_run: Type.Optional(Type.Boolean()),
});

/** Rows that EXPLAIN RESTORE shows. */
const ROWS_SHOWN = 1000;

type RestoreContext = ExecContext & DeferredContext;

async function restore(
  [[given], [sequence], [time]]: readonly (readonly Value[])[],
  context: RestoreContext,
): Promise<Json> {
  const request = need(context, CALLER);
  requireRights(request, context);
  const wanted = readCallOptions("RESTORE", WANTED, given as Json | null);
  const tx = (context.live ?? context.tx) as ShardTransaction;
  if (tx.dirty) throw sqlError("25001", "RESTORE must come before anything else that its transaction writes");
  const names = wanted.tables ?? tablesOfGraph(context, wanted.graph ?? DEFAULT_GRAPH);
  const { where } = wanted;
  if (where !== undefined && names.length > 1) throw sqlError("0A000", "RESTORE … WHERE is for one table at a time");
  const stamp = momentOf(request, sequence ?? null, time ?? null);
  if (wanted.dry_run === true) return new Json(await shown(request, names, stamp, where));
  tx.guardReads(true);
  try {
    const restoring = { names, stamp, where, rowsMax: 0 };
    const { merge, tables } = await rowsToWrite(request, context, restoring);
    await merge.write(() => context.yieldTurn());
    // Rows without primary key may have come back above those that were there.
    tx.whenEnded(() => request.partition.rowNumbers.lookAgain(request.tenant.number));
    const none = { added: 0, removed: 0, changed: 0 };
    return new Json(tables.map((table) => ({ table: shownName(table), ...(merge.countsOf.get(table) ?? none) })));
  } finally {
    tx.guardReads(false);
  }
}

/** Those of the route: of an administrator who may see all of the tenant, and who is nobody else at the moment. */
function requireRights(request: Request, { services }: RestoreContext): void {
  if (!isAdministrator(request)) {
    throw new DbError("forbidden", "Only admins of the tenant have permission to restore rows.", { sqlstate: "42501" });
  }
  requireDoor(request, "all", "RESTORE");
  if ((services.setting("role") ?? "none") === "none") return;
  throw sqlError("42501", "permission denied to restore rows as another role", { hint: "RESET ROLE first." });
}

function tablesOfGraph(context: RestoreContext, name: string): readonly string[] {
  const graph = graphOf(context.services.catalogView(), name);
  if (graph === null) throw sqlError("42P01", `graph "${name}" does not exist`);
  return [graph.nodes, graph.edges].map(shownName);
}

function momentOf({ tenant }: Request, sequence: Value, time: Value): CommitStamp {
  if (sequence !== null) return stampOfMoment(tenant, { sequence: Number(sequence) });
  if (time !== null) return stampOfMoment(tenant, { micros: Number(time) });
  throw sqlError("22004", "the moment of AS OF must not be null");
}

/** What would be written: constraints are checked, and nothing stays. */
async function shown(request: Request, names: readonly string[], { sequence }: CommitStamp, where?: string) {
  const wanted = { tables: [...names], as_of: sequence, dry_run: true, ...(where !== undefined && { where }) };
  const { plain } = await undo(request, wanted, () => undefined, ROWS_SHOWN);
  const more = plain.added + plain.removed + plain.changed - plain.rows.length;
  return more === 0 ? plain.rows : [...plain.rows, { table: null, change: `and ${more} more` }];
}

async function restoreRows(columns: readonly (readonly Value[])[], count: number, context: DeferredContext) {
  const values: Value[] = [];
  for (let i = 0; i < count; i++) {
    const row = columns.map((column) => [column[i]!]);
    values.push(await restore(row, context as RestoreContext));
  }
  return values;
}

const restoreFunction: ScalarFunction = deferredFn("restore_rows", [JSONB, INT8, TIMESTAMPTZ], JSONB, restoreRows, {
  rowsMax: 1,
  strict: false,
});

export const RESTORE_FUNCTIONS: readonly ScalarFunction[] = [
  Object.freeze({ ...restoreFunction, writes: true as const }),
];
