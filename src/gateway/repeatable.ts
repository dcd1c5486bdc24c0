/** Which requests may be sent again to the thread that comes after theirs. Stateless. */
import type { Endpoint } from "../protocol/endpoint.js";

/**
 * Whether a request whose actor was ended may be sent to the next one: never (its body or answer is under way, or it is
 * about something that lived in the actor's memory), unless it has committed, or always.
 */
export type Repeatable = "never" | "uncommitted" | "always";

/** It is about what lives in the actor's memory, and is gone with that. */
export function isOfOpenTransaction(endpoint: string): boolean {
  return /^(socket\.transaction|transactions)\.(?!begin$)/.test(endpoint);
}

/** Of a request over HTTP; `hasKey`: an Idempotency-Key counts for it. */
export function repeatableBy({ name, method, home, keeps }: Endpoint, hasKey: boolean): Repeatable {
  if (isOfOpenTransaction(name)) return "never";
  if (method === "GET" || name === "auth.login") return "always";
  // What the directory does and the answer that is kept of it are written together.
  return hasKey && home === "directory" && keeps !== "memory" ? "always" : "uncommitted";
}
