/** Functions that ask models. The models are behind the capabilities EMBEDDING, MODEL_LIBRARY and TRAINED_MODELS. */
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
import { Capability, need } from "../capability.js";
import type { DeferredContext, EvalContext, EvalServices, ScalarFunction } from "../expr.js";
import { recordRows, type TableFunction, type TableRows } from "../table-function.js";
import { contextFn, deferredFn } from "./define.js";

export interface Embedding {
  /** A text's vector, by the model of that name; null: the configured one. It is only to be read. */
  now(text: string, model: string | null): Float32Array;
  /** The same for some texts, also by models that have to be waited for. */
  later(texts: readonly string[], model: string | null, context: DeferredContext): Promise<readonly Float32Array[]>;
  /** A model's id and dimensions; null: of the configured one. Throws model_not_found. */
  describe(model: string | null): { readonly id: string; readonly dimensions: number };
}

export interface ModelLibrary {
  /** The models that are installed, a row of LIST_MODELS() each. */
  rows(): readonly (readonly Value[])[];
  /**
   * Pulls a model into the installation and waits for it. Returns what was pulled, as JSON. Checks the caller's rights.
   */
  pull(model: string, context: DeferredContext): Promise<Value>;
  /** Deletes one: true. Likewise. */
  delete(model: string): Promise<Value>;
}

/** The models that the tenant has trained, a row of LIST_MODELS() each. */
export type TrainedModels = () => Promise<readonly (readonly Value[])[]>;

export const EMBEDDING = new Capability<Embedding>("EMBED is not available here.");
export const MODEL_LIBRARY = new Capability<ModelLibrary>("Models cannot be managed here.");
export const TRAINED_MODELS = new Capability<TrainedModels>("Models cannot be trained here.", true);

function embed(context: EvalContext, text: string, model: string | null = null): Value {
  return need(context, EMBEDDING).now(text, model);
}

/** The texts of each model together. */
async function embedRows(
  [texts, models]: readonly (readonly Value[])[],
  count: number,
  context: DeferredContext,
): Promise<readonly Value[]> {
  const embedding = need(context, EMBEDDING);
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
    const found = await embedding.later(some, model, context);
    for (const [i, call] of calls.entries()) vectors[call] = found[i]!;
  }
  return vectors;
}

function checkModel([, model]: readonly (Value | undefined)[], { services }: EvalContext): void {
  if (typeof model === "string") services.capability(EMBEDDING)?.describe(model);
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
  work: (library: ModelLibrary, model: string, context: DeferredContext) => Promise<Value>,
): ScalarFunction {
  const evaluate = async ([models]: readonly (readonly Value[])[], count: number, context: DeferredContext) => {
    const values: Value[] = [];
    for (let i = 0; i < count; i++) {
      values.push(await work(need(context, MODEL_LIBRARY), models![i] as string, context));
    }
    return values;
  };
  return Object.freeze({ ...deferredFn(name, [TEXT], returns, evaluate, { rowsMax: 1 }), writes: true as const });
}

export const MODEL_FUNCTIONS: readonly ScalarFunction[] = [
  embedding(contextFn("embed", [TEXT], VECTOR, embed)),
  embedding(contextFn("embed", [TEXT, TEXT], VECTOR, embed)),
  managing("pull_model", JSONB, (library, model, context) => library.pull(model, context)),
  managing("delete_model", BOOL, (library, model) => library.delete(model)),
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

const installedRows = (services: EvalServices) => services.capability(MODEL_LIBRARY)?.rows() ?? [];

/** SHOW MODELS: the same, and after them the models that the tenant has trained. */
export const SHOW_MODELS: TableFunction = Object.freeze({
  name: "list_models",
  args: [],
  returns: MODEL_ROW,
  strict: true,
  open: ({ services }: EvalContext) => new ShownModels(services),
});

class ShownModels implements TableRows {
  private rows: readonly (readonly Value[])[] | null = null;
  private given = 0;

  constructor(private readonly services: EvalServices) {}

  async next(out: readonly Value[][], at: number, max: number): Promise<number> {
    const { services } = this;
    this.rows ??= [...installedRows(services), ...((await services.capability(TRAINED_MODELS)?.()) ?? [])];
    const rows = this.rows.slice(this.given, this.given + max);
    for (const [i, row] of rows.entries()) for (let c = 0; c < out.length; c++) out[c]![at + i] = row[c]!;
    this.given += rows.length;
    return rows.length;
  }
}

/** Columns of the first six names are those that clients of this interface know. */
export const LIST_MODELS: TableFunction = Object.freeze({
  name: "list_models",
  args: [],
  returns: MODEL_ROW,
  strict: true,
  open: ({ services }: EvalContext) => recordRows(installedRows(services)),
});
