/**
 * The embedder of one request: it counts for the tenant, and gives way to others between texts. Made by handlers.
 */

import type { Request } from "../../actor/request.js";
import type { Embedder } from "../../ai/embedder.js";
import { RUN_ITEMS_MAX } from "../../ai/inference-lane.js";
import { traced } from "../../session/trace.js";

/** `count`: told the number of tokens that the model has read, one text or several at a time. */
export function embedderOf(request: Request, count: (tokens: number) => void = () => undefined): Embedder {
  const { models } = request.partition;
  const user = request.modelUser;
  return {
    async embed(texts, model) {
      const name = model ?? null;
      const vectors: Float32Array[] = [];
      while (vectors.length < texts.length) {
        const embedded = models.embeddedNow(texts[vectors.length]!, name, user);
        if (embedded === null) {
          // So few at a time that others' texts need not wait for all of these.
          const some = texts.slice(vectors.length, vectors.length + RUN_ITEMS_MAX);
          const work = () => models.embeddedSome(some, name, user);
          const about = { "gen_ai.request.texts": some.length };
          const { rows, tokens } = await traced(request.trace, "inference", about, work);
          vectors.push(...rows);
          count(tokens);
          request.checkpoint();
        } else {
          vectors.push(embedded.vector);
          count(embedded.tokens);
        }
        if (request.shouldYield()) await request.yieldTurn();
      }
      return vectors;
    },
  };
}

/** One text's vector: at once, where the model answers at once. */
export function embedText(
  { partition, modelUser }: Request,
  text: string,
  model: string | null,
): Float32Array | Promise<Float32Array> {
  const vector = partition.models.embedNow(text, model, modelUser);
  return vector ?? partition.models.embedSome([text], model, modelUser).then(([later]) => later!);
}
