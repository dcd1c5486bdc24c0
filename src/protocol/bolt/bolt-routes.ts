/** Where clients of Bolt are told to connect to, host:port each: what the gateway says to a session when it opens. */
export interface BoltRoutes {
  /** Reads and writes. */
  readonly owner: string;
  /** Who may be asked for this. */
  readonly nodes: readonly string[];
}
