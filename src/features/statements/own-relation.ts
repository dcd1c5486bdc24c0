/** Makes the relations in which users see what is their own of a table that a feature keeps (own-relations.ts). */
import { CALLER, type Request } from "../../actor/request.js";
import { DEFAULT_SCHEMA } from "../../catalog/catalog-view.js";
import type { ExecContext } from "../../query/exec/context.js";
import { need } from "../../query/expr/capability.js";
import type { EvalContext } from "../../query/expr/expr.js";
import { MadeRows, type TableFunction } from "../../query/expr/table-function.js";
import { notSent } from "../../sql/bind/system/own-relations.js";
import { SYSTEM } from "../../sql/bind/system/system-view.js";
import { recordOf, type SqlType, type Value } from "../../values/values.js";

type Rows = readonly (readonly Value[])[];

/** Runs a statement of the feature's own, as far as the session's rights reach beside the tables that it keeps. */
export type AskOwn = (sql: string, params: readonly Value[]) => Promise<Rows>;

interface OwnRelation {
  readonly name: string;
  readonly columns: Readonly<Record<string, SqlType>>;
  /** In `public`: without it there are no rows. */
  readonly table: string;
  readonly rows: (ask: AskOwn, request: Request, context: ExecContext) => Promise<Rows>;
}

export function ownRelation({ name, columns, table, rows }: OwnRelation): TableFunction {
  const made = async (context: ExecContext): Promise<Rows> => {
    const request = need(context, CALLER);
    // A plan is known by its text: recipes and agents may have the same.
    if (request.ofAgent || !need(context, SYSTEM).isClients()) throw notSent(name);
    if (context.services.catalogView().table(DEFAULT_SCHEMA, table) === null) return [];
    const ask: AskOwn = async (sql, params) =>
      (await context.services.runStatement(sql, params, Number.MAX_SAFE_INTEGER, context, true)).rows;
    return rows(ask, request, context);
  };
  return Object.freeze({
    name,
    args: [],
    returns: recordOf(Object.entries(columns).map(([column, type]) => ({ name: column, type }))),
    strict: false,
    open: (context: EvalContext) => new MadeRows(() => made(context as ExecContext)),
  });
}

/** Of the rows of a table that have the user's id; `from`: where they are, if that is more than the table. */
export function rowsOfUser(
  table: string,
  columns: OwnRelation["columns"],
  from = `public."${table}" AS kept WHERE kept.user_id = $1::text`,
): TableFunction {
  const list = Object.keys(columns).map((column) => `kept."${column}"`);
  return ownRelation({
    name: `tessera${table}`,
    columns,
    table,
    rows: (ask, { head }) => ask(`SELECT ${list.join(", ")} FROM ${from}`, [head.userId]),
  });
}
