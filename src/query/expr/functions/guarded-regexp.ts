/**
 * Regular expressions that may backtrack without end are run under a time limit, so that no pattern of a client's can
 * hold the actor's loop. Patterns that are plainly harmless (the usual ones) run without that cost. Used by regex.ts.
 */
import { createContext, Script } from "node:vm";
import { sqlError } from "../../../protocol/errors.js";

/** Milliseconds that one match may take. */
const MATCH_MS_MAX = 500;
/** Unbounded quantifiers that a harmless pattern may have: with n of them a match costs at most length^n steps. */
const QUANTIFIERS_MAX = 1;

const context = createContext({ match: null as (() => void) | null });
const script = new Script("match()");

/** RegExp's other methods (test, replace, split, matchAll) all go through `exec`. */
class GuardedRegExp extends RegExp {
  override exec(text: string): RegExpExecArray | null {
    let result: RegExpExecArray | null = null;
    context.match = () => {
      result = super.exec(text);
    };
    try {
      script.runInContext(context, { timeout: MATCH_MS_MAX });
    } catch (error) {
      if ((error as { code?: string }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw sqlError("54001", "regular expression is too complex", {
        hint: `A match took longer than ${MATCH_MS_MAX} ms; avoid nested quantifiers such as (a+)+.`,
      });
    }
    return result;
  }
}

/** @param source in JavaScript's syntax */
export function guardedRegExp(source: string, flags: string): RegExp {
  return isHarmless(source) ? new RegExp(source, flags) : new GuardedRegExp(source, flags);
}

/** No quantified group, no back reference, and at most one unbounded quantifier. */
function isHarmless(source: string): boolean {
  const bare = source.replace(/\\[^1-9k]/g, "x").replace(/\[(?:\\.|[^\]])*\]/g, "x");
  if (/\)[*+{]|\\[1-9k]/.test(bare)) return false;
  return (bare.match(/[*+]|\{\d+,\}/g) ?? []).length <= QUANTIFIERS_MAX;
}
