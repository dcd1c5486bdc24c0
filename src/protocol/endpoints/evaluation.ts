/** Evaluation: how good searches, answers and models are on the tenant's own data, and the history of it. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import {
  AUTOML_EVALUATE_ROWS_MAX,
  EVALUATION_ANSWERS_MAX,
  EVALUATION_K_DEFAULT,
  EVALUATION_K_MAX,
  EVALUATION_PAIRS_MAX,
  EVALUATION_PASSAGES_MAX,
  EVALUATION_SETTINGS_MAX,
  LIST_PAGE_MAX,
  NLI_TEXT_BYTES_MAX,
  NLI_THRESHOLD_DEFAULT,
  QUESTION_CHARACTERS_MAX,
} from "../limits.js";
import { rowSource } from "./automl.js";
import { AnyObject, CollectionName, Nullable, PageQuery, Strict, Timestamp } from "./schemas.js";

const relation = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));
const question = Type.String({ minLength: 1, maxLength: QUESTION_CHARACTERS_MAX });
const passage = Type.String({ minLength: 1, maxLength: NLI_TEXT_BYTES_MAX });
const documentId = Type.String({ minLength: 1, maxLength: 1000 });
const share = Type.Number({ minimum: 0, maximum: 1 });

const common = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "To find it again in the history." })),
  keep: Type.Optional(Type.Boolean({ default: true, description: "False: it is not put into the history." })),
};

const Interval = Type.Object(
  { value: Type.Number(), low: Type.Number(), high: Type.Number() },
  { description: "With its interval of 95 %, from `low` to `high`." },
);
const Comparison = (first: string, second: string) =>
  Type.Object({
    first: Type.String({ description: first }),
    second: Type.String({ description: second }),
    metric: Type.String(),
    value: Type.Number({ description: "The first mean less the second, with its interval of 95 %." }),
    low: Type.Number(),
    high: Type.Number(),
    verdict: Type.String({ description: "Which is better, or that no difference can be told." }),
  });

/** What a search takes beside its words. */
const search = {
  mode: Type.Enum(["text", "vector", "hybrid"]),
  filter: Type.Optional(AnyObject),
  filters: Type.Optional(AnyObject),
  min_score: Type.Optional(Type.Number()),
  vector_field: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
};
const Setting = Strict({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "Default: the mode." })),
  ...search,
});

const kept = <R extends Type.TSchema>(result: R) =>
  Type.Object({
    id: Nullable(Type.String({ description: "Null: it was not kept." })),
    kind: Type.Enum(["retrieval", "answers", "models"]),
    name: Nullable(Type.String()),
    about: Nullable(Type.String({ description: "The collection or the model. Null: answers that were sent." })),
    created_at: Timestamp,
    result,
  });

const RetrievalResult = Type.Object({
  k: Type.Integer(),
  questions: Type.Integer(),
  missing_documents: Type.Integer({ description: "Relevant documents that the collection does not have." }),
  settings: Type.Array(
    Type.Object({
      name: Type.String(),
      ...search,
      metrics: Type.Record(Type.String(), Interval, {
        description: "recall@1, recall@5, recall@k, precision@k, ndcg@k, mrr, no_hit: means over the questions.",
      }),
      ms: Type.Object({ p50: Interval, p95: Interval }, { description: "Milliseconds of one search." }),
      worst: Type.Array(
        Type.Object({
          query: Type.String(),
          ndcg: Type.Number(),
          found: Type.Array(Type.String()),
          missed: Type.Array(Type.String()),
        }),
        { description: "The questions with the lowest nDCG." },
      ),
    }),
  ),
  comparisons: Type.Array(Comparison("A setting.", "Another setting.")),
});

