/** What the columns of a partition's long tables are kept with (column-store.ts). */
import type { LayeredEngine } from "../../../../storage/layered-engine.js";
import type { TableLayout } from "../../table-layout.js";
import type { ReadThreads } from "../../threads/read-threads.js";
import type { BuildOptions } from "./table-builds.js";

export interface ColumnStoreOptions extends BuildOptions {
  /**
   * What the engine had when it was opened: files that stand at later commits were made of some that a power cut took.
   */
  readonly openedSequence: number;
  /** Where branches are laid over their origins; null: there are none. */
  readonly layers?: LayeredEngine | null;
  /** Of all files together. */
  readonly bytesMax: number;
  /** Resolves when all that was committed so far is on disk. */
  readonly durable: () => Promise<void>;
  /** The tenant has used this partition lately: the cache belongs to several. */
  readonly isHere: (tenantNumber: number) => boolean;
  /** The table that a storage id belongs to now; null: none of the partition's. */
  readonly layoutOf: (tenantNumber: number, storageId: number) => TableLayout | null;
  /** Those that read files for statements; null: statements read by themselves. */
  readonly readThreads: Pick<ReadThreads, "start"> | null;
  /** The disk has room. */
  readonly mayGrow: () => boolean;
  /** Something went wrong that costs only time. */
  readonly warn: (message: string) => void;
}
