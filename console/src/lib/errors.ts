/** What went wrong, in the words of the server. */
import { TesseraError } from "../../../clients/typescript/src/index.js";

export function messageOf(error: unknown): string {
  if (error instanceof TesseraError && error.hint !== undefined) {
    return `${error.message}${/[.?!]$/.test(error.message) ? "" : "."} ${error.hint}`;
  }
  return error instanceof Error ? error.message : String(error);
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** The user has no right to it. */
export function isDenied(error: unknown): boolean {
  return error instanceof TesseraError && error.status === 403;
}

/** The server, or the tenant, does not answer at present: it starts, is restored or is moved. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof TesseraError && (error.status === 0 || (error.status === 503 && error.retryAfterMs !== undefined))
  );
}
