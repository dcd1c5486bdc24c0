/**
 * Measures answers: those of a request or a table with their passages, or those that a chat quotes from a collection.
 * Called by the route and SQL; no state.
 */
import type { Request } from "../../actor/request.js";
import type { InputOf } from "../../bodies/validate.js";
import { invalid } from "../../document/field-path.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import {
  EVALUATION_ANSWERS_MAX,
  EVALUATION_PASSAGES_MAX,
  NLI_TEXT_BYTES_MAX,
  NLI_THRESHOLD_DEFAULT,
  QUESTION_CHARACTERS_MAX,
} from "../../protocol/limits.js";
import { giveWay } from "../../protocol/turns.js";
import { takeSteps } from "../automl/rows-in-turns.js";
import { findPassages } from "../chat/passages.js";
import { QUOTED_CHARACTERS_MAX } from "../chat/prompt-space.js";
import { quotePassages } from "../chat/quote-passages.js";
import { findCollection } from "../documents/document-session.js";
import type { Evaluated } from "./evaluation-store.js";
import { type Estimate, meanOf, resampled } from "./intervals.js";
import {
  ANSWER_METRICS,
  type AnswerItem,
  type AnswerMeasures,
  type Judged,
  judgeAnswers,
  measuresOfAnswer,
} from "./judge-answers.js";
import { keysOf } from "./question-scores.js";
import { rowsFrom } from "./read-pairs.js";

export type AnswersBody = InputOf<"evaluation.answers">["body"];
export type AnswersResult = ResponseOf<"evaluation.answers">["result"];

const SOURCES = ["items", "items_from", "questions", "questions_from"] as const;
const UNSUPPORTED_MAX = 1000;
/** Of a sentence, as it is shown. */
const SHOWN_CHARACTERS_MAX = 500;
/** The name of the one setting in the scores. */
const SETTING = "answers";

/** Throws invalid_request, payload_too_large, and what searches and claims throw. */
export async function evaluateAnswers(request: Request, body: AnswersBody): Promise<Evaluated<AnswersResult>> {
  const { model = null, threshold = NLI_THRESHOLD_DEFAULT, collection = null } = body;
  const field = sourceField(body);
  const { items, doesNotSay } = await itemsOf(request, body, field);
  const judged = await judgeAnswers(request, items, { model, threshold, field });
  const measures = judged.items.map(measuresOfAnswer);
  const metrics: Record<string, Estimate | null> = {};
  for (const metric of ANSWER_METRICS) metrics[metric] = await estimateOf(request, measures, metric);
  const result: AnswersResult = {
    answers: items.length,
    does_not_say: doesNotSay,
    sentences: judged.items.reduce((sum, { length }) => sum + length, 0),
    metrics,
    unsupported: unsupportedOf(items, judged),
    model: judged.model,
  };
  const keys = await keysOf(request, items.length, (i) => items[i]!.question ?? items[i]!.answer);
  const seriesOf = (metric: keyof AnswerMeasures) => measures.map((own) => own[metric] ?? Number.NaN);
  const series = Object.fromEntries(ANSWER_METRICS.map((metric) => [metric, Float64Array.from(seriesOf(metric))]));
  const questions = items.length + doesNotSay;
  return { kind: "answers", about: collection, questions, result, scores: { keys, series: { [SETTING]: series } } };
}

function sourceField(body: AnswersBody): (typeof SOURCES)[number] {
  const sent = SOURCES.filter((field) => body[field] !== undefined);
  if (sent.length !== 1) {
    const why = "send one of items, items_from, and with a collection questions or questions_from";
    throw invalid(sent[1] ?? "items", why);
  }
  const [field] = sent as [(typeof SOURCES)[number]];
  const asks = field.startsWith("questions");
  if (asks && body.collection === undefined) throw invalid("collection", `missing, which ${field} are asked of`);
  if (!asks && body.collection !== undefined) throw invalid("collection", `${field} have passages of their own`);
  return field;
}

