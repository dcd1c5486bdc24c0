/**
 * SENTIMENT, SUMMARIZE, CLASSIFY and EXTRACT_ENTITIES in SQL, by the libraries and models of the installation: equal
 * texts give equal answers.
 */

import { TOPICS } from "../../language/classify.js";
import { SUMMARY_CHARACTERS_DEFAULT, summaryLength } from "../../language/summary-length.js";
import { sqlError } from "../../protocol/errors.js";
import { CATEGORIES_MAX } from "../../protocol/limits.js";
import type { DeferredContext, DeferredEvaluation, ScalarFunction } from "../../query/expr/expr.js";
import { deferredFn } from "../../query/expr/functions/define.js";
import { registerFunction } from "../../query/expr/functions/registry.js";
import type { SessionServices } from "../../session/session-services.js";
import { arrayOf, INT4, JSONB, Json, type SqlArray, TEXT, type Value } from "../../values/values.js";
import type { LanguageHelpers } from "./language-helpers.js";

/** Once, when the process starts. */
export function registerLanguageFunctions(): void {
  for (const fn of FUNCTIONS) registerFunction(fn);
}

type EachCall = (helpers: LanguageHelpers, args: readonly Value[]) => Promise<Value>;

function helper(name: string, args: ScalarFunction["args"], returns: ScalarFunction["returns"], each: EachCall) {
  const evaluate: DeferredEvaluation["evaluate"] = async (columns, count, context) => {
    const helpers = helpersOf(context);
    const values: Value[] = [];
    for (let i = 0; i < count; i++) {
      values.push(
        await each(
          helpers,
          columns.map((column) => column[i]!),
        ),
      );
      if (context.shouldYield()) await context.yieldTurn();
    }
    return values;
  };
  return deferredFn(name, args, returns, evaluate, { volatility: "stable" });
}

function helpersOf(context: DeferredContext): LanguageHelpers {
  const { languageHelpers } = context.services as Partial<SessionServices>;
  if (languageHelpers === undefined) throw sqlError("0A000", "language functions are not available here");
  return languageHelpers.call(context.services as SessionServices, context);
}

const sentiment: EachCall = async (helpers, [text]) => (await helpers.sentiment(text as string)).sentiment;
const scores: EachCall = async (helpers, [text]) => new Json(await helpers.sentiment(text as string));
const summary: EachCall = (helpers, [text, length]) =>
  helpers.summarize(
    text as string,
    length === undefined ? SUMMARY_CHARACTERS_DEFAULT : summaryLength(length as number),
  );
const entities: EachCall = async (helpers, [text]) => new Json(await helpers.entities(text as string));
const classified: EachCall = async (helpers, [text, given]) =>
  (await helpers.classify(text as string, categoriesOf(given), false))[0]!.category;

const FUNCTIONS: readonly ScalarFunction[] = [
  helper("sentiment", [TEXT], TEXT, sentiment),
  helper("sentiment_scores", [TEXT], JSONB, scores),
  helper("summarize", [TEXT], TEXT, summary),
  helper("summarize", [TEXT, INT4], TEXT, summary),
  helper("classify", [TEXT], TEXT, classified),
  helper("classify", [TEXT, arrayOf(TEXT)], TEXT, classified),
  helper("classify", [TEXT, TEXT], TEXT, classified),
  helper("extract_entities", [TEXT], JSONB, entities),
];

/** An array, a JSON array of texts, or texts between commas. Throws 22023. */
function categoriesOf(given: Value | undefined): readonly string[] {
  if (given === undefined) return TOPICS;
  const items = typeof given === "string" ? listed(given) : (given as SqlArray).elements;
  const categories = [...new Set(items.filter((item) => typeof item === "string" && item.trim() !== ""))] as string[];
  if (categories.length > 0 && categories.length <= CATEGORIES_MAX) return categories;
  throw sqlError("22023", `CLASSIFY needs 1 to ${CATEGORIES_MAX} categories`, {
    hint: "Send them as an array: CLASSIFY(text, ARRAY['sports', 'politics']).",
  });
}

function listed(text: string): readonly unknown[] {
  if (!text.trimStart().startsWith("[")) return text.split(",").map((item) => item.trim());
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
