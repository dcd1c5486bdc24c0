/**
 * SHOW TRANSACTIONS and TERMINATE TRANSACTIONS, with Neo4j's columns, over the tenant's live sessions. A caller sees
 * its own transactions, an administrator of the tenant all of them.
 */
import { callerOf } from "../../actor/request.js";
import { type Procedure, tableProcedure } from "../../cypher/bind/procedure.js";
import type { ProcedureField } from "../../cypher/bind/procedure-catalog.js";
import { listOf, MAP, STRING, TEMPORAL } from "../../cypher/bind/static-type.js";
import { DbError } from "../../protocol/errors.js";
import { Capability, need } from "../../query/expr/capability.js";
import { recordRows, type TableFunction } from "../../query/expr/table-function.js";
import type { AskingStatement } from "../../session/capabilities.js";
import { mayUse } from "../../session/owner.js";
import type { LiveSession, LiveTransaction } from "../../sql/bind/system/system-view.js";
import { Duration } from "../../values/temporal.js";
import { recordOf, VARIANT, type Value } from "../../values/values.js";
import type { Variant } from "../../values/variant.js";

interface Running {
  readonly session: LiveSession;
  readonly transaction: LiveTransaction;
}

/** Those that the caller may see and end. */
type Transactions = () => readonly Running[];

export const TRANSACTIONS = new Capability<Transactions>("Only a request can list the transactions of its tenant.");

/** Null: the statement runs for no request. */
export function transactionsFor(statement: AskingStatement): Transactions | null {
  const asker = callerOf(statement.client);
  if (asker === null) return null;
  return () =>
    [...statement.liveSessions()].flatMap((session) => {
      const { transaction, owner } = session;
      return transaction !== null && mayUse(asker, owner) ? [{ session, transaction }] : [];
    });
}

const text = (name: string): ProcedureField => ({ name, type: STRING });

const COLUMNS: readonly (readonly [ProcedureField, (running: Running) => Variant])[] = [
  [text("database"), ({ transaction }) => transaction.database],
  [text("transactionId"), ({ transaction }) => transaction.id],
  [text("currentQueryId"), queryId],
  [text("connectionId"), ({ session }) => `${session.protocol}-${session.number}`],
  [text("clientAddress"), ({ session }) => session.address],
  [text("username"), ({ session }) => session.user],
  [text("currentQuery"), ({ session }) => (session.state === "active" ? session.statement : "")],
  [text("startTime"), ({ session }) => time(session.transactionMicros)],
  [text("status"), ({ transaction }) => transaction.status],
  [{ name: "elapsedTime", type: TEMPORAL }, ({ session }) => since(session.transactionMicros)],
  [onDemand(text("protocol")), ({ session }) => session.protocol],
  [onDemand({ name: "metaData", type: MAP }), ({ transaction }) => transaction.metadata],
  [onDemand({ name: "parameters", type: MAP }), ({ transaction }) => transaction.parameters],
  [onDemand(text("currentQueryStartTime")), ({ session }) => ofQuery(session, time)],
  [onDemand({ name: "currentQueryElapsedTime", type: TEMPORAL }), ({ session }) => ofQuery(session, since)],
];

function onDemand(field: ProcedureField): ProcedureField {
  return { ...field, onDemand: true };
}

/** Null: none runs. */
function ofQuery(session: LiveSession, of: (micros: number | null) => Variant): Variant {
  return session.state === "active" ? of(session.statementMicros) : null;
}

function queryId({ session, transaction }: Running): string {
  return session.state === "active" ? `query-${transaction.id}-${transaction.query}` : "";
}

function time(micros: number | null): Variant {
  return micros === null ? null : new Date(micros / 1000).toISOString();
}

function since(micros: number | null): Variant {
  if (micros === null) return null;
  const ms = Math.max(0, Date.now() - Math.floor(micros / 1000));
  return new Duration(0, 0, Math.floor(ms / 1000), (ms % 1000) * 1_000_000);
}

function idsIn(given: Value): readonly string[] {
  const ids: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (ids.length > 0 && ids.every((id): id is string => typeof id === "string")) return ids;
  throw new DbError("invalid_request", "Ids of transactions are strings, as SHOW TRANSACTIONS gives them.");
}

const rowOf = (fields: readonly ProcedureField[]) => recordOf(fields.map(({ name }) => ({ name, type: VARIANT })));

function listing(count: number): TableFunction {
  return {
    name: "show_transactions",
    args: Array.from({ length: count }, () => VARIANT),
    returns: rowOf(COLUMNS.map(([field]) => field)),
    strict: false,
    open: (context, [given = null]) => {
      const wanted = given === null ? null : new Set(idsIn(given));
      const listed = need(context, TRANSACTIONS)().filter(({ transaction }) => wanted?.has(transaction.id) ?? true);
      return recordRows(listed.map((running) => COLUMNS.map(([, cell]) => cell(running) as Value)));
    },
  };
}

const LISTS = [listing(0), listing(1)];

const ENDED = [text("transactionId"), text("username"), text("message")];

const TERMINATE: TableFunction = {
  name: "terminate_transactions",
  args: [VARIANT],
  returns: rowOf(ENDED),
  strict: false,
  open: (context, [given = null]) => {
    const byId = new Map(need(context, TRANSACTIONS)().map((running) => [running.transaction.id, running]));
    const rows = idsIn(given).map((id) => {
      const found = byId.get(id);
      if (found === undefined) return [id, null, "Transaction not found."];
      if (found.transaction.status === "Terminated") {
        return [id, found.session.user, "Unable to terminate terminating transactions."];
      }
      found.transaction.terminate();
      return [id, found.session.user, "Transaction terminated."];
    });
    return recordRows(rows);
  },
};

const IDS = { name: "ids", type: listOf(STRING) };
const SHOWN = {
  name: "dbms.listTransactions",
  description:
    "The open transactions of Bolt and PostgreSQL's protocol: your own, for administrators all of the tenant.",
  inputs: [{ ...IDS, optional: true }],
  outputs: COLUMNS.map(([field]) => field),
};

export const TRANSACTION_PROCEDURES: readonly Procedure[] = [
  {
    ...SHOWN,
    rows: (args, statement) => tableProcedure(SHOWN, LISTS[args.length]!).rows(args, statement),
  },
  tableProcedure(
    {
      name: "dbms.killTransactions",
      description: "Ends transactions by their ids, as TERMINATE TRANSACTIONS does.",
      inputs: [{ ...IDS, optional: false }],
      outputs: ENDED,
    },
    TERMINATE,
  ),
];
