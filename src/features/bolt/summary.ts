/** What the SUCCESS after a statement's last row says about it. */
import { type BoltVersion, isSince } from "../../protocol/bolt/message-tags.js";
import type { PackValue } from "../../protocol/bolt/pack-writer.js";
import type { GraphStats } from "../../session/sql-result.js";
import type { BoundStatement } from "../../sql/bind/bound-statement.js";
import type { Notification } from "./notifications.js";
import { isProfiled, planTree } from "./plan-tree.js";

export interface Facts {
  readonly bound: BoundStatement;
  readonly version: BoltVersion;
  readonly database: string;
  readonly stats: GraphStats | null;
  /** What the server said of it that is no error: that there was nothing to do. */
  readonly notices: readonly string[];
  readonly notifications: readonly Notification[];
  readonly text: string;
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

/** `offset`: in the text, counted from 0; lines and columns are counted from 1. */
function positionIn(text: string, offset: number): PackValue {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { offset, line, column: offset - (before.lastIndexOf("\n") + 1) + 1 };
}

const positionOf = ({ position }: Notification, text: string) =>
  position === null ? {} : { position: positionIn(text, position) };

/** Before Bolt 5.5. */
function notificationsOf({ notifications, text, version }: Facts): { readonly notifications?: PackValue } {
  if (notifications.length === 0) return {};
  return {
    notifications: notifications.map((notification) => ({
      code: CODES + notification.code,
      title: notification.title,
      description: notification.description,
      severity: notification.severity,
      ...(isSince(version, 5, 2) && { category: notification.category }),
      ...positionOf(notification, text),
    })),
  };
}

const CODES = "Neo.ClientNotification.";
const RECORD = { OPERATION: "", OPERATION_CODE: "0", CURRENT_SCHEMA: "/" } as const;

/** What comes first of several, by the beginning of its status: warnings before results, results before information. */
const ORDER = ["02", "01", "00", "03"];

/** GQL's statuses: of the result, and one for each notification. */
function statusesOf({ hasRows, hasColumns, notifications, text }: Facts): PackValue {
  const outcome = hasRows
    ? { gql_status: "00000", status_description: "note: successful completion" }
    : hasColumns
      ? { gql_status: "02000", status_description: "note: no data" }
      : { gql_status: "00001", status_description: "note: successful completion - omitted result" };
  const told = notifications.map((notification) => {
    const { gqlStatus, severity, category } = notification;
    const { position } = positionOf(notification, text) as { position?: PackValue };
    return {
      gql_status: gqlStatus,
      status_description: `${PREFIXES[gqlStatus.slice(0, 2)]}: ${notification.status}`,
      neo4j_code: CODES + notification.code,
      title: notification.title,
      description: notification.description,
      diagnostic_record: {
        ...RECORD,
        _severity: severity,
        _classification: category,
        ...(position !== undefined && { _position: position }),
      },
    };
  });
  const rank = ({ gql_status: status }: { readonly gql_status: string }) => ORDER.indexOf(status.slice(0, 2));
  return [outcome, ...told].sort((a, b) => rank(a) - rank(b));
}

const PREFIXES: Readonly<Record<string, string>> = { "00": "note", "01": "warn", "03": "info" };
