/** What RUN and BEGIN say beside the statement. */
import { boltError } from "../../protocol/bolt/failure-message.js";
import { type NotificationFilter, notificationFilter } from "../../protocol/bolt/notification-filter.js";
import type { PackMap } from "../../protocol/bolt/pack-reader.js";
import type { DbError } from "../../protocol/errors.js";
import type { VariantMap } from "../../values/variant.js";

export interface TransactionOptions {
  /** "": the default one. */
  readonly database: string;
  readonly reads: boolean;
  /** Milliseconds; 0: as long as statements may take. */
  readonly timeoutMs: number;
  readonly bookmarks: unknown;
  /** What the client says about the transaction: SHOW TRANSACTIONS tells it. */
  readonly metadata: VariantMap;
  readonly notifications: NotificationFilter;
}

/** `username`: the only user that may be meant; `notifications`: what the session wants of them. */
export function transactionOptions(
  given: unknown,
  username: string,
  notifications: NotificationFilter,
): TransactionOptions {
  if (given === undefined || given === null) {
    return { database: "", reads: false, timeoutMs: 0, bookmarks: null, metadata: new Map(), notifications };
  }
  if (!(given instanceof Map)) throw invalid("The options of a transaction have to be a map.");
  const said: PackMap = given;
  refuseOtherUser(said, username);
  const mode = said.get("mode") ?? "w";
  if (mode !== "r" && mode !== "w") throw invalid('"mode" has to be "r" or "w".');
  const timeout = said.get("tx_timeout") ?? 0;
  if (typeof timeout !== "number" || !Number.isInteger(timeout) || timeout < 0) {
    throw invalid('"tx_timeout" has to be an integer, milliseconds, 0 or more.');
  }
  return {
    database: databaseOf(said.get("db")),
    reads: mode === "r",
    timeoutMs: timeout,
    bookmarks: said.get("bookmarks"),
    metadata: metadataOf(said.get("tx_metadata")),
    notifications: notificationFilter(said, notifications),
  };
}

/** Throws forbidden for `imp_user` of anybody but the user itself. Also asked by ROUTE. */
export function refuseOtherUser(said: PackMap, username: string): void {
  const user = said.get("imp_user");
  if (user === undefined || user === null || user === username) return;
  if (typeof user !== "string") throw invalid('"imp_user" has to be a string.');
  const message = "A user cannot act as another one, administrators neither: sign in as that user, or with its key.";
  throw boltError("forbidden", "Neo.ClientError.Security.Forbidden", message);
}

function metadataOf(given: unknown): VariantMap {
  if (given === undefined || given === null) return new Map();
  if (given instanceof Map) return given as VariantMap;
  throw invalid('"tx_metadata" has to be a map.');
}

export function databaseOf(name: unknown): string {
  if (name === undefined || name === null) return "";
  if (typeof name === "string") return name;
  throw invalid('"db" has to be a string.');
}

function invalid(message: string): DbError {
  return boltError("invalid_request", "Neo.ClientError.Request.Invalid", message);
}
