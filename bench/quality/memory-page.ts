/** The part of docs/reference/quality.md about memories. Pure. */
import { intervalOfShare } from "../../src/features/evaluation/intervals.js";
import type { AskedMemory, MemoryQuestionKind } from "./memory.js";
import type { MeasuredPairs } from "./memory-pairs.js";

export interface MeasuredMemory {
  readonly seen: readonly AskedMemory[];
  readonly heldBack: readonly AskedMemory[];
  readonly byRules: MeasuredPairs;
  readonly withModel: MeasuredPairs;
}

const KINDS: readonly MemoryQuestionKind[] = ["now", "as of a date", "never said"];
const figure = (value: number) => value.toFixed(3).replace(/^0/, "");

export function memoryPage({ seen, heldBack, byRules, withModel }: MeasuredMemory): string {
  const questions = [
    ["looked at while the rules were made", seen],
    ["never looked at", heldBack],
  ] as const;
  const lines = questions.flatMap(([name, asked]) =>
    KINDS.map((kind) => {
      const some = asked.filter((one) => one.kind === kind);
      const [right, wrong, missed] = (["right", "wrong", "missed"] as const).map(
        (outcome) => some.filter((one) => one.outcome === outcome).length,
      );
      const [low, high] = intervalOfShare(right!, some.length);
      return `| ${name} | ${kind} | ${some.length} | ${right} | ${wrong} | ${missed} | ${figure(low)} to ${figure(high)} |`;
    }),
  );
  const pairs = [
    ["rules", byRules],
    ["rules and nli-mini", withModel],
  ] as const;
  const judged = pairs.map(
    ([name, one]) =>
      `| ${name} | ${one.superseded} of ${one.contradicting} | ${one.wronglySuperseded} of ${one.pairs - one.contradicting} | ${one.foundRepeated} of ${one.repeated} | ${one.wronglyRepeated} of ${one.pairs - one.repeated} |`,
  );
  return `## Memories

Ten conversations of 50 to 54 messages over three or four sessions, in which facts change
(\`test/quality/memory/*-conversations.txt\`). Rules take the facts from them. Each question recalls five memories:
right is what they say, wrong is if one says what does not hold or was never said. The interval is that of right.

| conversations | question | all | right | wrong | missed | 95 % |
|---|---|--:|--:|--:|--:|--:|
${lines.join("\n")}

${byRules.pairs} pairs of memories that were never looked at (\`test/quality/memory/held-back-pairs.tsv\`): does the new one
supersede the old one, or repeat it?

| judged by | superseded | wrongly | found again | wrongly |
|---|--:|--:|--:|--:|
${judged.join("\n")}
`;
}