const AnswersResult = Type.Object({
  answers: Type.Integer({ description: "Answers that were judged." }),
  does_not_say: Type.Integer({ description: "Questions that the collection's passages do not answer." }),
  sentences: Type.Integer(),
  metrics: Type.Record(Type.String(), Nullable(Interval), {
    description:
      "faithfulness, contradicted, citation_precision, citation_recall: means over the answers. Null: no answer has any.",
  }),
  unsupported: Type.Array(
    Type.Object({
      item: Type.Integer({ description: "The answer's number, from 0." }),
      question: Nullable(Type.String()),
      sentence: Type.String(),
      state: Type.Enum(["unsupported", "contradicted"]),
      entailment: Type.Number({ description: "The best of all passages." }),
      contradiction: Type.Number(),
      passage: Nullable(Type.String({ description: "The piece of a passage that contradicts it." })),
    }),
  ),
  model: Nullable(Type.String({ description: "The claim model. Null: there was no sentence to judge." })),
});

const FeatureDrift = Type.Object({
  feature: Type.String(),
  kind: Type.String({ description: "Of a text that is embedded its length is compared." }),
  psi: Type.Number({ description: "Population stability index: stable below 0.1, some up to 0.25, much above." }),
  psi_by_chance: Type.Number({ description: "The mean of PSI for so many rows when nothing has moved." }),
  verdict: Type.Enum(["stable", "some", "much"]),
  ks: Type.Optional(Type.Number({ description: "Of numbers: the distance of Kolmogorov and Smirnov." })),
  ks_p_value: Type.Optional(Type.Number()),
  missing: Type.Number(),
  reference_missing: Type.Number(),
});

const ModelResult = Type.Object({
  model_id: Type.String(),
  version: Type.Integer(),
  task: Type.String(),
  rows: Type.Integer(),
  metrics: Type.Record(Type.String(), Type.Number()),
  calibration: Nullable(
    Type.Object({
      expected_error: Type.Number({ description: "Expected calibration error over ten bins." }),
      brier: Type.Number(),
      rows: Type.Integer(),
      bins: Type.Array(
        Type.Object({
          from: Type.Number(),
          to: Type.Number(),
          rows: Type.Integer(),
          probability: Type.Number(),
          frequency: Type.Number(),
        }),
      ),
    }),
  ),
  drift: Nullable(
    Type.Object({
      reference_rows: Type.Integer(),
      features: Type.Array(FeatureDrift, { description: "Those that moved most first." }),
      predictions: Nullable(FeatureDrift),
      verdict: Type.String(),
    }),
  ),
});

const Listed = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  name: Nullable(Type.String()),
  about: Nullable(Type.String()),
  created_at: Timestamp,
  questions: Type.Integer({ description: "Questions, answers or rows." }),
});

const ofId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100 }) });
const shared = { door: "statements", tag: "evaluation", home: "tenant" } as const;

