/** What the contests in SQL ask of each system. */
export type Cell = string | null;

export interface Answer {
  readonly rows: readonly (readonly Cell[])[];
  readonly milliseconds: number;
}

export interface Side {
  readonly name: string;
  query(sql: string): Promise<Answer>;
  /** Resolves when nothing of earlier statements goes on in the background; absent: nothing does. */
  settle?(): Promise<void>;
  /** CPU seconds of its processes so far; absent: it is the bench's process. */
  cpuSeconds?(): number;
  stop(): Promise<void>;
}

export interface TpchSide extends Side {
  /** Creates the tables and fills them; brings statistics up to date. */
  load(scale: number): Promise<void>;
  /** Stops it and starts it on its data again. */
  restart(): Promise<void>;
}
