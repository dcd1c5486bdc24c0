/**
 * Triggers as tables and views keep them in their definitions (TableDef.triggers, ViewDef.triggers): which function is
 * called when. query/exec fires them, sql/routine runs their functions.
 */

import type { ViewQuery, ViewRelation } from "./kept-query.js";

export type TriggerEvent = "insert" | "update" | "delete" | "truncate";

/** Functions of the system that only triggers call. */
export type SystemTriggerFunction =
  | "suppress_redundant_updates_trigger"
  | "tsvector_update_trigger"
  | "tsvector_update_trigger_column";

/** What a rule does (CREATE RULE), which is kept as a trigger of its own kind: the statement whose actions it runs. */
export interface RuleActions extends Pick<ViewQuery, "sql" | "searchPath" | "places"> {
  /** As in ViewQuery with `exact`, of the whole CREATE RULE statement; absent: its names are looked up by each run. */
  readonly relations?: readonly ViewRelation[];
  /** An action has RETURNING. */
  readonly returns?: true;
  /** Its WHERE has a subquery, and is asked before the actions; absent: `when` of the trigger, or none. */
  readonly asks?: true;
  /** There is no action: DO INSTEAD NOTHING. */
  readonly nothing?: true;
}

/** What the names of a rule mean; null: they are looked up by each run. */
export function keptRule({ sql, searchPath, relations, places }: RuleActions): ViewQuery | null {
  return relations === undefined ? null : { sql, searchPath, relations, exact: true, ...(places && { places }) };
}

export interface TriggerDef {
  /** Unique within the tenant. */
  readonly id: number;
  readonly name: string;
  readonly timing: "before" | "after" | "instead of";
  readonly level: "row" | "statement";
  readonly events: readonly TriggerEvent[];
  /** UPDATE OF: ids of columns; absent: any update. */
  readonly columns?: readonly number[];
  /** SQL text over the rows `old` and `new`; absent: always. */
  readonly when?: string;
  /** A function that a statement made, by its id, or one of the system's; of a rule its statements. */
  readonly calls: number | SystemTriggerFunction | RuleActions;
  readonly args: readonly string[];
  /** ALTER TABLE … ENABLE, DISABLE TRIGGER. */
  readonly enabled: "origin" | "disabled" | "replica" | "always";
  /** CREATE CONSTRAINT TRIGGER. */
  readonly constraint?: {
    readonly deferrable: boolean;
    readonly initiallyDeferred: boolean;
    /** FROM table: its id. */
    readonly fromTable?: number;
  };
  /** REFERENCING OLD TABLE AS, NEW TABLE AS. */
  readonly oldTable?: string;
  readonly newTable?: string;
  /** On a partition: the id of the partitioned table's trigger that this is a copy of. */
  readonly parentId?: number;
}

/** What CREATE TRIGGER says of a trigger. */
export type NewTrigger = Omit<TriggerDef, "id" | "enabled" | "parentId">;

/** Whether statements fire it, in sessions as they are or in those that repeat what others did. */
export function mayFire({ enabled }: TriggerDef, isReplica: boolean): boolean {
  return enabled === "always" || enabled === (isReplica ? "replica" : "origin");
}

/** The same of usual sessions. */
export function isFired({ enabled }: TriggerDef): boolean {
  return enabled === "origin" || enabled === "always";
}
