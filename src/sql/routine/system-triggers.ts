/** Trigger functions of the system. Called by routine-runner.ts. */
import type { SystemTriggerFunction } from "../../catalog/trigger.js";
import { sqlError } from "../../protocol/errors.js";
import type { TriggerAnswer } from "../../query/exec/context.js";
import type { TriggerFiring } from "../../query/exec/trigger-firing.js";
import type { EvalContext } from "../../query/expr/expr.js";
import { textsVector } from "../../query/expr/functions/ts-functions.js";
import { baseType } from "../../query/expr/types.js";
import { toText } from "../../values/text-format.js";
import { regConfigFromText } from "../../values/text-search-configs.js";
import type { Value } from "../../values/values.js";

/** Throws 39P01 for a trigger of another kind than the function is for. */
export function runSystemTrigger(
  name: SystemTriggerFunction,
  firing: TriggerFiring,
  context: Pick<EvalContext, "checkpoint">,
): TriggerAnswer {
  switch (name) {
    case "suppress_redundant_updates_trigger":
      return suppressRedundantUpdate(name, firing);
    case "tsvector_update_trigger":
    case "tsvector_update_trigger_column":
      return updateVector(name, firing, context);
  }
}

/** An update that changes nothing does not take place. */
function suppressRedundantUpdate(
  name: string,
  { trigger, event, relation, before, after }: TriggerFiring,
): TriggerAnswer {
  const wrong = (what: string) => sqlError("39P01", `${name}: must be called ${what}`);
  if (event !== "update") throw wrong("on update");
  if (trigger.timing !== "before") throw wrong("before update");
  if (before === null || after === null) throw wrong("for each row");
  const isSame = relation.columns.every(({ type }, i) => {
    const [old, next] = [before[i]!, after[i]!];
    return old === null || next === null ? old === next : toText(type, old) === toText(type, next);
  });
  return isSame ? null : after;
}

/**
 * The words of text columns into a tsvector column: of the column, a configuration (or a column that names one), and
 * the text columns.
 */
function updateVector(
  name: "tsvector_update_trigger" | "tsvector_update_trigger_column",
  { trigger, event, relation, after }: TriggerFiring,
  context: Pick<EvalContext, "checkpoint">,
): TriggerAnswer {
  const wrong = (what: string) => sqlError("39P01", `${name}: must be called ${what}`);
  if (after === null) throw wrong("for each row");
  if (trigger.timing !== "before") throw wrong("before event");
  if (event !== "insert" && event !== "update") throw wrong("on insert or update");
  const { args } = trigger;
  if (args.length < 3) {
    throw sqlError("39P01", `${name}: arguments must be tsvector_field, ts_config, text_field1, ...)`);
  }
  const find = (column: string, what: string): number => {
    const found = relation.columns.findIndex((other) => other.name === column);
    if (found < 0) throw sqlError("42703", `${what} "${column}" does not exist`);
    return found;
  };
  const typed = (at: number, is: boolean, type: string): number => {
    if (!is) throw sqlError("42804", `column "${relation.columns[at]!.name}" is not of ${type} type`);
    return at;
  };
  const nameOf = (at: number) => baseType(relation.columns[at]!.type).name;
  const vector = find(args[0]!, "tsvector column");
  typed(vector, nameOf(vector) === "tsvector", "tsvector");
  const config = configOf(name, args[1]!, after, (column) => {
    const at = find(column, "configuration column");
    return typed(at, nameOf(at) === "regconfig", "regconfig");
  });
  const texts = args.slice(2).map((column) => {
    const at = find(column, "column");
    return after[typed(at, ["text", "varchar", "bpchar"].includes(nameOf(at)), "a character")] as string | null;
  });
  const given = texts.filter((text) => text !== null);
  return after.with(vector, textsVector(context, config, given));
}

/** Throws 22023, 22004. */
function configOf(name: string, given: string, row: readonly Value[], columnNamed: (column: string) => number): string {
  if (name === "tsvector_update_trigger") {
    if (given.includes(".")) return regConfigFromText(given);
    throw sqlError("22023", `text search configuration name "${given}" must be schema-qualified`);
  }
  const value = row[columnNamed(given)]!;
  if (value === null) throw sqlError("22004", `configuration column "${given}" must not be null`);
  return value as string;
}
