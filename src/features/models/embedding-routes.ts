/** /v1/ai/…: what models do for clients. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import type { InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { after } from "../../query/exec/operator.js";
import type { Answer, TextAnswer } from "../../session/answer.js";
import { vectorToJson } from "../../values/vector-text.js";
import { embedderOf, embedText } from "./request-embedder.js";

export const aiHandlers = {
  "ai.embed": embed,
  "ai.embedBatch": embedBatch,
} satisfies Handlers;

/** Facts about the model, as the last fields of a JSON object. */
function said(request: Request, model: string | null): string {
  const { id, dimensions } = request.partition.models.describe(model);
  return `"model":${JSON.stringify(id)},"dimensions":${dimensions}}`;
}

type Embedded = Answer<ResponseOf<"ai.embed">>;

function embed(request: Request, { body }: InputOf<"ai.embed">): Embedded | Promise<Embedded> {
  const { text, model = null } = body;
  return after(embedText(request, text, model), (vector) => embedded(request, model, vector));
}

function embedded(request: Request, model: string | null, vector: Float32Array): Embedded {
  const numbers = vectorToJson(vector);
  if (!request.wantsMsgpack) return { json: `{"embedding":${numbers},"embeddings":${numbers},${said(request, model)}` };
  const embedding = JSON.parse(numbers) as number[];
  const { id, dimensions } = request.partition.models.describe(model);
  return { plain: { embedding, embeddings: embedding, model: id, dimensions } };
}

async function embedBatch(request: Request, { body }: InputOf<"ai.embedBatch">): Promise<TextAnswer> {
  const { texts, model } = body;
  const vectors = await embedderOf(request).embed(texts, model);
  return { json: `{"embeddings":[${vectors.map(vectorToJson).join()}],${said(request, model ?? null)}` };
}
