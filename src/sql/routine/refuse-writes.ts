/** Functions that are not volatile may not change anything. Called before each statement of a body runs. */
import { sqlError } from "../../protocol/errors.js";
import type { RoutinePlan } from "./host.js";

/** Throws 0A000. */
export function refuseWrites({ bound }: RoutinePlan, { readOnly }: { readonly readOnly: boolean }): void {
  if (!readOnly) return;
  if (bound.kind === "query") {
    if (bound.readOnly || bound.callsRoutines || bound.command === "select") return;
    throw refused(bound.command.toUpperCase());
  }
  if (bound.kind === "ddl") throw refused(bound.command.kind.toUpperCase());
  if (bound.kind === "ddl steps") throw refused(bound.tag);
}

const refused = (what: string) => sqlError("0A000", `${what} is not allowed in a non-volatile function`);
