/**
 * Clients' regular expressions, run so that none can hold up the actor's loop. Used by posix-regexp.ts and Cypher's
 * `=~`. Three engines:
 *
 *  1. V8's, if the pattern's structure bounds its steps (regexp-cost.ts) for a text of that length: nearly always.
 *  2. RE2 (re2js), whose time grows with the text alone: longer texts, and patterns that would backtrack without end.
 *  3. V8's under a time limit, for what RE2 lacks: back references, lookarounds, groups that it fills differently.
 *
 * V8's own linear engine (flag l) is experimental and knows neither the flag u nor i.
 */
import { createRequire } from "node:module";
import { createContext, Script } from "node:vm";
import type { Matcher, RE2JS } from "re2js";
import { sqlError } from "../../../protocol/errors.js";
import {
  REGEX_GUARDED_MS_MAX,
  REGEX_LINEAR_STEPS_MAX,
  REGEX_STEPS_MAX,
  REGEX_UNFOLDED_MAX,
} from "../../../protocol/limits.js";
import { re2Syntax } from "./re2-syntax.js";
import { regExpCost } from "./regexp-cost.js";

/**
 * @param source in JavaScript's syntax; `flags` with u. `isForPlaces`: only where matches begin is asked for. Throws
 *   SyntaxError.
 */
export function linearRegExp(source: string, flags: string, isForPlaces = false): RegExp {
  const { degree, ways, isAmbiguous, isAnchored, hasOwnGroups, unfolded } = regExpCost(source);
  const starts = isAnchored ? 0 : 1;
  // Each start and each unbounded quantifier may look at the whole text.
  const factors = degree + starts;
  const lengthMax = isAmbiguous ? 0 : factors <= 1 ? REGEX_STEPS_MAX / ways : (REGEX_STEPS_MAX / ways) ** (1 / factors);
  if (factors <= 1 && ways <= 16 && !isAmbiguous) return new RegExp(source, flags);
  return new LinearRegExp(source, flags, {
    plain: new RegExp(source, flags),
    lengthMax: Math.floor(lengthMax),
    isExact: isForPlaces || !hasOwnGroups,
    linear: unfolded > REGEX_UNFOLDED_MAX ? null : undefined,
    matcher: null,
  });
}

/** What a pattern is run by. */
interface Engines {
  readonly plain: RegExp;
  /** UTF-16 units of a text for which the plain one is quick enough. */
  readonly lengthMax: number;
  /** RE2 tells the same places and groups; else only whether there is a match. */
  readonly isExact: boolean;
  /** Null: there is none; undefined: nobody has asked yet. */
  linear: RE2JS | null | undefined;
  /** Of the text that was looked at last. */
  matcher: { readonly text: string; readonly matcher: Matcher } | null;
}

/** RegExp's other methods (replace, split, matchAll) all go through `exec`. */
class LinearRegExp extends RegExp {
  private readonly engines: Engines;

  /** As matchAll and split make copies: of another one. */
  constructor(source: string | LinearRegExp, flags: string, engines?: Engines) {
    super(source, flags);
    const own = source instanceof LinearRegExp ? source.engines : engines!;
    this.engines = engines ?? { ...own, plain: new RegExp(own.plain.source, flags) };
  }

  override test(text: string): boolean {
    const { plain, lengthMax } = this.engines;
    if (this.lastIndex !== 0) return this.exec(text) !== null;
    if (text.length <= lengthMax) {
      plain.lastIndex = 0;
      return plain.test(text);
    }
    const linear = linearOf(this.engines, this);
    return linear === null ? this.guarded(text) !== null : linear.test(text);
  }

  override exec(text: string): RegExpExecArray | null {
    const { plain, lengthMax, isExact } = this.engines;
    if (text.length <= lengthMax || this.sticky)
      return text.length <= lengthMax ? this.by(plain, text) : this.guarded(text);
    const linear = isExact ? linearOf(this.engines, this) : null;
    if (linear === null || text.length * linear.programSize() > REGEX_LINEAR_STEPS_MAX) return this.guarded(text);
    return this.linearly(linear, text);
  }

  private by(plain: RegExp, text: string): RegExpExecArray | null {
    plain.lastIndex = this.lastIndex;
    const match = plain.exec(text);
    this.lastIndex = plain.lastIndex;
    return match;
  }

  private linearly(linear: RE2JS, text: string): RegExpExecArray | null {
    const engines = this.engines;
    if (engines.matcher?.text !== text) engines.matcher = { text, matcher: linear.matcher(text) };
    const { matcher } = engines.matcher;
    const from = this.global ? this.lastIndex : 0;
    if (from > text.length || !matcher.find(from)) {
      this.lastIndex = 0;
      // A long text is not kept alive.
      engines.matcher = null;
      return null;
    }
    if (this.global) this.lastIndex = matcher.end();
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? undefined);
    return Object.assign(groups, {
      index: matcher.start(),
      input: text,
      groups: undefined,
    }) as unknown as RegExpExecArray;
  }

  private guarded(text: string): RegExpExecArray | null {
    let match: RegExpExecArray | null = null;
    guard.match = () => {
      match = this.by(this.engines.plain, text);
    };
    try {
      script.runInContext(context, { timeout: REGEX_GUARDED_MS_MAX });
    } catch (error) {
      if ((error as { code?: string }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw sqlError("54001", "regular expression is too complex", {
        hint: `A match took longer than ${REGEX_GUARDED_MS_MAX} ms. Patterns without back references and lookarounds take time proportional to the text.`,
      });
    } finally {
      guard.match = null;
    }
    return match;
  }
}

const guard = { match: null as (() => void) | null };
const context = createContext(guard);
const script = new Script("match()");

let re2: typeof RE2JS | null = null;

/** Null: RE2 cannot run it. */
function linearOf(engines: Engines, { source, flags }: RegExp): RE2JS | null {
  if (engines.linear === undefined) {
    const translated = re2Syntax(source, flags);
    engines.linear = translated === null ? null : compiled(translated);
  }
  return engines.linear;
}

function compiled(source: string): RE2JS | null {
  // Loaded by the first pattern that needs it: few processes have one.
  re2 ??= (createRequire(import.meta.url)("re2js") as { RE2JS: typeof RE2JS }).RE2JS;
  try {
    return re2.compile(source);
  } catch (error) {
    // What JavaScript takes and RE2 does not: names of scripts, say.
    if ((error as Error).name === "RE2JSSyntaxException" || (error as Error).name === "RE2JSCompileException")
      return null;
    throw error;
  }
}
