/** Statements about a session of PostgreSQL's protocol that the engine does not know: LISTEN, NOTIFY, UNLISTEN. */
import { hasSqlDetails, parseSync } from "libpg-query";
import { beginsWith } from "./tokens.js";

export type SessionCommand =
  | { readonly kind: "listen"; readonly channel: string }
  /** Null: all. */
  | { readonly kind: "unlisten"; readonly channel: string | null }
  | { readonly kind: "notify"; readonly channel: string; readonly payload: string };

const FIRST_WORD = /(?:listen|unlisten|notify)\b/iy;

interface RawCommands {
  readonly ListenStmt?: { readonly conditionname: string };
  readonly UnlistenStmt?: { readonly conditionname?: string };
  readonly NotifyStmt?: { readonly conditionname: string; readonly payload?: string };
}

/** Null: it is another statement, or none at all, which the parser says. */
export function parseSessionCommand(text: string): SessionCommand | null {
  if (!beginsWith(text, FIRST_WORD)) return null;
  const raw = rawCommand(text);
  if (raw?.ListenStmt !== undefined) return { kind: "listen", channel: raw.ListenStmt.conditionname };
  if (raw?.UnlistenStmt !== undefined) return { kind: "unlisten", channel: raw.UnlistenStmt.conditionname ?? null };
  if (raw?.NotifyStmt !== undefined) {
    return { kind: "notify", channel: raw.NotifyStmt.conditionname, payload: raw.NotifyStmt.payload ?? "" };
  }
  return null;
}

function rawCommand(text: string): RawCommands | null {
  try {
    return (parseSync(text).stmts?.[0]?.stmt ?? null) as RawCommands | null;
  } catch (error) {
    if (hasSqlDetails(error)) return null;
    throw error;
  }
}
