/**
 * OpenAI's interface: models, embeddings, chat completions and responses, for the many programs that speak it. Answers
 * and errors have that interface's form. Collections and agents are models there.
 */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { CHAT_CHARACTERS_MAX, EMBEDDING_CHARACTERS_MAX, EMBEDDING_TEXTS_MAX, OPENAI_ITEMS_MAX } from "../limits.js";
import {
  completionTools,
  FormatSchema,
  ImageDetail,
  metadata,
  responseTools,
  sampling,
  Unneeded,
} from "./openai-fields.js";
import { AnyObject, Nullable, Strict } from "./schemas.js";

const Model = Type.String({
  minLength: 1,
  maxLength: 200,
  description:
    "A model of GET /v1/models: `collection:NAME` answers from that collection's passages, `agent:NAME` runs that agent.",
});

const ModelFacts = Type.Object({
  id: Type.String(),
  object: Type.Literal("model"),
  created: Type.Integer({ description: "Seconds since 1970; 0 where it is not known." }),
  owned_by: Type.String({ description: "The provider, or tessera." }),
  kind: Type.Enum(["embedding", "generation", "collection", "agent"]),
});

const text = Type.String({ minLength: 1, maxLength: EMBEDDING_CHARACTERS_MAX });
const listOf = <T extends Type.TSchema>(items: T) => Type.Array(items, { minItems: 1, maxItems: EMBEDDING_TEXTS_MAX });

const Content = Type.String({ maxLength: CHAT_CHARACTERS_MAX });

const ContentPart = Strict({
  type: Type.Enum(["text", "image_url", "refusal"]),
  text: Type.Optional(Content),
  refusal: Type.Optional(Content),
  image_url: Type.Optional(
    Strict({
      url: Type.String({ description: "A data: URL with base64 of a PNG, JPEG, WebP or GIF." }),
      detail: ImageDetail,
    }),
  ),
});

const SentToolCall = Strict({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  type: Type.Literal("function"),
  function: Strict({ name: Type.String({ minLength: 1 }), arguments: Type.String() }),
  index: Type.Optional(Type.Integer()),
});

/** Clients send back answers as they got them. */
const SentMessage = Strict({
  role: Type.Enum(["system", "developer", "user", "assistant", "tool"]),
  content: Type.Optional(Type.Union([Content, Type.Array(ContentPart, { maxItems: OPENAI_ITEMS_MAX }), Type.Null()])),
  tool_calls: Type.Optional(Nullable(Type.Array(SentToolCall))),
  tool_call_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  name: Unneeded("a message is told apart by its role."),
  refusal: Unneeded("the content says it."),
  annotations: Unneeded("they are part of answers."),
  citations: Unneeded("they are part of answers."),
  audio: Unneeded("there is no sound."),
  reasoning_content: Unneeded("models do not read it again."),
});

const Usage = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
});

const Completion = Type.Object({
  id: Type.String(),
  object: Type.Literal("chat.completion"),
  created: Type.Integer(),
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Type.Integer(),
      message: Type.Object({
        role: Type.Literal("assistant"),
        content: Nullable(Type.String()),
        refusal: Nullable(Type.String()),
        tool_calls: Type.Optional(Type.Array(AnyObject)),
        citations: Type.Optional(
          Type.Array(AnyObject, { description: "The passages that a collection's answer rests on." }),
        ),
      }),
      logprobs: Type.Null(),
      finish_reason: Type.Enum(["stop", "length", "tool_calls", "content_filter"]),
    }),
  ),
  usage: Usage,
});

/** Its items are read one by one, since each kind has fields of its own (features/openai/response-items.ts). */
const InputItems = Type.Array(AnyObject, {
  minItems: 1,
  maxItems: OPENAI_ITEMS_MAX,
  description: "Messages, function_call, function_call_output, reasoning and item_reference.",
});

const ResponseFacts = Type.Object({
  id: Type.String(),
  object: Type.Literal("response"),
  created_at: Type.Integer(),
  status: Type.Enum(["completed", "incomplete", "in_progress", "failed"]),
  model: Type.String(),
  output: Type.Array(AnyObject),
  usage: Nullable(AnyObject),
  store: Type.Boolean({ description: "False: it is not kept, so nothing can follow it." }),
});

const ResponseId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100 }) });

const form = "openai";
const tag = "openai";

