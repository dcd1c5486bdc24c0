/** `make quality`: measures the judgement of models and rules on test sets and writes docs/reference/quality.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NLI_LABELS } from "../../src/ai/nli/labels.js";
import { type Interval, intervalOfShare } from "../../src/features/evaluation/intervals.js";
import { TestServer } from "../../test/e2e/server.js";
import { ROOT } from "../servers.js";
import { type MeasuredAnswers, measureAnswers } from "./answers.js";
import { likeliestLabel, type MeasuredClaims, measureClaims, measureHalves, measurePublicPairs } from "./claims.js";
import { type AskedOfFolder, askFolder, type FOLDERS } from "./folder.js";
import { measureMemories } from "./memory.js";
import { memoryPage } from "./memory-page.js";
import { measureMemoryPairs } from "./memory-pairs.js";
import { nliPairs } from "./public-sets.js";
import { askQuestions } from "./questions.js";
import { questionsPage } from "./questions-page.js";
import { retrievalPage } from "./retrieval-page.js";

const PAGE = join(ROOT, "docs/reference/quality.md");

const figure = (value: number) => value.toFixed(3).replace(/^0/, "");
const between = ([low, high]: Interval) => `${figure(low)} to ${figure(high)}`;
const shareOf = (right: number, all: number) =>
  `${right} of ${all} | ${all === 0 ? "" : figure(right / all)} | ${between(intervalOfShare(right, all))}`;
const table = (head: string, aligned: string, lines: readonly string[]) => [head, aligned, ...lines].join("\n");

type Halves = Awaited<ReturnType<typeof measureHalves>>;

/** A line for each half. */
function halvesTable(of: string, { seen, heldBack }: Halves): string[] {
  const line = (name: string, { pairs: all, byLabel: labels, wrongContradictions }: Halves["seen"]) => {
    const right = [...labels.values()].reduce((sum, one) => sum + one.right, 0);
    return `| ${of}, ${name} | ${shareOf(right, all)} | ${figure(wrongContradictions)} |`;
  };
  return [line("looked at while the rules were made", seen), line("never looked at", heldBack)];
}

async function claimsPart(): Promise<string> {
  const halves = { others: await measureHalves("other-kinds"), everyday: await measureHalves("everyday") };
  return claimsPage(await measureClaims("held-out"), halves, await publicPairs());
}

function claimsPage(
  measured: MeasuredClaims,
  { others, everyday }: { readonly others: Halves; readonly everyday: Halves },
  ofPublic: string,
): string {
  const { pairs, byKind, byLabel, claims, claimsAlone, claimsWithUnrelated } = measured;
  const lines = [...byKind].map(([kind, { right, all }]) => `| ${kind} | ${shareOf(right, all)} |`);
  const labels = [...byLabel].map(([label, { right, all }]) => `| ${label} | ${shareOf(right, all)} |`);
  const head = "| | right | share | 95 % |";
  return `## Claims

nli-mini as it is served (\`${measured.digest}\`), on ${pairs} pairs that were written before the rules, which were tuned on others
(\`test/quality/claims/held-out-pairs.tsv\`). The counts by kind were seen while the rules were
made, the pairs were not used. At the thresholds of 0.6.

${table(head, "|---|--:|--:|--:|", [...lines, ...labels])}

- Balanced accuracy over the three answers: **${figure(measured.balancedAccuracy)}**.
- Unrelated pairs that are called contradictions: ${figure(measured.unrelatedCalledFalse)}.
- Pairs that do not contradict and are called contradictions: ${figure(measured.wrongContradictions)}. Contradictions that
  are missed: ${figure(measured.missedContradictions)}.
- ${claims} claims with the anchor that decides them: ${claimsAlone} right. With four unrelated anchors beside it:
  ${claimsWithUnrelated} right.

Pairs of other kinds, written before the rules were changed (\`test/quality/claims/other-kinds-pairs.tsv\`): coreference,
comparatives, modality, quantifiers, double negation, units, passives, attributions, dates, lists, typing errors, longer
premises, roles. Everyday facts (\`everyday-pairs.tsv\`), one of which is changed: place, name, number, colour, state, time,
who; and the same kinds again. The last column is the share of pairs that do not contradict and are called contradictions.

${table("| | right | share | 95 % | wrong |", "|---|--:|--:|--:|--:|", [
  ...halvesTable("other kinds", others),
  ...halvesTable("everyday", everyday),
])}

${ofPublic}
\`node dist/bench/quality/run-quality.js claims\` renews this part.
`;
}

