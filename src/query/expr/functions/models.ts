/** Functions that ask models: what installed models are and do is behind the session's services (EvalServices). */
import { DbError } from "../../../protocol/errors.js";
import {
  BOOL,
  INT4,
  INT8,
  JSONB,
  recordOf,
  type SqlType,
  TEXT,
  TIMESTAMPTZ,
  type Value,
  VECTOR,
} from "../../../values/values.js";
import type { DeferredContext, EvalContext, EvalServices, ScalarFunction } from "../expr.js";
import { recordRows, type TableFunction, type TableRows } from "../table-function.js";
import { contextFn, deferredFn } from "./define.js";

function embed({ services }: EvalContext, text: string, model: string | null = null): Value {
  if (services.embed === undefined) throw new DbError("not_supported", "EMBED is not available here.");
  return services.embed(text, model);
}

/** The texts of each model together. */
async function embedRows(
  [texts, models]: readonly (readonly Value[])[],
  count: number,
  context: DeferredContext,
): Promise<readonly Value[]> {
  const { embedLater } = context.services;
  if (embedLater === undefined) throw new DbError("not_supported", "EMBED is not available here.");
  const byModel = new Map<string | null, number[]>();
  for (let i = 0; i < count; i++) {
    const model = (models?.[i] ?? null) as string | null;
    const calls = byModel.get(model);
    if (calls === undefined) byModel.set(model, [i]);
    else calls.push(i);
  }
  const vectors = new Array<Value>(count).fill(null);
  for (const [model, calls] of byModel) {
    const some = calls.map((i) => texts![i] as string);
    const found = await embedLater.call(context.services, some, model, context);
    for (const [i, call] of calls.entries()) vectors[call] = found[i]!;
  }
  return vectors;
}

function checkModel([, model]: readonly (Value | undefined)[], { services }: EvalContext): void {
  if (typeof model === "string") services.checkModel?.(model, "embedding");
}

/** Immutable, since a bundle is: so generated columns may be embeddings. A call is not worth folding. */
const embedding = (fn: ScalarFunction): ScalarFunction =>
  Object.freeze({
    ...fn,
    volatility: "immutable",
    slow: true as const,
    deferred: { evaluate: embedRows, mayBeApplied: true as const, ...(fn.args.length > 1 && { check: checkModel }) },
  });

/** One after the other: each may load gigabytes. */
function managing(
  name: string,
  returns: SqlType,
  work: (services: EvalServices) => Managing | undefined,
): ScalarFunction {
  const evaluate = async ([models]: readonly (readonly Value[])[], count: number, context: DeferredContext) => {
    const values: Value[] = [];
    for (let i = 0; i < count; i++) {
      const manage = work(context.services);
      if (manage === undefined) throw new DbError("not_supported", `${name.toUpperCase()} is not available here.`);
      values.push(await manage.call(context.services, models![i] as string, context));
    }
    return values;
  };
  return Object.freeze({ ...deferredFn(name, [TEXT], returns, evaluate, { rowsMax: 1 }), writes: true as const });
}

type Managing = (model: string, context: DeferredContext) => Promise<Value>;

export const MODEL_FUNCTIONS: readonly ScalarFunction[] = [
  embedding(contextFn("embed", [TEXT], VECTOR, embed)),
  embedding(contextFn("embed", [TEXT, TEXT], VECTOR, embed)),
  managing("pull_model", JSONB, ({ pullModel }) => pullModel),
  managing("delete_model", BOOL, ({ deleteModel }) => deleteModel),
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
  { name: "tag", type: TEXT },
  { name: "source", type: TEXT },
  { name: "restart_required", type: BOOL },
]);

/** SHOW MODELS: the same, and after them the models that the tenant has trained. */
export const SHOW_MODELS: TableFunction = Object.freeze({
  name: "list_models",
  args: [],
  returns: MODEL_ROW,
  strict: true,
  open: ({ services }: EvalContext) => new ShownModels(services),
});

class ShownModels implements TableRows {
  #rows: readonly (readonly Value[])[] | null = null;
  #given = 0;

  constructor(private readonly services: EvalServices) {}

  async next(out: readonly Value[][], at: number, max: number): Promise<number> {
    const { services } = this;
    this.#rows ??= [...(services.models?.() ?? []), ...((await services.trainedModels?.()) ?? [])];
    const rows = this.#rows.slice(this.#given, this.#given + max);
    for (const [i, row] of rows.entries()) for (let c = 0; c < out.length; c++) out[c]![at + i] = row[c]!;
    this.#given += rows.length;
    return rows.length;
  }
}

/** Columns of the first six names are those that clients of this interface know. */
export const LIST_MODELS: TableFunction = Object.freeze({
  name: "list_models",
  args: [],
  returns: MODEL_ROW,
  strict: true,
  open: ({ services }: EvalContext) => recordRows(services.models?.() ?? []),
});
