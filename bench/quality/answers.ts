/** Questions over a few documents, some of which the documents do not answer: what is quoted without a provider. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Models } from "../../src/ai/models.js";
import { bestSentence } from "../../src/language/best-sentence.js";
import { cosine } from "../../src/language/likeness.js";
import { ROOT } from "../servers.js";

interface AnswerSet {
  readonly documents: Readonly<Record<string, string>>;
  readonly questions: readonly { readonly question: string; readonly answer: string | null }[];
}

export interface MeasuredAnswers {
  readonly answerable: number;
  /** The quoted sentence has the answer. */
  readonly right: number;
  readonly unanswerable: number;
  readonly refusedRightly: number;
  readonly wrong: number;
}

const PASSAGES = 6;
const NO_TURNS = { shouldYield: () => false, yieldTurn: async () => undefined };

export async function measureAnswers(): Promise<MeasuredAnswers> {
  const { documents, questions }: AnswerSet = JSON.parse(readFileSync(join(ROOT, "test/quality/answers.json"), "utf8"));
  const roots = [join(ROOT, "models")];
  const models = new Models({ roots, embeddingModel: "tessera-embed-384", warn: () => undefined, inference: null });
  const embed = async (texts: readonly string[]) => texts.map((text) => models.embedNow(text, null, "")!);
  const files = Object.entries(documents);
  const vectors = await embed(files.map(([, text]) => text));
  const measured = { answerable: 0, right: 0, unanswerable: 0, refusedRightly: 0, wrong: 0 };
  for (const { question, answer } of questions) {
    const [asked] = await embed([question]);
    const passages = files
      .map(([file, text], i) => ({ file, text, likeness: cosine(asked!, vectors[i]!) }))
      .sort((a, b) => b.likeness - a.likeness)
      .slice(0, PASSAGES)
      .map(({ file, text }) => ({ text, about: file, title: "", heading: "" }));
    const best = await bestSentence(question, passages, embed, NO_TURNS);
    const quoted = best === null ? null : passages[best.place]!.text.slice(best.start, best.end);
    if (answer === null) measured.unanswerable++;
    else measured.answerable++;
    if (quoted === null) measured.refusedRightly += answer === null ? 1 : 0;
    else if (answer !== null && quoted.includes(answer)) measured.right++;
    else measured.wrong++;
  }
  return measured;
}