export const evaluationEndpoints = [
  {
    ...shared,
    name: "evaluation.retrieval",
    method: "POST",
    path: "/v1/evaluations/retrieval",
    summary: "Measure the searches of a collection on questions whose relevant documents are known.",
    access: "writer",
    slow: true,
    body: Strict({
      ...common,
      collection: CollectionName,
      pairs: Type.Optional(
        Type.Array(
          Strict({
            query: question,
            relevant: Type.Union(
              [
                Type.Array(documentId, { minItems: 1, maxItems: 1000 }),
                Type.Record(Type.String(), Type.Number({ minimum: 0, maximum: 10 })),
              ],
              { description: "Ids, or an object of grades by id: the higher, the more relevant." },
            ),
          }),
          { minItems: 1, maxItems: EVALUATION_PAIRS_MAX },
        ),
      ),
      pairs_from: relation(
        "A table, view or collection with columns query and document_id, and perhaps grade, instead of `pairs`.",
      ),
      settings: Type.Optional(
        Type.Array(Setting, {
          minItems: 1,
          maxItems: EVALUATION_SETTINGS_MAX,
          description: "Default: each mode that the collection can be searched in.",
        }),
      ),
      k: Type.Optional(Type.Integer({ minimum: 1, maximum: EVALUATION_K_MAX, default: EVALUATION_K_DEFAULT })),
    }),
    example: {
      body: { name: "first try", collection: "article", pairs: [{ query: "boats", relevant: ["a1"] }], k: 5 },
    },
    response: kept(RetrievalResult),
  },
  {
    ...shared,
    name: "evaluation.answers",
    method: "POST",
    path: "/v1/evaluations/answers",
    summary:
      "Judge whether passages support answers, sentence by sentence. With a collection, the answers are those that a chat quotes from it.",
    access: "writer",
    slow: true,
    body: Strict({
      ...common,
      items: Type.Optional(
        Type.Array(
          Strict({
            question: Type.Optional(question),
            answer: passage,
            passages: Type.Array(passage, { minItems: 1, maxItems: EVALUATION_PASSAGES_MAX }),
          }),
          { minItems: 1, maxItems: EVALUATION_ANSWERS_MAX },
        ),
      ),
      items_from: relation("A table with columns answer and passages (a list of texts), and perhaps question."),
      collection: Type.Optional(CollectionName),
      questions: Type.Optional(Type.Array(question, { minItems: 1, maxItems: EVALUATION_ANSWERS_MAX })),
      questions_from: relation("A table with a column question, instead of `questions`."),
      model: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: "A claim model." })),
      threshold: Type.Optional({ ...share, default: NLI_THRESHOLD_DEFAULT, description: "Score of a support." }),
    }),
    example: {
      body: { items: [{ answer: "The sea is deep [1].", passages: ["The sea is deep and cold."] }], keep: false },
    },
    response: kept(AnswersResult),
  },
  {
    ...shared,
    name: "evaluation.models",
    method: "POST",
    path: "/v1/evaluations/models",
    summary: "Measure a trained model on rows with known targets: metrics, calibration, and drift against a reference.",
    access: "writer",
    slow: true,
    body: Strict({
      ...common,
      model: Type.String({ minLength: 1, maxLength: 200, description: "Its id, or its name for the newest version." }),
      ...rowSource,
      rows: Type.Optional(Type.Array(AnyObject, { minItems: 1, maxItems: AUTOML_EVALUATE_ROWS_MAX })),
      reference: Type.Optional(
        Strict({
          ...rowSource,
          rows: Type.Optional(Type.Array(AnyObject, { minItems: 1, maxItems: AUTOML_EVALUATE_ROWS_MAX })),
        }),
      ),
    }),
    example: { body: { model: "region", table: "orders", reference: { table: "orders" } } },
    response: kept(ModelResult),
  },
  {
    ...shared,
    name: "evaluation.list",
    method: "GET",
    path: "/v1/evaluations",
    summary: "The caller's evaluations, newest first.",
    access: "member",
    pages: { items: "evaluations", total: "total", most: LIST_PAGE_MAX },
    query: Strict({
      ...PageQuery,
      kind: Type.Optional(Type.Enum(["retrieval", "answers", "models"])),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    }),
    response: Type.Object({ evaluations: Type.Array(Listed), total: Type.Integer() }),
  },
  {
    ...shared,
    name: "evaluation.get",
    method: "GET",
    path: "/v1/evaluations/{id}",
    summary: "One evaluation.",
    access: "member",
    params: ofId,
    response: kept(AnyObject),
  },
  {
    ...shared,
    name: "evaluation.delete",
    method: "DELETE",
    path: "/v1/evaluations/{id}",
    summary: "Removes an evaluation.",
    access: "writer",
    params: ofId,
    status: 204,
  },
  {
    ...shared,
    name: "evaluation.compare",
    method: "GET",
    path: "/v1/evaluations/{id}/compare/{other}",
    summary: "Compare two evaluations of a kind on the questions that both have, question by question.",
    access: "member",
    params: Type.Object({ id: ofId.properties.id, other: ofId.properties.id }),
    response: Type.Object({
      first: Type.String(),
      second: Type.String(),
      kind: Type.String(),
      questions: Type.Integer({ description: "Those that both have." }),
      comparisons: Type.Array(Comparison("A setting of the first.", "A setting of the second.")),
    }),
  },
] as const satisfies readonly EndpointSpec[];
