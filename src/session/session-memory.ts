/** What a session's statements leave for later ones. SessionNames implements it; statements read and change it. */

import type { CatalogView } from "../catalog/catalog-view.js";
import type { Rights } from "../catalog/rights.js";
import type { SequenceNumber } from "../catalog/sequence.js";
import type { SessionRandom } from "../query/expr/functions/seeded-random.js";
import type { RoutineRunner } from "../sql/routine/routine-runner.js";
import type { Transaction } from "../storage/store.js";
import type { SessionStatements } from "./session-statements.js";
import type { Settings } from "./settings.js";
import type { Tenant } from "./tenant.js";

export interface SessionMemory {
  readonly tenant: Tenant;
  readonly settings: Settings;
  /** Of setseed and random. */
  readonly random: SessionRandom;
  /** By the sequence's id: the value that nextval or setval gave last; null until there is one. */
  sequenceValues: Map<number, SequenceNumber> | null;
  /** The sequence that nextval was called for last. */
  lastSequence: number | null;
  /** Null: none was prepared. */
  preparedStatements: SessionStatements | null;
  /** The schemas in which names are looked up, in order. */
  searchPath(catalog: CatalogView): readonly string[];
  /** What the session's role may do. */
  rights(catalog: CatalogView): Rights;
  /** Whether there are rows or columns that its statements may not see. */
  hidesRows(tx: Transaction): boolean;
  /** The same for what acts for the request by statements of its caller, which refuse others' memories themselves. */
  hidesTables(tx: Transaction): boolean;
  readonly isClients: boolean;
  /**
   * Where tables that features keep for themselves are closed to its statements now, but not to who sent them: whose
   * rights its statements may use at most. Null: that is not so.
   */
  lends(tx: Transaction): "a member's" | "nobody's" | null;
  /** Throws 42501, 22023 unless the session may become that role. */
  checkSetting(name: string, value: string, catalog: () => CatalogView): void;
  /** Runs functions that statements made. */
  routines(): RoutineRunner;
}
