/** /v1/models, /v1/embeddings, /v1/chat/completions and /v1/responses: OpenAI's interface. */
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import type { BodyOf, ResponseOf } from "../../protocol/endpoints.js";
import { type Answer, STREAMED, type TextAnswer } from "../../session/answer.js";
import { type FrameForm, FrameStream, refuseKept } from "../chat/frame-stream.js";
import { answerOf } from "./answer-source.js";
import { type CompletionFacts, EVENT_STREAM, streamCompletion, wholeCompletion } from "./completion-reply.js";
import { completionAsked } from "./completion-request.js";
import { embeddings } from "./embeddings.js";
import { findModel, listModels } from "./model-list.js";
import { ResponseReply, type Tell } from "./response-reply.js";
import { type ResponseAsked, type ResponseBody, responseAsked } from "./response-request.js";
import { deleteResponse, findResponse, keepResponse, newStamp, type StoredResponse } from "./response-store.js";

export const openaiHandlers = {
  "openai.models.list": async (request) => ({ plain: { object: "list", data: await listModels(request) } }),
  "openai.models.get": async (request, { params }) => ({ plain: await findModel(request, params.id) }),
  "openai.embeddings": (request, { body }) => embeddings(request, body),
  "openai.completions": (request, { body }) => complete(request, body),
  "openai.responses.create": (request, { body }) => respond(request, body),
  "openai.responses.get": async (request, { params }) => ({ plain: await findResponse(request, params.id) }),
  "openai.responses.delete": async (request, { params }) => {
    const answer = { plain: { id: params.id, object: "response", deleted: true } } as const;
    await deleteResponse(request, params.id, answer);
    return answer;
  },
} satisfies Handlers;

type Completion = ResponseOf<"openai.completions">;

async function complete(request: Request, body: BodyOf<"openai.completions">): Promise<Answer<Completion>> {
  const asked = completionAsked(body);
  const events = await answerOf(request, asked);
  const facts: CompletionFacts = {
    id: `chatcmpl-${newStamp()}`,
    created: Math.floor(Date.now() / 1000),
    model: body.model,
  };
  if (body.stream !== true) return wholeCompletion(events, facts);
  return streamCompletion(request, events, facts, body.stream_options?.include_usage === true);
}

async function respond(request: Request, body: ResponseBody): Promise<Answer<StoredResponse>> {
  if (body.stream === true) refuseKept(request);
  const asked = await responseAsked(request, body);
  if (body.stream === true) return streamResponse(request, body, asked);
  const reply = new ResponseReply(body, newStamp(), isKept(request, body), () => undefined);
  for await (const event of await answerOf(request, asked)) await reply.add(event);
  const response = await reply.end();
  const answer: Answer<StoredResponse> = { plain: response };
  await keep(request, body, asked, response, answer);
  return answer;
}

/** A key that may only read keeps nothing. */
function isKept({ readOnly }: Request, { store }: ResponseBody): boolean {
  return store !== false && !readOnly;
}

async function keep(
  request: Request,
  body: ResponseBody,
  { items }: ResponseAsked,
  response: StoredResponse,
  answer: Answer | null,
): Promise<void> {
  if (!isKept(request, body)) return;
  await keepResponse(request, response, body.previous_response_id ?? null, items, answer);
}

async function streamResponse(request: Request, body: ResponseBody, asked: ResponseAsked): Promise<TextAnswer> {
  const events = await answerOf(request, asked);
  let number = 0;
  const frame = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...fields })}\n\n`;
  const form: FrameForm = { ...EVENT_STREAM, error: (errorJson) => frame("error", errorOf(errorJson)) };
  const stream = new FrameStream(request, form);
  const tell: Tell = (type, fields) => stream.write(frame(type, fields));
  const reply = new ResponseReply(body, newStamp(), isKept(request, body), tell);
  try {
    let begun = false;
    for await (const event of events) {
      if (!begun) await reply.begin();
      begun = true;
      await reply.add(event);
    }
    const response = await reply.end();
    await keep(request, body, asked, response, null);
    // It is not said to be whole before it is on disk.
    await request.durable();
    await reply.completed(response);
    await stream.end();
    return STREAMED;
  } finally {
    stream.close();
  }
}

/** An event has the error's fields itself, without its type. */
function errorOf(errorJson: string): object {
  const { error } = JSON.parse(errorJson) as { readonly error: Readonly<Record<string, unknown>> };
  return { code: error.code, message: error.message, param: error.param };
}