/** SNLI's test part takes minutes. */
const ONE_OF_PAIRS = 4;

/** SNLI test, and its premises with the hypotheses of other pairs. */
async function publicPairs(): Promise<string> {
  const found = nliPairs();
  if ("missing" in found) return `SNLI test: not measured here, for ${found.missing}.`;
  const { set } = found;
  const asked = set.filter((_, i) => i % ONE_OF_PAIRS === 0);
  const apart = asked.map(
    ([premise], i) => [premise, asked[(i + Math.floor(asked.length / 2)) % asked.length]![1], "neutral"] as const,
  );
  const line = async (name: string, sameSubject: boolean, label?: typeof likeliestLabel) => {
    const { right, all, byLabel, wrongContradictions } = await measurePublicPairs(asked, sameSubject, label);
    const found = NLI_LABELS.map((label) => `${byLabel.get(label)!.right} of ${byLabel.get(label)!.all}`);
    return `| ${name} | ${shareOf(right, all)} | ${found.join(" | ")} | ${figure(wrongContradictions)} |`;
  };
  const { all: others, right: neutral, wrongContradictions: apartWrong } = await measurePublicPairs(apart, false);
  const wrong = Math.round(apartWrong * others);
  return `SNLI test, ${asked.length} of its ${set.length} pairs, as claims are served: by default, when the texts may be about anything,
and with \`same_subject\`, as its pairs were written: both texts are about one picture. Of each label those that are
found; the last column is the share of pairs that do not contradict and are called contradictions. Verdicts take what
reaches the threshold of 0.6; evaluations often take the highest score, by which more pairs that do not contradict are
called contradictions.

${table(`| | right | share | 95 % | ${NLI_LABELS.join(" | ")} | wrong |`, "|---|--:|--:|--:|--:|--:|--:|--:|", [
  await line("by default", false),
  await line("with `same_subject`", true),
  await line("by default, the highest score", false, likeliestLabel),
  await line("with `same_subject`, the highest score", true, likeliestLabel),
])}

Of the same premises with the hypothesis of another pair, which are about other pictures, ${neutral} of ${others} are neutral by
default, and **${figure(apartWrong)}** (${between(intervalOfShare(wrong, others))}) are called contradictions.`;
}

type AskedFolders = Readonly<Record<keyof typeof FOLDERS, readonly AskedOfFolder[]>>;

async function askFolders(): Promise<AskedFolders> {
  return {
    first: await askFolder("first"),
    second: await askFolder("second"),
    third: await askFolder("third"),
    fourth: await askFolder("fourth"),
  };
}

