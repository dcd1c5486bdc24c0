/** What bench/growth asks of each system: a server with data of its own that can be started again and killed. */
import type { Sample } from "../load/client.js";
import type { Answer } from "../tpch/side.js";

export interface GrowthSide {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** Of the processes that run now. */
  readonly roots: readonly number[];
  /** Where its data lies. */
  readonly folder: string;
  /** Starts on the data that there is, and asks. The time is from the start of the process to the answer. */
  start(question: string): Promise<Answer>;
  /** `clean`: as its users stop it. `kill`: SIGKILL. */
  end(how: "clean" | "kill"): Promise<void>;
  /** Fills the table from one of its files, which has a header; answers the time. */
  importCsv(file: string): Promise<number>;
  query(sql: string): Promise<Answer>;
  /** Reads of another tenant, from `begin` on; `end` gives them all. */
  readonly neighbour?: { begin(): Promise<void>; end(): Promise<readonly Sample[]> };
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}
