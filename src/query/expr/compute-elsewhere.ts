/**
 * Expressions over large values that another process computes: what is sent there, computed there, and sent back.
 * `jobFor` is the actor's part, `computeJob` that process's, `valueOfComputed` the actor's again.
 */

import { DbError, type ErrorCode, type ErrorDetails } from "../../protocol/errors.js";
import { sizeError } from "../../protocol/size-errors.js";
import type { Turns } from "../../protocol/turns.js";
import type { Value } from "../../values/values.js";
import { compileExpr } from "./compile.js";
import type { DeferredContext, EvalContext, EvalServices } from "./expr.js";
import { refusingServices } from "./no-services.js";
import { leafTypes, receivedExpr, typeOfKey } from "./sent-expr.js";
import type { SentExpr } from "./sent-form.js";
import { receivedValue, type Sent, sentValue } from "./sent-value.js";

export interface ComputeJob {
  readonly expr: SentExpr;
  readonly leaves: readonly Sent[];
  /** What functions may know of the statement. */
  readonly context: Pick<
    EvalContext,
    "transactionMicros" | "statementMicros" | "timeZone" | "style" | "user" | "tenant"
  >;
  readonly textSearchConfig: string | null;
}

/** `here`: it has to be computed where the statement runs, because it asks for more than it was given. */
export type Computed =
  | { readonly value: Sent }
  | { readonly here: true }
  | { readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: ErrorDetails } };

/** Undefined: one of the values cannot be sent. */
export async function jobFor(
  expr: SentExpr,
  values: readonly Value[],
  context: DeferredContext,
): Promise<ComputeJob | undefined> {
  const types = leafTypes(expr);
  const leaves: Sent[] = [];
  for (const [i, value] of values.entries()) {
    const leaf = await sentValue(types[i]!, value, context);
    if (leaf === undefined) return undefined;
    leaves.push(leaf);
  }
  const { transactionMicros, statementMicros, timeZone, style, user, tenant, services } = context;
  return {
    expr,
    leaves,
    context: { transactionMicros, statementMicros, timeZone, style, user, tenant },
    textSearchConfig: services.setting("default_text_search_config"),
  };
}

class NotHere extends Error {}

/** That process has nobody to give way to. */
const AT_ONCE: Turns = { shouldYield: () => false, yieldTurn: () => Promise.resolve() };

/** In that process. */
export async function computeJob({ expr, leaves, context, textSearchConfig }: ComputeJob): Promise<Computed> {
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
    const columns: Value[][] = [];
    for (const [i, leaf] of leaves.entries()) columns.push([await receivedValue(types[i]!, leaf, AT_ONCE)]);
    const value = evaluate({ columns, length: 1 }, 0, within);
    const sent = await sentValue(typeOfKey(expr.type), value, AT_ONCE);
    return sent === undefined ? { here: true } : { value: sent };
  } catch (thrown) {
    if (thrown instanceof NotHere) return { here: true };
    const error = thrown instanceof DbError ? thrown : sizeError(thrown);
    if (error === null) throw thrown;
    const { code, message, details } = error;
    return { error: { code, message, ...(details !== undefined && { details }) } };
  }
}

/** A session's services are not available here: an expression that needs one is computed in the actor. */
function servicesWith(textSearchConfig: string | null): EvalServices {
  const refuse = (): never => {
    throw new NotHere();
  };
  const setting = (name: string): string | null => {
    if (name === "default_text_search_config" && textSearchConfig !== null) return textSearchConfig;
    throw new NotHere();
  };
  return { ...refusingServices(refuse), setting };
}

/** Throws the expression's error. Undefined: it has to be computed here. */
export async function valueOfComputed(
  { expr }: ComputeJob,
  computed: Computed,
  turns: Turns,
): Promise<Value | undefined> {
  if ("here" in computed) return undefined;
  if ("error" in computed) throw new DbError(computed.error.code, computed.error.message, computed.error.details);
  return receivedValue(typeOfKey(expr.type), computed.value, turns);
}
