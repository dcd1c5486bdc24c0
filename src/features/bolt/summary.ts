/** What the SUCCESS after a statement's last row says about it. */
import { type BoltVersion, isSince } from "../../protocol/bolt/message-tags.js";
import type { PackValue } from "../../protocol/bolt/pack-writer.js";
import type { GraphStats } from "../../session/sql-result.js";
import type { BoundStatement } from "../../sql/bind/bound-statement.js";
import { isProfiled, planTree } from "./plan-tree.js";

export interface Facts {
  readonly bound: BoundStatement;
  readonly version: BoltVersion;
  readonly database: string;
  readonly stats: GraphStats | null;
  readonly notices: readonly string[];
  /** Of EXPLAIN and PROFILE; null: the statement is neither. */
  readonly explained: string | null;
  /** Whether there were rows. */
  readonly hasRows: boolean;
  /** Whether there are columns. */
  readonly hasColumns: boolean;
  readonly lastMs: number;
}

/** r: reads, rw: reads and writes, w: writes, s: changes the schema. */
function typeOf(bound: BoundStatement): string {
  const query = bound.kind === "explain" ? bound.statement : bound;
  if (query.kind !== "query") return "s";
  if (query.readOnly) return "r";
  return query.returnsRows ? "rw" : "w";
}

export function summaryOf(facts: Facts): { readonly [key: string]: PackValue | undefined } {
  const { bound, database, stats, explained, version, lastMs } = facts;
  const counters = countersOf(bound, stats, facts.notices);
  return {
    type: typeOf(bound),
    ...(database !== "" && { db: database }),
    ...(counters !== null && { stats: counters }),
    ...(explained !== null && { [isProfiled(explained) ? "profile" : "plan"]: planTree(explained, columnsOf(bound)) }),
    ...(isSince(version, 5, 5) ? { statuses: statusesOf(facts) } : notificationsOf(facts)),
    t_last: lastMs,
  };
}

function columnsOf(bound: BoundStatement): readonly string[] {
  const query = bound.kind === "explain" ? bound.statement : bound;
  return query.kind === "query" ? query.columns.map(({ name }) => name) : [];
}

/** Null: nothing has changed. */
function countersOf(bound: BoundStatement, stats: GraphStats | null, notices: readonly string[]): PackValue {
  const counts: Record<string, number> = {};
  for (const [name, count] of Object.entries(stats ?? {})) if (count > 0) counts[name.replaceAll("_", "-")] = count;
  if (bound.kind === "ddl" && notices.length === 0) {
    const { command } = bound;
    if (command.kind === "create graph index") counts["indexes-added"] = 1;
    if (command.kind === "create graph constraint") counts["constraints-added"] = 1;
    if (command.kind === "drop graph index") {
      counts[command.what === "index" ? "indexes-removed" : "constraints-removed"] = 1;
    }
  }
  return Object.keys(counts).length === 0 ? null : { ...counts, "contains-updates": true };
}

const INFORMATION = "Neo.ClientNotification.Schema.IndexOrConstraintAlreadyExists";

function notificationsOf({ notices }: Facts): { readonly notifications?: PackValue } {
  if (notices.length === 0) return {};
  return {
    notifications: notices.map((notice) => ({
      code: INFORMATION,
      title: "Nothing was done.",
      description: notice,
      severity: "INFORMATION",
      category: "SCHEMA",
    })),
  };
}

const RECORD = { OPERATION: "", OPERATION_CODE: "0", CURRENT_SCHEMA: "/" } as const;

/** GQL's statuses: of the result, and one for each notice. */
function statusesOf({ hasRows, hasColumns, notices }: Facts): PackValue {
  const outcome = hasRows
    ? { gql_status: "00000", status_description: "note: successful completion" }
    : hasColumns
      ? { gql_status: "02000", status_description: "note: no data" }
      : { gql_status: "00001", status_description: "note: successful completion - omitted result" };
  const told = notices.map((notice) => ({
    gql_status: "00NA0",
    status_description: `note: successful completion - index or constraint already exists. ${notice}`,
    neo4j_code: INFORMATION,
    title: "Nothing was done.",
    description: notice,
    diagnostic_record: { ...RECORD, _severity: "INFORMATION", _classification: "SCHEMA" },
  }));
  return [...told, outcome];
}
