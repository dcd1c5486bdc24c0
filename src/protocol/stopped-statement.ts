/**
 * Statements that did not give way until their actor was ended, and how long similar statements are refused. The
 * gateway's watchdog makes the list and sends it to the actors, which refuse by it.
 */

export interface StoppedStatement {
  /** The tenant's number. */
  readonly tenant: number;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
  readonly what: /** Constants are taken out. */
    | { readonly shape: string; readonly language: "sql" | "cypher" }
    /** The frame of a request that had begun no statement. */
    | { readonly frame: Uint8Array };
}
