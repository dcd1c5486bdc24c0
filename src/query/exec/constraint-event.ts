/**
 * What a changed row leaves to do when its statement, or its transaction, ends: both ends of foreign keys, deferrable
 * unique keys, and AFTER triggers. Writers of rows make them (table-writer.ts, table-triggers.ts), the session works
 * them off (session/constraint-checks.ts).
 */
import type { ForeignKeyDef, ReferenceDef } from "../../catalog/table.js";
import type { Value } from "../../values/values.js";
import type { TriggerFiring } from "./trigger-firing.js";

/** A row whose foreign key is new: the row it refers to must be there. */
export interface ReferencingEvent {
  readonly kind: "referencing";
  readonly tableId: number;
  readonly foreignKey: ForeignKeyDef;
  /** The row's storage key; it may be gone or changed by the time of the check. */
  readonly rowKey: Uint8Array;
}

/** A row that was removed, or whose referenced columns were changed: rows that refer to it must follow or refuse. */
export interface ReferencedEvent {
  readonly kind: "referenced";
  readonly tableId: number;
  readonly reference: ReferenceDef;
  /** Values of `reference.columns`. */
  readonly before: readonly Value[];
  /** Null: removed. */
  readonly after: readonly Value[] | null;
}

/** A row that has the same values as another one in a deferrable key. */
export interface UniqueEvent {
  readonly kind: "unique";
  readonly tableId: number;
  readonly indexId: number;
  /** As of ReferencingEvent. */
  readonly rowKey: Uint8Array;
}

/** An AFTER trigger. */
export interface FiringEvent {
  readonly kind: "trigger";
  readonly tableId: number;
  readonly firing: TriggerFiring;
}

export type ConstraintEvent = ReferencingEvent | ReferencedEvent | UniqueEvent | FiringEvent;