export const openaiEndpoints = [
  {
    name: "openai.models.list",
    door: "statements",
    method: "GET",
    path: "/v1/models",
    summary: "The models that the caller can name: embeddings, chat models, collections and agents.",
    tag,
    form,
    access: "member",
    home: "tenant",
    response: Type.Object({ object: Type.Literal("list"), data: Type.Array(ModelFacts) }),
  },
  {
    name: "openai.models.get",
    door: "statements",
    method: "GET",
    path: "/v1/models/{id}",
    summary: "One of them.",
    tag,
    form,
    access: "member",
    home: "tenant",
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
    response: ModelFacts,
  },
  {
    name: "openai.embeddings",
    door: "none",
    method: "POST",
    path: "/v1/embeddings",
    summary: "Embed a text or several, as numbers or as base64 of little-endian 32-bit floats.",
    tag,
    form,
    access: "member",
    home: "tenant",
    body: Strict({
      model: Type.String({ minLength: 1, maxLength: 200 }),
      input: Type.Union([text, listOf(text), listOf(Type.Integer()), listOf(listOf(Type.Integer()))], {
        description: "A text or a list of texts. Lists of tokens are refused: models here have other tokens.",
      }),
      encoding_format: Type.Optional(Type.Enum(["float", "base64"])),
      dimensions: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 65_535,
          description: "The vector's first so many dimensions, at length 1 again. At most those of the model.",
        }),
      ),
      user: Unneeded("the credential says who asks."),
    }),
    example: { body: { model: "default", input: "A boat in the harbour." } },
    response: Type.Object({
      object: Type.Literal("list"),
      data: Type.Array(
        Type.Object({
          object: Type.Literal("embedding"),
          index: Type.Integer(),
          embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
        }),
      ),
      model: Type.String(),
      usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
    }),
  },
  {
    name: "openai.completions",
    door: "statements",
    method: "POST",
    path: "/v1/chat/completions",
    summary:
      "The next message of a chat, whole or as a stream of `data:` chunks that ends with `data: [DONE]`. Nothing is stored.",
    tag,
    form,
    access: "member",
    home: "tenant",
    failures: [502],
    body: Strict({
      model: Model,
      messages: Type.Array(SentMessage, { minItems: 1, maxItems: OPENAI_ITEMS_MAX }),
      ...sampling,
      ...completionTools,
      frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
      presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
      logit_bias: Type.Optional(Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 }))),
      logprobs: Type.Optional(Type.Boolean({ description: "Only false." })),
      max_completion_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      modalities: Type.Optional(Type.Array(Type.Literal("text"))),
      n: Type.Optional(Type.Integer({ description: "Only 1." })),
      reasoning_effort: Type.Optional(Type.String({ maxLength: 20 })),
      response_format: Type.Optional(
        Strict({
          type: Type.Enum(["text", "json_object", "json_schema"]),
          json_schema: Type.Optional(FormatSchema),
        }),
      ),
      seed: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
      stop: Type.Optional(
        Type.Union([
          Type.String({ minLength: 1, maxLength: 200 }),
          Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 4 }),
        ]),
      ),
      stream_options: Type.Optional(
        Strict({
          include_usage: Type.Optional(Type.Boolean()),
          include_obfuscation: Unneeded("chunks are sent as they are."),
        }),
      ),
      metadata: Unneeded("chat completions are not stored."),
      store: Unneeded("chat completions are not stored."),
      verbosity: Unneeded("models here have no such setting."),
      prediction: Unneeded("it only makes some models faster."),
    }),
    streamedReply: ["text/event-stream"],
    example: {
      body: {
        model: "collection:article",
        messages: [{ role: "user", content: "Which article is about boats?" }],
        max_tokens: 32,
      },
    },
    response: Completion,
  },
  {
    name: "openai.responses.create",
    door: "statements",
    method: "POST",
    path: "/v1/responses",
    summary:
      "A model's response to a text or to items, whole or as a stream of events. It is kept, for previous_response_id, unless `store` is false or the key is read-only.",
    tag,
    form,
    access: "member",
    home: "tenant",
    failures: [502],
    body: Strict({
      model: Model,
      input: Type.Union([Type.String({ minLength: 1, maxLength: CHAT_CHARACTERS_MAX }), InputItems]),
      instructions: Type.Optional(Type.String({ maxLength: CHAT_CHARACTERS_MAX })),
      previous_response_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      store: Type.Optional(Type.Boolean()),
      ...sampling,
      ...responseTools,
      max_output_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      metadata: Type.Optional(metadata),
      reasoning: Type.Optional(Type.Object({ effort: Type.Optional(Nullable(Type.String({ maxLength: 20 }))) })),
      text: Type.Optional(
        Strict({
          format: Type.Optional(
            Strict({
              type: Type.Enum(["text", "json_object", "json_schema"]),
              ...FormatSchema.properties,
              name: Type.Optional(FormatSchema.properties.name),
            }),
          ),
          verbosity: Unneeded("models here have no such setting."),
        }),
      ),
      background: Type.Optional(Type.Boolean({ description: "Only false." })),
      include: Unneeded("all there is is in the answer."),
      truncation: Unneeded("a prompt that is too long is refused by its model."),
      stream_options: Unneeded("events are sent as they are."),
      max_tool_calls: Unneeded("the client calls the tools."),
      context_management: Unneeded("conversations are not compacted."),
    }),
    streamedReply: ["text/event-stream"],
    example: { body: { model: "collection:article", input: "Which article is about boats?" } },
    response: ResponseFacts,
  },
  {
    name: "openai.responses.get",
    door: "statements",
    method: "GET",
    path: "/v1/responses/{id}",
    summary: "A response that was kept. Each user sees their own.",
    tag,
    form,
    access: "member",
    home: "tenant",
    params: ResponseId,
    response: ResponseFacts,
  },
  {
    name: "openai.responses.delete",
    door: "statements",
    method: "DELETE",
    path: "/v1/responses/{id}",
    summary: "Removes a response that was kept. Those that follow it can be followed no more.",
    tag,
    form,
    access: "writer",
    home: "tenant",
    params: ResponseId,
    response: Type.Object({ id: Type.String(), object: Type.Literal("response"), deleted: Type.Boolean() }),
  },
] as const satisfies readonly EndpointSpec[];
