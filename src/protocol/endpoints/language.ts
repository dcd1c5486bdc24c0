/** Analysis of texts: sentiment, names, summaries, categories, answers. All positions are UTF-16 code units. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { CATEGORIES_MAX, LANGUAGE_CHARACTERS_MAX, LANGUAGE_TEXTS_MAX, QUESTION_CHARACTERS_MAX } from "../limits.js";
import { FEW_WORDS, REVIEW } from "./examples.js";
import { Nullable, Strict, Unused } from "./schemas.js";

const text = Type.String({ minLength: 1, maxLength: LANGUAGE_CHARACTERS_MAX });
/** One text, or several, whose answers are a list in the same order. */
const oneOrMore = {
  text: Type.Optional(text),
  texts: Type.Optional(
    Type.Array(text, {
      minItems: 1,
      maxItems: LANGUAGE_TEXTS_MAX,
      description: `Instead of "text". The answer is a list in the same order. At most ${LANGUAGE_CHARACTERS_MAX} characters in total.`,
    }),
  ),
};
const provider = {
  provider: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: '"native" (the default): libraries and models of the installation. Or the configured provider.',
    }),
  ),
  model: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A model of the provider, which then answers; or "native".',
    }),
  ),
};
const Confidence = Type.Number({ description: "0 to 1." });
const Place = (what: string) => Type.Integer({ description: `UTF-16 code units: ${what}.slice(start, end).` });
const Sentiment = Type.Object({
  sentiment: Type.Enum(["positive", "negative", "neutral"]),
  confidence: Confidence,
  scores: Type.Object({ positive: Type.Number(), negative: Type.Number(), neutral: Type.Number() }),
});
const Classes = Type.Object({
  classifications: Type.Array(Type.Object({ category: Type.String(), confidence: Confidence })),
});
const category = Type.String({ minLength: 1, maxLength: 200 });
const common = { method: "POST", tag: "ai", access: "member", home: "tenant", door: "none" } as const;

export const languageEndpoints = [
  {
    ...common,
    name: "language.sentiment",
    path: "/v1/ai/sentiment",
    summary: "Whether an English text is positive, negative or neutral.",
    body: Strict({ ...oneOrMore, ...provider }),
    example: { body: { text: REVIEW } },
    response: Type.Union([Sentiment, Type.Array(Sentiment)]),
  },
  {
    ...common,
    name: "language.entities",
    path: "/v1/ai/entities",
    summary: "Names of persons, organizations and places, dates, amounts and addresses in an English text.",
    body: Strict({ text, ...provider }),
    example: { body: { text: FEW_WORDS } },
    response: Type.Object({
      entities: Type.Array(
        Type.Object({
          text: Type.String(),
          type: Type.String({
            description: "PERSON, ORGANIZATION, LOCATION, DATE, MONEY, PERCENT, EMAIL, URL, PHONE or MISC.",
          }),
          entity_type: Type.String({ description: "The same." }),
          start: Place("text"),
          end: Place("text"),
          confidence: Confidence,
        }),
      ),
    }),
  },
  {
    ...common,
    name: "language.summarize",
    path: "/v1/ai/summarize",
    summary: "Summarize a text by its most important sentences, or with a provider in its own words.",
    body: Strict({
      text,
      max_length: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: LANGUAGE_CHARACTERS_MAX,
          description: "The most characters (UTF-16 code units) of the summary. Default: 500.",
        }),
      ),
      min_length: Unused("a summary is as long as its sentences; max_length limits it."),
      ...provider,
    }),
    example: { body: { text: `${REVIEW} ${FEW_WORDS}`, max_length: 100 } },
    response: Type.Object({ summary: Type.String() }),
  },
  {
    ...common,
    name: "language.classify",
    path: "/v1/ai/classify",
    summary: "Classify a text into categories without examples, most confident first.",
    body: Strict({
      ...oneOrMore,
      categories: Type.Optional(
        Type.Array(category, { minItems: 1, maxItems: CATEGORIES_MAX, description: "Default: common topics." }),
      ),
      multi_label: Type.Optional(
        Type.Boolean({ description: "Score each category by itself, instead of scores that add up to 1." }),
      ),
      ...provider,
    }),
    example: { body: { text: REVIEW, categories: ["food", "sport", "politics"] } },
    response: Type.Union([Classes, Type.Array(Classes)]),
  },
  {
    ...common,
    name: "language.qa",
    path: "/v1/ai/qa",
    summary: "Answer a question with a part of a text.",
    body: Strict({
      question: Type.String({ minLength: 1, maxLength: QUESTION_CHARACTERS_MAX }),
      context: Type.Optional(text),
      text: Type.Optional(text),
      ...provider,
    }),
    example: { body: { question: "Where did Ann Miller fly to?", context: FEW_WORDS } },
    response: Type.Object({
      answer: Type.String({ description: 'Copied from the text; "" if it has no answer.' }),
      score: Confidence,
      start: Nullable(Place("context")),
      end: Nullable(Type.Integer({ description: "Null if a provider's answer is not in the text word for word." })),
    }),
  },
] as const satisfies readonly EndpointSpec[];
