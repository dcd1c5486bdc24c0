/** POST /v1/embeddings: vectors in the forms of OpenAI's interface. Called by the routes; no state. */
import type { Request } from "../../actor/request.js";
import type { BodyOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { TextAnswer } from "../../session/answer.js";
import { vectorToJson } from "../../values/vector-text.js";
import { embedderOf } from "../models/request-embedder.js";

type Body = BodyOf<"openai.embeddings">;

export async function embeddings(request: Request, body: Body): Promise<TextAnswer> {
  const { model, encoding_format: format = "float" } = body;
  const texts = textsOf(body.input);
  const { id, dimensions: own } = request.partition.models.describe(model);
  const dimensions = dimensionsOf(body, id, own);
  let tokens = 0;
  const count = (more: number): void => {
    tokens += more;
  };
  const vectors = await embedderOf(request, count).embed(texts, model);
  const items: string[] = [];
  for (const [index, vector] of vectors.entries()) {
    const shown = dimensions === own ? vector : shortened(vector, dimensions);
    const embedding = format === "base64" ? `"${base64Of(shown)}"` : vectorToJson(shown);
    items.push(`{"object":"embedding","index":${index},"embedding":${embedding}}`);
    if (request.shouldYield()) await request.yieldTurn();
  }
  const usage = `{"prompt_tokens":${tokens},"total_tokens":${tokens}}`;
  return { json: `{"object":"list","data":[${items.join()}],"model":${JSON.stringify(model)},"usage":${usage}}` };
}

function textsOf(input: Body["input"]): readonly string[] {
  if (typeof input === "string") return [input];
  const texts = input.filter((item) => typeof item === "string");
  if (texts.length === input.length) return texts;
  const message = "Lists of tokens are not supported, because models here have tokens of their own. Send texts.";
  const hint =
    "Clients that make tokens by themselves have a switch: LangChain for Python takes check_embedding_ctx_length=False.";
  throw new DbError("invalid_request", message, { field: "input", hint });
}

function dimensionsOf({ dimensions }: Body, model: string, own: number): number {
  if (dimensions === undefined) return own;
  if (dimensions <= own) return dimensions;
  const message = `The model "${model}" makes vectors of ${own} dimensions; "dimensions" must be at most that.`;
  throw new DbError("invalid_request", message, { field: "dimensions" });
}

/** The first dimensions, at length 1 again. */
function shortened(vector: Float32Array, dimensions: number): Float32Array {
  const part = vector.slice(0, dimensions);
  const length = Math.hypot(...part);
  return length === 0 ? part : part.map((value) => value / length);
}

/** 32-bit floats, little-endian. */
function base64Of(vector: Float32Array): string {
  const bytes = Buffer.allocUnsafe(4 * vector.length);
  for (let i = 0; i < vector.length; i++) bytes.writeFloatLE(vector[i]!, 4 * i);
  return bytes.toString("base64");
}
