/**
 * /v1/ai/sentiment, entities, summarize, classify, qa: by libraries and models of the installation, or by a provider.
 */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import type { Input } from "../../bodies/validate.js";
import {
  type Asked,
  answerByProvider,
  classifyByProvider,
  entitiesByProvider,
  sentimentByProvider,
  summarizeByProvider,
} from "../../language/by-provider.js";
import { TOPICS } from "../../language/classify.js";
import { SUMMARY_CHARACTERS_DEFAULT } from "../../language/summary-length.js";
import { DbError } from "../../protocol/errors.js";
import { LANGUAGE_CHARACTERS_MAX } from "../../protocol/limits.js";
import type { Answer } from "../../session/answer.js";
import { embedderOf } from "../models/request-embedder.js";
import { LanguageHelpers } from "./language-helpers.js";

export const languageHandlers = {
  "language.sentiment": (request, { body }) =>
    ofEach(body, (text) =>
      either(
        request,
        body,
        (helpers) => helpers.sentiment(text),
        (asked) => sentimentByProvider(text, asked),
      ),
    ),
  "language.entities": async (request, { body }) => {
    const found = await either(
      request,
      body,
      (helpers) => helpers.entities(body.text),
      (asked) => entitiesByProvider(body.text, asked),
    );
    return { plain: { entities: found.map((entity) => ({ ...entity, entity_type: entity.type })) } };
  },
  "language.summarize": async (request, { body }) => {
    const length = body.max_length ?? SUMMARY_CHARACTERS_DEFAULT;
    const summary = await either(
      request,
      body,
      (helpers) => helpers.summarize(body.text, length),
      (asked) => summarizeByProvider(body.text, length, asked),
    );
    return { plain: { summary } };
  },
  "language.classify": (request, { body }) => {
    const categories = [...new Set<string>(body.categories ?? TOPICS)];
    return ofEach(body, async (text) => {
      const classifications = await either(
        request,
        body,
        (helpers) => helpers.classify(text, categories, body.multi_label === true),
        (asked) => classifyByProvider(text, categories, body.multi_label === true, asked),
      );
      return { classifications };
    });
  },
  "language.qa": async (request, { body }) => {
    const context = contextOf(body);
    const plain = await either(
      request,
      body,
      (helpers) => helpers.answer(body.question, context),
      (asked) => answerByProvider(body.question, context, asked),
    );
    return { plain };
  },
} satisfies Handlers;

/** The answer for `text`, or a list of them for `texts`. Throws invalid_request. */
async function ofEach<T>(
  { text, texts }: Input["body"],
  answer: (text: string) => Promise<T>,
): Promise<Answer<T | readonly T[]>> {
  if ((text === undefined) === (texts === undefined)) {
    throw new DbError("invalid_request", 'Send one text as "text" or several as "texts".', { field: "text" });
  }
  if (texts === undefined) return { plain: await answer(text) };
  const length = texts.reduce((sum: number, one: string) => sum + one.length, 0);
  if (length > LANGUAGE_CHARACTERS_MAX) {
    const message = `"texts" has ${length} characters in total; a request takes at most ${LANGUAGE_CHARACTERS_MAX}.`;
    throw new DbError("invalid_request", message, { field: "texts" });
  }
  const answers: T[] = [];
  for (const one of texts) answers.push(await answer(one));
  return { plain: answers };
}

function contextOf({ context, text }: Input["body"]): string {
  if (context !== undefined && text === undefined) return context;
  if (text !== undefined && context === undefined) return text;
  throw new DbError("invalid_request", 'Send the text as "context" or as "text".', { field: "context" });
}

/** By the provider that the body asks for, or by what is installed. */
async function either<T>(
  request: Request,
  { provider, model }: Input["body"],
  native: (helpers: LanguageHelpers) => Promise<T>,
  byProvider: (asked: Asked) => Promise<T>,
): Promise<T> {
  const isNative = provider === "native" || (provider === undefined && (model === undefined || model === "native"));
  if (isNative) {
    const { embed } = embedderOf(request);
    const found = await native(new LanguageHelpers(request.partition.tasks, (texts) => embed(texts), request));
    request.checkpoint();
    return found;
  }
  const configured = request.partition.providers.forTenant(request.tenant, request.budget);
  if (configured === null || (provider !== undefined && provider !== configured.name)) {
    const there = configured === null ? "No provider is configured" : `The configured provider is "${configured.name}"`;
    throw new DbError("invalid_request", `${there}; "${provider ?? model}" is not available.`, {
      field: provider === undefined ? "model" : "provider",
      hint: 'Configure [query.ai_service] or PUT /v1/ai/provider, or leave "provider" and "model" out.',
    });
  }
  const found = await byProvider({ provider: configured, model, signal: request.signal() });
  request.checkpoint();
  return found;
}
