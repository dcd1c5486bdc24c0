/**
 * Expressions over large values, computed in another process: what is sent there, what is done there, and what comes back.
 * `jobFor` is the actor's part, `computeJob` that process's, `valueOfComputed` the actor's again.
 */
import { DbError, type ErrorCode, type ErrorDetails } from "../../protocol/errors.js";
import { sizeError } from "../../protocol/size-errors.js";
import { fromText, toText } from "../../protocol/text-format.js";
import { Json, type SqlType, type Value } from "../../protocol/values.js";
import { compileExpr } from "./compile.js";
import type { EvalContext, EvalServices } from "./expr.js";
import { leafTypes, receivedExpr, typeOfKey } from "./sent-expr.js";
import type { SentExpr } from "./sent-form.js";

export interface ComputeJob {
  readonly expr: SentExpr;
  readonly leaves: readonly unknown[];
  /** What functions may know of the statement. */
  readonly context: Pick<EvalContext, "transactionMicros" | "statementMicros" | "timeZone" | "user" | "tenant">;
  readonly textSearchConfig: string | null;
}

/** `here`: it has to be computed where the statement runs, because it asks for more than it was given. */
export type Computed =
  | { readonly value: unknown }
  | { readonly here: true }
  | { readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: ErrorDetails } };

/** Null: one of the values cannot be sent. */
export function jobFor(expr: SentExpr, values: readonly Value[], context: EvalContext): ComputeJob | null {
  const types = leafTypes(expr);
  const leaves = values.map((value, i) => sentForm(types[i]!, value));
  if (leaves.includes(undefined)) return null;
  const { transactionMicros, statementMicros, timeZone, user, tenant, services } = context;
  return {
    expr,
    leaves,
    context: { transactionMicros, statementMicros, timeZone, user, tenant },
    textSearchConfig: services.setting?.("default_text_search_config") ?? null,
  };
}

/** What is not itself on its way. */
type Wrapped =
  | { readonly json: unknown; readonly jsonText: string | undefined }
  /** In the text form of its type. */
  | { readonly text: string };

/** Types whose values are small objects of classes. */
const AS_TEXT: ReadonlySet<string> = new Set(["numeric", "jsonpath", "interval", "timetz"]);

/** Of an array that is sent: for more, it takes as long to send as to look at. */
const ELEMENTS_MAX = 100_000;

/** Undefined: a value of a class that other processes do not know, or a list, which costs as much to send as to look at. */
function sentForm(type: SqlType, value: Value): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array || value instanceof Float32Array) return value;
  if (value instanceof Json) return { json: value.value, jsonText: value.text } satisfies Wrapped;
  if (AS_TEXT.has(type.name)) return { text: toText(type, value) } satisfies Wrapped;
  if (!("elements" in value && Array.isArray(value.elements)) || value.elements.length > ELEMENTS_MAX) return undefined;
  return value.elements.some(isObject) ? undefined : value;
}

const isObject = (value: Value): boolean => typeof value === "object" && value !== null;

function received(type: SqlType, sent: unknown): Value {
  if (typeof sent !== "object" || sent === null) return sent as Value;
  if ("text" in sent) return fromText(type, sent.text as string);
  if (!("json" in sent)) return sent as Value;
  const { json, jsonText } = sent as Wrapped & { readonly json: unknown; readonly jsonText: string | undefined };
  return jsonText === undefined ? new Json(json) : new Json(json, jsonText);
}

class NotHere extends Error {}

/** In that process. */
export function computeJob({ expr, leaves, context, textSearchConfig }: ComputeJob): Computed {
  const within: EvalContext = {
    ...context,
    params: [],
    outer: null,
    checkpoint() {},
    services: servicesWith(textSearchConfig),
  };
  try {
    const evaluate = compileExpr(receivedExpr(expr), (place) => place);
    const types = leafTypes(expr);
    const columns = leaves.map((leaf, i) => [received(types[i]!, leaf)]);
    const value = evaluate({ columns, length: 1 }, 0, within);
    const sent = sentForm(typeOfKey(expr.type), value);
    return sent === undefined ? { here: true } : { value: sent };
  } catch (thrown) {
    if (thrown instanceof NotHere) return { here: true };
    const error = thrown instanceof DbError ? thrown : sizeError(thrown);
    if (error === null) throw thrown;
    const { code, message, details } = error;
    return { error: { code, message, ...(details !== undefined && { details }) } };
  }
}

/** A session's services are not there: who asks for one is computed where they are. */
function servicesWith(textSearchConfig: string | null): EvalServices {
  const setting = (name: string): string | null => {
    if (name === "default_text_search_config" && textSearchConfig !== null) return textSearchConfig;
    throw new NotHere();
  };
  return new Proxy<EvalServices>(
    { setting },
    {
      get(target, name) {
        if (name in target) return target[name as keyof EvalServices];
        throw new NotHere();
      },
    },
  );
}

/** Throws the expression's error. Undefined: it has to be computed here. */
export function valueOfComputed({ expr }: ComputeJob, computed: Computed): Value | undefined {
  if ("here" in computed) return undefined;
  if ("error" in computed) throw new DbError(computed.error.code, computed.error.message, computed.error.details);
  return received(typeOfKey(expr.type), computed.value);
}
