/**
 * Tells whether the input of UPDATE or DELETE can give a row of the table twice, as joins do; such a row is changed
 * once.
 */
import type { Plan } from "../plan/plan.js";

export function givesRowsOnce(input: Plan): boolean {
  switch (input.kind) {
    case "scan":
      return true;
    case "filter":
    case "project":
      return givesRowsOnce(input.input);
    default:
      return false;
  }
}
