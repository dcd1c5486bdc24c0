/** What a session's statements leave for later ones. SessionNames implements it; statements read and change it. */
import type { CatalogView } from "../catalog/catalog-view.js";
import type { SequenceNumber } from "../catalog/sequence.js";
import type { RoutineRunner } from "../sql/routine/routine-runner.js";
import type { SessionStatements } from "./session-statements.js";
import type { Settings } from "./settings.js";
import type { Tenant } from "./tenant.js";

export interface SessionMemory {
  readonly tenant: Tenant;
  readonly settings: Settings;
  /** By the sequence's id: the value that nextval or setval gave last; null until there is one. */
  sequenceValues: Map<number, SequenceNumber> | null;
  /** The sequence that nextval was called for last. */
  lastSequence: number | null;
  /** Null: none was prepared. */
  preparedStatements: SessionStatements | null;
  /** The schemas in which names are looked up, in order. */
  searchPath(catalog: CatalogView): readonly string[];
  /** Runs functions that statements made. */
  routines(): RoutineRunner;
}
