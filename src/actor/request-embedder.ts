/** The embedder of one request: counts for its tenant, and gives way to others between the texts. Handlers make it. */
import type { Embedder } from "../ai/embedder.js";
import type { Request } from "./request.js";

export function embedderOf(request: Request): Embedder {
  const { models } = request.partition;
  const tenant = request.head.tenantId;
  return {
    async embed(texts, model) {
      const name = model ?? null;
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        vectors.push(models.embed(text, name, tenant));
        if (request.shouldYield()) await request.yieldTurn();
      }
      return vectors;
    },
  };
}
