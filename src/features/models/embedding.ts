/** EMBED for one statement: vectors of texts by the models of the installation. */
import type { ModelUser } from "../../ai/model-budget.js";
import { sqlError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
import type { DeferredContext } from "../../query/expr/expr.js";
import type { Embedding } from "../../query/expr/functions/models.js";
import type { AskingStatement } from "../../session/capabilities.js";
import { traced } from "../../session/trace.js";

export class StatementEmbedding implements Embedding {
  /** Of generated columns, by model and text. */
  private keptVectors: Map<string, Float32Array> | null = null;

  constructor(private readonly statement: AskingStatement) {}

  private get models() {
    return this.statement.tenant.partition.models;
  }

  private get user(): ModelUser {
    const { client, tenantName: tenant } = this.statement;
    return { tenant, budget: (client.origin ?? client).budget ?? null };
  }

  describe(model: string | null): { readonly id: string; readonly dimensions: number } {
    return this.models.describe(model);
  }

  now(text: string, model: string | null): Float32Array {
    const { models } = this;
    const vector = models.embedNow(text, model, this.user);
    if (vector !== null) return vector;
    const kept = this.keptVectors?.get(`${model ?? ""}\0${text}`);
    if (kept !== undefined) return kept;
    throw sqlError("0A000", `EMBED cannot wait for the model "${models.describe(model).id}" here`, {
      hint: 'Only models of the architecture "static" can be used in defaults, checks, generated columns and indexes.',
    });
  }

  async later(
    texts: readonly string[],
    model: string | null,
    context: DeferredContext,
  ): Promise<readonly Float32Array[]> {
    const { models } = this;
    const { user } = this;
    const { client } = this.statement;
    if (!models.answersAtOnce(model)) {
      const later = await traced(client.trace, "inference", { "gen_ai.request.texts": texts.length }, () =>
        models.embedSome(texts, model, user, context.signal),
      );
      if (context.keeps) this.keepVectors(texts, model, later, context);
      return later;
    }
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      vectors.push(models.embedNow(text, model, user)!);
      if (context.shouldYield()) await context.yieldTurn();
    }
    return vectors;
  }

  /** They count as the statement's memory, until it ends. */
  private keepVectors(
    texts: readonly string[],
    model: string | null,
    vectors: readonly Float32Array[],
    context: DeferredContext,
  ): void {
    this.keptVectors ??= new Map();
    for (const [i, text] of texts.entries()) {
      const vector = vectors[i]!;
      const { statement } = context as DeferredContext & ExecContext;
      statement.reserve(2 * text.length + vector.byteLength);
      this.keptVectors.set(`${model ?? ""}\0${text}`, vector);
    }
  }
}
