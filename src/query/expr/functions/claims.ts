/**
 * Functions that verify claims: NLI_CLASSIFY, NLI_VERIFY and the aggregate NLI_ANCHORS. What models say is behind the
 * session's services (EvalServices), which also check the arguments; nothing of it is kept from one statement to the next.
 */
import { DbError } from "../../../protocol/errors.js";
import { NLI_ANCHORS_MAX } from "../../../protocol/limits.js";
import { JSONB, Json, type SqlArray, type SqlType, TEXT, type Value } from "../../../values/values.js";
import type { AggregateFunction, DeferredContext, EvalContext, EvalServices, ScalarFunction } from "../expr.js";
import { deferredFn, type FunctionFamily, family } from "./define.js";

/** A row may ask for 32 pairs, so a LIMIT should not wait for many rows. */
const VERIFIED_ROWS_MAX = 16;

/** Without a model the default one is asked. */
const OPTIONS = { strict: false, volatility: "stable", check: checkModel } as const;

function checkModel([model]: readonly (Value | undefined)[], { services }: EvalContext): void {
  if (typeof model === "string") services.checkModel?.(model, "claims");
}

type Rows = readonly (readonly Value[])[];
type Ask = NonNullable<EvalServices["verifyClaims"]>;

/** Asks for the rows in which the arguments at these places are known; the others are NULL. */
function asking(service: (services: EvalServices) => Ask | undefined, needed: readonly number[]) {
  return async (columns: Rows, count: number, context: DeferredContext): Promise<readonly Value[]> => {
    const ask = service(context.services);
    if (ask === undefined) throw new DbError("not_supported", "Claims cannot be verified here.");
    const values = new Array<Value>(count).fill(null);
    const calls: number[] = [];
    for (let i = 0; i < count; i++) if (needed.every((column) => columns[column]![i] !== null)) calls.push(i);
    if (calls.length === 0) return values;
    const rows = calls.map((i) => columns.map((column) => plain(column[i]!)));
    const found = await ask.call(context.services, rows, context);
    for (const [i, call] of calls.entries()) values[call] = new Json(found[i]);
    return values;
  };
}

/** JSON and arrays as what they hold. */
function plain(value: Value): unknown {
  if (value instanceof Json) return value.value;
  return typeof value === "object" && value !== null && "elements" in value ? (value as SqlArray).elements : value;
}

const classify = asking(({ classifyClaims }) => classifyClaims, [1, 2]);
const verify = asking(({ verifyClaims }) => verifyClaims, [1, 2]);

export const CLAIM_FUNCTIONS: readonly ScalarFunction[] = [
  deferredFn("nli_classify", [TEXT, TEXT, TEXT], JSONB, classify, OPTIONS),
];

/**
 * JSON comes as json, as jsonb or as a text; anchors also as an array of texts. What has no type yet is jsonb, so that a
 * parameter may be a list.
 */
export const CLAIM_FAMILIES: readonly FunctionFamily[] = [
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
