/** Embeddings: vectors of texts. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { EMBEDDING_CHARACTERS_MAX, EMBEDDING_TEXTS_MAX } from "../limits.js";
import { Strict } from "./schemas.js";

const text = Type.String({ minLength: 1, maxLength: EMBEDDING_CHARACTERS_MAX });
const model = Type.Optional(
  Type.String({ minLength: 1, maxLength: 200, description: "Id or alias. Default: the configured model." }),
);
const Vector = Type.Array(Type.Number(), { description: "A vector of length 1, in single precision." });
const said = {
  model: Type.String({ description: "Id of the model that made the vectors." }),
  dimensions: Type.Integer(),
};

export const aiEndpoints = [
  {
    name: "ai.embed",
    door: "none",
    method: "POST",
    path: "/v1/ai/embeddings",
    summary: "Embed a text. The model reads as much of a long text as fits.",
    tag: "ai",
    access: "member",
    home: "tenant",
    body: Strict({ text, model }),
    example: { body: { text: "A boat in the harbour." } },
    response: Type.Object({ embedding: Vector, embeddings: Vector, ...said }),
  },
  {
    name: "ai.embedBatch",
    door: "none",
    method: "POST",
    path: "/v1/ai/embeddings/batch",
    summary: "Embed several texts, in order. The body may also be the list of texts itself.",
    tag: "ai",
    access: "member",
    home: "tenant",
    listIs: "texts",
    body: Strict({ texts: Type.Array(text, { minItems: 1, maxItems: EMBEDDING_TEXTS_MAX }), model }),
    example: { body: { texts: ["A boat in the harbour.", "A walk uphill."] } },
    response: Type.Object({ embeddings: Type.Array(Vector), ...said }),
  },
] as const satisfies readonly EndpointSpec[];
