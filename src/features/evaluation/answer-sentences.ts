/** The sentences of an answer, and the passages that each cites by its number in brackets: [1], [2, 3]. No state. */
import { sentencesOf } from "../../language/sentences.js";
import type { Turns } from "../../protocol/turns.js";

export interface AnswerSentence {
  /** Without marks of citations. */
  readonly text: string;
  /** Numbers from 1, each once. */
  readonly cites: readonly number[];
}

const MARK = /\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]/g;
/** Marks that stand behind the point are of the sentence that it ends, also at the beginning of a line. */
const BEHIND_POINT = /([.!?…]["'”’)]*)((?:\s*\[\d{1,4}(?:\s*,\s*\d{1,4})*\])+)/g;
const MARKS_FIRST = /^(?:\s*\[\d{1,4}(?:\s*,\s*\d{1,4})*\])+/;
const HAS_WORD = /[\p{L}\p{N}]/u;

export async function answerSentences(answer: string, turns: Turns): Promise<AnswerSentence[]> {
  const found: { text: string; cites: number[] }[] = [];
  for (const { text } of await sentencesOf(answer.replaceAll(BEHIND_POINT, "$2$1"), turns)) {
    const first = MARKS_FIRST.exec(text)?.[0] ?? "";
    if (first !== "") found.at(-1)?.cites.push(...numbersIn(first));
    const rest = text.slice(first.length);
    const said = rest
      .replaceAll(MARK, "")
      .replaceAll(/\s+([.,;:!?])/g, "$1")
      .replaceAll(/\s+/g, " ")
      .trim();
    if (HAS_WORD.test(said)) found.push({ text: said, cites: numbersIn(rest) });
    else found.at(-1)?.cites.push(...numbersIn(rest));
  }
  return found.map(({ text, cites }) => ({ text, cites: [...new Set(cites)] }));
}

function numbersIn(text: string): number[] {
  return [...text.matchAll(MARK)].flatMap(([, numbers]) => numbers!.split(",").map(Number));
}
