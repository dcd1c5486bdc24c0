/** What the contest asks of each system. */
export type Cell = string | null;

export interface Answer {
  readonly rows: readonly (readonly Cell[])[];
  readonly milliseconds: number;
}

export interface Side {
  readonly name: string;
  /** Creates the tables and fills them; brings statistics up to date. */
  load(scale: number): Promise<void>;
  query(sql: string): Promise<Answer>;
  /** Resolves when nothing of earlier statements goes on in the background; absent: nothing does. */
  settle?(): Promise<void>;
  stop(): Promise<void>;
}