/** What is to be judged, and how many questions have no answer. */
async function itemsOf(request: Request, body: AnswersBody, field: (typeof SOURCES)[number]) {
  if (field === "items") {
    const items = body.items!.map(({ question = null, ...item }): AnswerItem => ({ question, ...item }));
    return { items, doesNotSay: 0 };
  }
  if (field === "items_from") return { items: await itemsFrom(request, body.items_from!), doesNotSay: 0 };
  const questions = body.questions ?? (await questionsFrom(request, body.questions_from!));
  findCollection(request, body.collection!);
  const items: AnswerItem[] = [];
  for (const question of questions) {
    const passages = await findPassages(request, [body.collection!], question, QUOTED_CHARACTERS_MAX);
    const { quote } = await quotePassages(request, question, passages);
    if (quote !== null) items.push({ question, answer: quote, passages: passages.map(({ text }) => text) });
    await giveWay(request);
  }
  return { items, doesNotSay: questions.length - items.length };
}

async function itemsFrom(request: Request, table: string): Promise<readonly AnswerItem[]> {
  const rows = await rowsFrom(request, table, "items_from", EVALUATION_ANSWERS_MAX);
  return rows.map(({ question = null, answer, passages }, i) => {
    const place = `row ${i + 1} of "${table}"`;
    const isText = (text: unknown): text is string =>
      typeof text === "string" && text.trim() !== "" && Buffer.byteLength(text) <= NLI_TEXT_BYTES_MAX;
    if (!isText(answer))
      throw invalid("items_from", `${place}: answer must be a text of 1 to ${NLI_TEXT_BYTES_MAX} bytes`);
    const list: unknown = typeof passages === "string" ? [passages] : passages;
    if (!Array.isArray(list) || list.length === 0 || list.length > EVALUATION_PASSAGES_MAX || !list.every(isText)) {
      const why = `passages must be a text or a list of 1 to ${EVALUATION_PASSAGES_MAX} texts, each of 1 to ${NLI_TEXT_BYTES_MAX} bytes`;
      throw invalid("items_from", `${place}: ${why}`);
    }
    return { question: typeof question === "string" ? question : null, answer, passages: list };
  });
}

async function questionsFrom(request: Request, table: string): Promise<readonly string[]> {
  const rows = await rowsFrom(request, table, "questions_from", EVALUATION_ANSWERS_MAX);
  return rows.map(({ question }, i) => {
    if (typeof question === "string" && question.trim() !== "" && question.length <= QUESTION_CHARACTERS_MAX) {
      return question;
    }
    const why = `question must be a text of 1 to ${QUESTION_CHARACTERS_MAX} characters`;
    throw invalid("questions_from", `row ${i + 1} of "${table}": ${why}`);
  });
}

/** Null: no answer has any. */
async function estimateOf(
  request: Request,
  measures: readonly AnswerMeasures[],
  metric: keyof AnswerMeasures,
): Promise<Estimate | null> {
  const known = Float64Array.from(measures.flatMap((own) => own[metric] ?? []));
  if (known.length === 0) return null;
  const [interval] = await takeSteps(request, resampled([known]));
  return { value: meanOf(known), low: interval![0], high: interval![1] };
}

function unsupportedOf(items: readonly AnswerItem[], { items: judged }: Judged): AnswersResult["unsupported"] {
  return judged
    .flatMap((sentences, item) =>
      sentences
        .filter(({ isSupported }) => !isSupported)
        .map(({ text, isContradicted, entailment, contradiction, against }) => ({
          item,
          question: items[item]!.question,
          sentence: text.slice(0, SHOWN_CHARACTERS_MAX),
          state: isContradicted ? ("contradicted" as const) : ("unsupported" as const),
          entailment,
          contradiction,
          passage: against?.slice(0, SHOWN_CHARACTERS_MAX) ?? null,
        })),
    )
    .slice(0, UNSUPPORTED_MAX);
}
