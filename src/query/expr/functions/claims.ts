/**
 * Functions that verify claims: NLI_CLASSIFY, NLI_VERIFY and the aggregate NLI_ANCHORS. The models are behind the
 * capability CLAIMS, which also checks the arguments. Nothing is kept from one statement to the next.
 */
import { NLI_ANCHORS_MAX } from "../../../protocol/limits.js";
import { JSONB, Json, type SqlArray, type SqlType, TEXT, type Value } from "../../../values/values.js";
import { Capability, need } from "../capability.js";
import type { AggregateFunction, DeferredContext, EvalContext } from "../expr.js";
import { deferredFn, type FunctionFamily, family } from "./define.js";

type Ask = (rows: readonly (readonly unknown[])[], context: DeferredContext) => Promise<readonly unknown[]>;

export interface Claims {
  /** Throws an error if the model's name or the model itself is not usable. */
  checkModel(model: string): void;
  /** Scores for rows of model (or null), premise, hypothesis and perhaps options: JSON objects. Checks them. */
  readonly classify: Ask;
  /**
   * Verdicts for rows of model (or null), statement, anchors (parsed, or JSON text) and perhaps options. Checks them.
   */
  readonly verify: Ask;
}

export const CLAIMS = new Capability<Claims>("Claims cannot be verified here.");

/** A row may ask for 32 pairs, so a LIMIT should not wait for many rows. */
const VERIFIED_ROWS_MAX = 16;

/** Without a model the default one is asked. */
const OPTIONS = { strict: false, volatility: "stable", check: checkModel } as const;

function checkModel([model]: readonly (Value | undefined)[], { services }: EvalContext): void {
  if (typeof model === "string") services.capability(CLAIMS)?.checkModel(model);
}

type Rows = readonly (readonly Value[])[];

/** Asks for the rows in which the arguments at these places are known; the others are NULL. */
function asking(form: "classify" | "verify", needed: readonly number[]) {
  return async (columns: Rows, count: number, context: DeferredContext): Promise<readonly Value[]> => {
    const claims = need(context, CLAIMS);
    const values = new Array<Value>(count).fill(null);
    const calls: number[] = [];
    for (let i = 0; i < count; i++) if (needed.every((column) => columns[column]![i] !== null)) calls.push(i);
    if (calls.length === 0) return values;
    const rows = calls.map((i) => columns.map((column) => plain(column[i]!)));
    const found = await claims[form](rows, context);
    for (const [i, call] of calls.entries()) values[call] = new Json(found[i]);
    return values;
  };
}

/** JSON and arrays as what they hold. */
function plain(value: Value): unknown {
  if (value instanceof Json) return value.value;
  return typeof value === "object" && value !== null && "elements" in value ? (value as SqlArray).elements : value;
}

const classify = asking("classify", [1, 2]);
const verify = asking("verify", [1, 2]);

/**
 * JSON comes as json, as jsonb or as a text; anchors also as an array of texts. What has no type yet is jsonb, so that
 * a parameter may be a list.
 */
export const CLAIM_FAMILIES: readonly FunctionFamily[] = [
  family("nli_classify", "(text, text, text [, json]) → jsonb", (types) => {
    if (types.length < 3 || types.length > 4) return null;
    const options = types[3] && jsonArgument(types[3], false);
    if (options === null) return null;
    const args = [TEXT, TEXT, TEXT, ...(options === undefined ? [] : [options])];
    return deferredFn("nli_classify", args, JSONB, classify, OPTIONS);
  }),
  family("nli_verify", "(text, text, json or text[] [, json]) → jsonb", (types) => {
    if (types.length < 3 || types.length > 4) return null;
    const [anchors, options] = [jsonArgument(types[2]!, true), types[3] && jsonArgument(types[3], false)];
    if (anchors === null || options === null) return null;
    const args = [TEXT, TEXT, anchors, ...(options === undefined ? [] : [options])];
    return deferredFn("nli_verify", args, JSONB, verify, { ...OPTIONS, rowsMax: VERIFIED_ROWS_MAX });
  }),
];

function jsonArgument(type: SqlType, orTexts: boolean): SqlType | null {
  if (type.name === "json" || type.name === "jsonb") return type;
  if (type.element !== null) return orTexts && ["text", "varchar"].includes(type.element.name) ? type : null;
  if (type.name === "unknown") return JSONB;
  return type.name === "text" || type.name === "varchar" ? TEXT : null;
}

/** Texts as the anchors of NLI_VERIFY: the first 32 in the order that they come in. NULLs are passed over. */
export const CLAIM_AGGREGATES: readonly AggregateFunction[] = [
  Object.freeze({
    name: "nli_anchors",
    args: [TEXT],
    returns: JSONB,
    strict: true,
    keepsInput: true,
    init: (): string[] => [],
    step(texts: string[], text: string): string[] {
      if (texts.length < NLI_ANCHORS_MAX) texts.push(text);
      return texts;
    },
    result: (texts: readonly string[]): Value => (texts.length === 0 ? null : new Json([...texts])),
  }),
];
