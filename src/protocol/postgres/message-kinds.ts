/** Kinds of what a connection of PostgreSQL's protocol asks, for metrics. */
import { FRONT } from "./message-types.js";

export const POSTGRES_KINDS = ["open", "simple", "extended", "copy"] as const;
export type PostgresKind = (typeof POSTGRES_KINDS)[number];

/** What the messages of one request are for. */
export function kindOfMessages(messages: Uint8Array): PostgresKind {
  switch (messages[0]) {
    case FRONT.query:
      return "simple";
    case FRONT.copyData:
    case FRONT.copyDone:
    case FRONT.copyFail:
      return "copy";
    default:
      return "extended";
  }
}