function folderPage({ first, second, third, fourth }: AskedFolders): string {
  const line = (name: string, asked: readonly AskedOfFolder[], isHeldBack: boolean) => {
    const some = asked.filter((one) => one.isHeldBack === isHeldBack);
    const count = (isAnswerable: boolean, outcome: string) =>
      some.filter((one) => (one.answer !== null) === isAnswerable && one.outcome === outcome).length;
    const [right, rightly] = [count(true, "right"), count(false, "refused")];
    const wrong = count(true, "wrong") + count(false, "wrong");
    const interval = between(intervalOfShare(right + rightly, some.length));
    return `| ${name} | ${some.length} | ${right} | ${rightly} | ${count(true, "refused")} | ${wrong} | ${interval} |`;
  };
  return `Over a folder of 200 documents (\`test/quality/folder\`: 35 written by hand, the others from lists, many of which
differ from others in a field or two), as a chat answers: ${first.length} questions, 15 of which the documents do not
answer. The second folder has 20 other documents in place of the 35, and ${second.length} questions, 20 of which they do
not answer. The third has 20 others with tables and lists, and ${third.length} questions, 13 of which they do not
answer. The fourth has 20 letters, minutes, manuals and notes, and ${fourth.length} questions, 6 of which they do not
answer; it is held back as a whole. Right is the sentence that says it with its file as the citation. The questions were
written before the rules were changed; of those that nobody looked at, the counts alone were seen (of the first folder
two refusals, too).
\`node dist/bench/quality/run-quality.js answers\` renews this part.

${table(
  "| questions | all | right | rightly refused | refused | wrong | right, 95 % |",
  "|---|--:|--:|--:|--:|--:|--:|",
  [
    line("first folder, looked at while the rules were made", first, false),
    line("first folder, never looked at", first, true),
    line("second folder, looked at while the rules were made", second, false),
    line("second folder, never looked at", second, true),
    line("third folder, looked at while the rules were made", third, false),
    line("third folder, never looked at", third, true),
    line("fourth folder, never looked at", fourth, true),
  ],
)}
`;
}

function answersPage(
  { answerable, right, unanswerable, refusedRightly, wrong }: MeasuredAnswers,
  asked: AskedFolders,
): string {
  const lines = [
    `| answered with the sentence that says it | ${shareOf(right, answerable)} |`,
    `| refused where the documents do not say it | ${shareOf(refusedRightly, unanswerable)} |`,
    `| another sentence | ${shareOf(wrong, answerable + unanswerable)} |`,
  ];
  return `## Answers from documents

Without a provider a sentence is quoted, with its place. Questions over eight documents (\`test/quality/answers.json\`).

${table("| | questions | share | 95 % |", "|---|--:|--:|--:|", lines)}

${folderPage(asked)}`;
}

const measureAllMemories = async (server: TestServer): Promise<string> =>
  memoryPage({
    seen: await measureMemories(server, "seen"),
    heldBack: await measureMemories(server, "held-back"),
    byRules: await measureMemoryPairs("held-back", false),
    withModel: await measureMemoryPairs("held-back", true),
  });

/** Renews a part of the page alone. */
function renew(part: string): void {
  const title = part.slice(0, part.indexOf("\n"));
  const parts = readFileSync(PAGE, "utf8").split(/^(?=## )/m);
  const at = parts.findIndex((one) => one.startsWith(`${title}\n`));
  parts[at] = at === parts.length - 1 ? part : `${part}\n`;
  writeFileSync(PAGE, parts.join(""));
  console.log(part);
}

/** What `run-quality.js claims`, `run-quality.js questions` … do. */
const PARTS: Readonly<Record<string, (server: TestServer) => Promise<string>>> = {
  claims: claimsPart,
  questions: async (server) => questionsPage(await askQuestions(server)),
  retrieval: retrievalPage,
  answers: async () => answersPage(await measureAnswers(), await askFolders()),
  memories: measureAllMemories,
};

async function renewAll(server: TestServer): Promise<void> {
  const parts = [
    await claimsPart(),
    questionsPage(await askQuestions(server)),
    await retrievalPage(server),
    answersPage(await measureAnswers(), await askFolders()),
    await measureAllMemories(server),
  ];
  const page = `# Quality

\`make quality\` writes this page. It says how good the judgement of the bundled models and of the rules is, on sets that
they were not made with.

${parts.join("\n")}`;
  writeFileSync(PAGE, page);
  console.log(page);
}

const server = await TestServer.start({});
try {
  const part = PARTS[process.argv[2] ?? ""];
  if (part === undefined) await renewAll(server);
  else renew(await part(server));
} finally {
  await server.stop();
}
process.exit(0);
