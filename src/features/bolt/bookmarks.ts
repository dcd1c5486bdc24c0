/**
 * Bookmarks: a client that shows one sees what was committed until then. A partition has one writer, so whatever a
 * session reads is newer than any bookmark of that partition; only one of a data directory that has since been put back
 * is not.
 */
import { boltError } from "../../protocol/bolt/failure-message.js";

const FORM = /^tessera:(\d+):(\d+)$/;

export interface Position {
  readonly partition: number;
  readonly sequence: number;
}

export function bookmarkOf({ partition, sequence }: Position): string {
  return `tessera:${partition}:${sequence}`;
}

/** Throws for a bookmark of another server, and for one of a commit that there has not been. */
export function checkBookmarks(bookmarks: unknown, now: Position): void {
  if (bookmarks === undefined || bookmarks === null) return;
  if (!Array.isArray(bookmarks)) throw invalid("Bookmarks have to be a list of strings.");
  for (const bookmark of bookmarks) {
    const match = typeof bookmark === "string" ? FORM.exec(bookmark) : null;
    if (match === null) throw invalid(`"${String(bookmark)}" is no bookmark of this server.`);
    const [partition, sequence] = [Number(match[1]), Number(match[2])];
    // A tenant that was moved took everything along that it had committed elsewhere.
    if (partition !== now.partition || sequence <= now.sequence) continue;
    throw boltError(
      "partition_unavailable",
      "Neo.TransientError.Transaction.BookmarkTimeout",
      `The database is not up to the requested version: "${bookmark}". It may have been restored.`,
    );
  }
}

function invalid(message: string) {
  return boltError("invalid_request", "Neo.ClientError.Transaction.InvalidBookmark", message);
}
