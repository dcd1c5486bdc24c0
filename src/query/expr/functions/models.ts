/** Functions that ask models: what installed models are and do is behind the session's services (EvalServices). */
import { DbError } from "../../../protocol/errors.js";
import { INT4, INT8, recordOf, TEXT, TIMESTAMPTZ, type Value, VECTOR } from "../../../protocol/values.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { recordRows, type TableFunction } from "../table-function.js";
import { contextFn } from "./define.js";

function embed({ services }: EvalContext, text: string, model: string | null = null): Value {
  if (services.embed === undefined) throw new DbError("not_supported", "EMBED is not available here.");
  return services.embed(text, model);
}

/** Immutable, since a bundle is: so generated columns may be embeddings. A call is not worth folding. */
const embedding = (fn: ScalarFunction): ScalarFunction =>
  Object.freeze({ ...fn, volatility: "immutable", slow: true as const });

export const MODEL_FUNCTIONS: readonly ScalarFunction[] = [
  embedding(contextFn("embed", [TEXT], VECTOR, embed)),
  embedding(contextFn("embed", [TEXT, TEXT], VECTOR, embed)),
];

const MODEL_ROW = recordOf([
  { name: "name", type: TEXT },
  { name: "architecture", type: TEXT },
  { name: "size_bytes", type: INT8 },
  { name: "digest", type: TEXT },
  { name: "pulled_at", type: TIMESTAMPTZ },
  { name: "last_used_at", type: TIMESTAMPTZ },
  { name: "alias", type: TEXT },
  { name: "kind", type: TEXT },
  { name: "dimensions", type: INT4 },
  { name: "max_length", type: INT4 },
  { name: "revision", type: TEXT },
  { name: "licence", type: TEXT },
  { name: "state", type: TEXT },
  { name: "problem", type: TEXT },
]);

/** Columns of the first six names are those that clients of this interface know. */
export const LIST_MODELS: TableFunction = Object.freeze({
  name: "list_models",
  args: [],
  returns: MODEL_ROW,
  strict: true,
  open: ({ services }: EvalContext) => recordRows(services.models?.() ?? []),
});
