/** Trigger functions of the system. Called by routine-runner.ts. */
import type { SystemTriggerFunction } from "../../catalog/trigger.js";
import { sqlError } from "../../protocol/errors.js";
import type { TriggerAnswer } from "../../query/exec/context.js";
import type { TriggerFiring } from "../../query/exec/trigger-firing.js";
import { toText } from "../../values/text-format.js";

/** Throws 39P01 for a trigger of another kind than the function is for. */
export function runSystemTrigger(name: SystemTriggerFunction, firing: TriggerFiring): TriggerAnswer {
  switch (name) {
    case "suppress_redundant_updates_trigger":
      return suppressRedundantUpdate(name, firing);
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
