/** Procedures about the session of Bolt that calls them: what it says of its transaction, and where it may connect. */
import { type Procedure, tableProcedure } from "../../cypher/bind/procedure.js";
import { filtered } from "../../cypher/bind/rows.js";
import { INTEGER, listOf, MAP, STRING } from "../../cypher/bind/static-type.js";
import { isNull } from "../../cypher/bind/variables.js";
import { Capability, need } from "../../query/expr/capability.js";
import { recordRows, type TableFunction } from "../../query/expr/table-function.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { AskingStatement } from "../../session/capabilities.js";
import type { Client } from "../../session/statement-run.js";
import { cypherError } from "../../values/cypher-error.js";
import { recordOf, VARIANT, type Value } from "../../values/values.js";
import type { Variant, VariantMap } from "../../values/variant.js";
import { LiveBoltSession, type WatchedBolt } from "./live-bolt-session.js";

export const CALLING_SESSION = new Capability<WatchedBolt>("Only a session of Bolt can call this procedure.");

/** Null: the statement was sent in another way. */
export function callingSession(statement: AskingStatement): WatchedBolt | null {
  const clients = new Set<unknown>();
  for (let client: Client | null = statement.client; client !== null; client = client.standsFor ?? null) {
    clients.add(client);
  }
  for (const live of statement.liveSessions()) {
    if (live instanceof LiveBoltSession && clients.has(live.bolt.client)) return live.bolt;
  }
  return null;
}

const rowOf = (...names: readonly string[]) => recordOf(names.map((name) => ({ name, type: VARIANT })));

function mapIn(name: string, value: Value | undefined): VariantMap {
  if (value instanceof Map) return value as VariantMap;
  throw cypherError("TypeError", "InvalidArgumentType", `${name}() takes a map`);
}

const SET: TableFunction = {
  name: "set_transaction_metadata",
  args: [VARIANT],
  returns: rowOf("metadata"),
  strict: false,
  open: (context, [given]) => {
    const metadata = mapIn("tx.setMetaData", given);
    need(context, CALLING_SESSION).open!.metadata = metadata;
    return recordRows([[metadata as unknown as Value]]);
  },
};

const GET: TableFunction = {
  name: "transaction_metadata",
  args: [],
  returns: rowOf("metadata"),
  strict: false,
  open: (context) => recordRows([[need(context, CALLING_SESSION).open!.metadata as unknown as Value]]),
};

const routes = (count: number): TableFunction => ({
  name: "routing_table",
  args: Array.from({ length: count }, () => VARIANT),
  returns: rowOf("ttl", "servers"),
  strict: false,
  open: (context, [asked, database = null]) => {
    mapIn("dbms.routing.getRoutingTable", asked);
    if (database !== null && typeof database !== "string") {
      throw cypherError("TypeError", "InvalidArgumentType", "the name of a database is a string");
    }
    const { ttl, servers } = need(context, CALLING_SESSION).routingTable(database);
    const listed = servers.map(
      ({ role, addresses }): Variant =>
        new Map<string, Variant>([
          ["addresses", addresses],
          ["role", role],
        ]),
    );
    return recordRows([[ttl, listed as unknown as Value]]);
  },
});

const ROUTES = [routes(1), routes(2)];

const METADATA = { name: "metadata", type: MAP };

const routingTable = (name: string): Procedure => {
  const signature = {
    name,
    description: "Where a client may connect to for a database, as drivers ask.",
    inputs: [
      { name: "context", type: MAP, optional: false },
      { name: "database", type: STRING, optional: true },
    ],
    outputs: [
      { name: "ttl", type: INTEGER },
      { name: "servers", type: listOf(MAP) },
    ],
  };
  return {
    ...signature,
    rows: (args, statement) => tableProcedure(signature, ROUTES[args.length - 1]!).rows(args, statement),
  };
};

const SETTING = {
  name: "tx.setMetaData",
  description: "Says of the transaction what SHOW TRANSACTIONS shows as metaData, in place of what was said.",
  inputs: [{ name: "data", type: MAP, optional: false }],
  outputs: [METADATA],
};

export const SESSION_PROCEDURES: readonly Procedure[] = [
  {
    ...SETTING,
    outputs: [],
    acts: true,
    rows: (args, statement) => {
      const set = tableProcedure(SETTING, SET).rows(args, statement);
      return filtered(set, isNull(columnExpr(set.columns[0]!)));
    },
  },
  tableProcedure(
    {
      name: "tx.getMetaData",
      description: "What was said of the transaction, as SHOW TRANSACTIONS shows it.",
      inputs: [],
      outputs: [METADATA],
    },
    GET,
  ),
  routingTable("dbms.routing.getRoutingTable"),
  routingTable("dbms.cluster.routing.getRoutingTable"),
];
