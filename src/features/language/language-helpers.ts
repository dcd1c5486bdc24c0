/**
 * The language helpers as statements and routes call them: quick work is done here in turns, tagging words in a task
 * thread. Made per statement or request.
 */

import { answerQuestion, type TextAnswer } from "../../language/answer-question.js";
import { type Classification, classify } from "../../language/classify.js";
import type { Entity } from "../../language/entities.js";
import type { EmbedTexts } from "../../language/likeness.js";
import { type Sentiment, sentimentOf } from "../../language/sentiment.js";
import { summarize } from "../../language/summarize.js";
import { DbError } from "../../protocol/errors.js";
import { LANGUAGE_CHARACTERS_MAX } from "../../protocol/limits.js";
import type { Turns } from "../../protocol/turns.js";
import type { LongTasks } from "../../session/long-tasks.js";

export class LanguageHelpers {
  constructor(
    private readonly tasks: LongTasks | null,
    private readonly embed: EmbedTexts,
    private readonly turns: Turns,
  ) {}

  sentiment(text: string): Promise<Sentiment> {
    requireShort(text);
    return sentimentOf(text, this.turns);
  }

  async entities(text: string): Promise<readonly Entity[]> {
    requireShort(text);
    if (this.tasks !== null) return this.tasks.entitiesOf(text);
    const { entitiesOf } = await import("../../language/entities.js");
    return entitiesOf(text);
  }

  summarize(text: string, charactersMax: number): Promise<string> {
    requireShort(text);
    return summarize(text, charactersMax, this.embed, this.turns);
  }

  classify(text: string, categories: readonly string[], isMultiLabel: boolean): Promise<Classification[]> {
    requireShort(text);
    return classify(text, categories, isMultiLabel, this.embed, this.turns);
  }

  answer(question: string, context: string): Promise<TextAnswer> {
    requireShort(context);
    const findSpan: Parameters<typeof answerQuestion>[3] = async (asked, candidates) => {
      if (this.tasks !== null) return this.tasks.answerSpan({ question: asked, candidates });
      const { answerSpan } = await import("../../language/answer-span.js");
      return answerSpan(asked, candidates);
    };
    return answerQuestion(question, context, this.embed, findSpan, this.turns);
  }
}

function requireShort(text: string): void {
  if (text.length <= LANGUAGE_CHARACTERS_MAX) return;
  throw new DbError("query_error", `the text has ${text.length} characters; ${LANGUAGE_CHARACTERS_MAX} are allowed`, {
    sqlstate: "22023",
  });
}
