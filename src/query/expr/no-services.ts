/** Services for expressions that are computed outside of a statement: constants, other processes, tests. */
import { sqlError } from "../../protocol/errors.js";
import type { EvalServices } from "./expr.js";

/** Each throws what `refuse` throws. */
export function refusingServices(refuse: () => never): EvalServices {
  return {
    setting: refuse,
    givenSetting: refuse,
    runSubquery: refuse,
    callRoutine: refuse,
    routineRows: refuse,
    graphNode: refuse,
    computeElsewhere: refuse,
    runStatement: refuse,
    capability: refuse,
    renewSnapshot: refuse,
  };
}

/** There are no settings and no capabilities; what needs a statement throws 0A000. */
export const NO_SERVICES: EvalServices = Object.freeze({
  ...refusingServices(() => {
    throw sqlError("0A000", "a subquery, a function in SQL or PL/pgSQL, or a graph cannot be used here");
  }),
  setting: () => null,
  givenSetting: () => null,
  capability: () => null,
  computeElsewhere: async () => undefined,
  renewSnapshot: () => undefined,
});
