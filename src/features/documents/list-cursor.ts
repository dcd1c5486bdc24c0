/** The start of a list's next page, as an opaque text that the client sends back. */
import { DbError } from "../../protocol/errors.js";

export interface Cursor {
  /** How many were before. */
  readonly offset: number;
  /** The last id before; absent: pages go by place alone. */
  readonly afterId?: string;
}

export function cursorOf({ offset, afterId }: Cursor): string {
  return Buffer.from(JSON.stringify(afterId === undefined ? [offset] : [offset, afterId])).toString("base64url");
}

/** Throws invalid_request for a text that is no cursor. */
export function readCursor(text: string): Cursor {
  try {
    const [offset, afterId] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    const isPlace = typeof offset === "number" && Number.isSafeInteger(offset) && offset >= 0;
    if (isPlace && afterId === undefined) return { offset };
    if (isPlace && typeof afterId === "string" && !/[\0\p{Cs}]/u.test(afterId)) return { offset, afterId };
  } catch {
    // Told below.
  }
  throw new DbError("invalid_request", 'The cursor is not valid: use "next_cursor" of an answer of this route.', {
    field: "cursor",
  });
}
