/** Embeddings: vectors of texts. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { EMBEDDING_CHARACTERS_MAX, EMBEDDING_TEXTS_MAX } from "../limits.js";
import { Strict } from "./schemas.js";

const text = Type.String({ minLength: 1, maxLength: EMBEDDING_CHARACTERS_MAX });
const model = Type.Optional(
  Type.String({ minLength: 1, maxLength: 200, description: "Id or alias; the configured one when absent." }),
);
const Vector = Type.Array(Type.Number(), { description: "Of length 1, in single precision." });
const said = {
  model: Type.String({ description: "Id of the model that made them." }),
  dimensions: Type.Integer(),
};

export const aiEndpoints = [
  {
    name: "ai.embed",
    method: "POST",
    path: "/v1/ai/embeddings",
    summary: "A text's vector. Of a long text as much is read as the model takes.",
    tag: "ai",
    access: "member",
    home: "tenant",
    body: Strict({ text, model }),
    example: { body: { text: "A boat in the harbour." } },
    response: Type.Object({ embedding: Vector, embeddings: Vector, ...said }),
  },
  {
    name: "ai.embedBatch",
    method: "POST",
    path: "/v1/ai/embeddings/batch",
    summary: "The vectors of several texts, in their order. The body may also be the list of texts itself.",
    tag: "ai",
    access: "member",
    home: "tenant",
    listIs: "texts",
    body: Strict({ texts: Type.Array(text, { minItems: 1, maxItems: EMBEDDING_TEXTS_MAX }), model }),
    example: { body: { texts: ["A boat in the harbour.", "A walk uphill."] } },
    response: Type.Object({ embeddings: Type.Array(Vector), ...said }),
  },
] as const satisfies readonly EndpointSpec[];
