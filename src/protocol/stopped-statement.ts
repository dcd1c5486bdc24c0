/**
 * Statements that did not give way until their actor was ended, and for how long what looks like them is refused. Made by
 * the gateway's watchdog, told to actors, which refuse by them.
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
