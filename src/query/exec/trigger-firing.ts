/** What a trigger's function is called with: made by table-triggers.ts, run by sql/routine. */
import type { TableDef } from "../../catalog/table.js";
import type { TriggerDef, TriggerEvent } from "../../catalog/trigger.js";
import type { Value } from "../../values/values.js";

/** A table or view as its triggers know it. */
export interface TriggerRelation {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: TableDef["columns"];
}

/** Rows that a statement changed, as REFERENCING shows them: by column of the table that the statement names. */
export interface TransitionRows {
  readonly before: Value[][];
  readonly after: Value[][];
}

/** One call of a trigger's function. */
export interface TriggerFiring {
  readonly trigger: TriggerDef;
  readonly relation: TriggerRelation;
  readonly event: TriggerEvent;
  /** OLD and NEW, by column; null: there is none. */
  readonly before: readonly Value[] | null;
  readonly after: readonly Value[] | null;
  readonly transitions: TransitionRows | null;
}
