/**
 * Which memories a new one takes the place of, and whether one says the same already. The nearest that hold at its time
 * or later are compared: first by words (facts/compare-facts.ts), and where these do not tell by the model of claims,
 * if that is switched on. The model errs: it has to be sure in both directions. Called by write-memory.ts.
 */
import { DbError } from "../../protocol/errors.js";
import { need } from "../../query/expr/capability.js";
import { CLAIMS, type Claims } from "../../query/expr/functions/claims.js";
import { EMBEDDING } from "../../query/expr/functions/models.js";
import { compareFacts } from "./facts/compare-facts.js";
import { slotsOf } from "./facts/fact-slots.js";
import type { MemoryContext, MemoryTable } from "./memory-namespace.js";

/** Memories whose words are compared, by the likeness to the new one and to what it is about. */
const CANDIDATES = 24;
/** Memories about which the model is asked. */
const ASKED_MAX = 6;
/** Less like each other memories are about something else. */
const LIKENESS_MIN = 0.35;
/** Of both directions: the model is surer than for a verdict. */
export const CONTRADICTION_MIN = 0.9;
const ENTAILMENT_MIN = 0.9;
/** Beside the entailments. */
const REPEATED_LIKENESS_MIN = 0.85;

export interface JudgedMemories {
  /** Those that held when the new one began. */
  readonly contradicted: readonly string[];
  /** One that says the same and held then; null: there is none. */
  readonly repeated: string | null;
  /** The first one that began later and says otherwise, before which the new one ended; null: there is none. */
  readonly later: string | null;
  readonly judgedBy: readonly ("rules" | "nli")[];
}

interface Candidate {
  readonly id: string;
  readonly content: string;
  readonly likeness: number;
  readonly isLater: boolean;
}

export async function judgedMemories(
  context: MemoryContext,
  table: MemoryTable,
  content: string,
  validFrom: string | null,
): Promise<JudgedMemories> {
  const candidates = await nearest(context, table, content, validFrom);
  const contradicting: Candidate[] = [];
  const repeating: Candidate[] = [];
  const open: Candidate[] = [];
  for (const candidate of candidates) {
    if (context.shouldYield()) await context.yieldTurn();
    const told = compareFacts(candidate.content, content);
    if (told === "contradicts") contradicting.push(candidate);
    else if (told === "repeats") repeating.push(candidate);
    else if (told === "open" && candidate.likeness >= LIKENESS_MIN && open.length < ASKED_MAX) open.push(candidate);
  }
  const asked = await askModel(context, content, open);
  for (const [i, told] of (asked ?? []).entries()) {
    if (told === "contradicts") contradicting.push(open[i]!);
    else if (told === "repeats") repeating.push(open[i]!);
  }
  return {
    contradicted: contradicting.filter(({ isLater }) => !isLater).map(({ id }) => id),
    repeated: repeating.find(({ isLater }) => !isLater)?.id ?? null,
    // They come in the order of their beginning, where it matters.
    later: contradicting.find(({ isLater }) => isLater)?.id ?? null,
    judgedBy: asked === null ? ["rules"] : ["rules", "nli"],
  };
}

/** The nearest to the text and to what it is about, those that hold at its beginning before those that begin later. */
async function nearest(
  context: MemoryContext,
  { sqlName, start, model }: MemoryTable,
  content: string,
  validFrom: string | null,
): Promise<Candidate[]> {
  const probes = [content, ...slotsOf(content).map(({ subject, relation }) => `${subject} ${relation}`)];
  const vectors = await need(context, EMBEDDING).later(probes, model, context);
  const isHeld =
    validFrom === null ? "valid_until IS NULL" : "(valid_until IS NULL OR valid_until > $3::text::timestamptz)";
  const isLater = validFrom === null ? "false" : `${start} > $3::text::timestamptz`;
  const found = new Map<string, { candidate: Candidate; begins: number }>();
  for (const probe of vectors) {
    const { rows } = await context.run(
      `SELECT id, content, 1 - (embedding <=> $2::vector) AS likeness, ${isLater} AS later,
         extract(epoch FROM ${start})::float8 AS begins
       FROM ${sqlName} WHERE ${isHeld} ORDER BY embedding <=> $1::vector LIMIT ${CANDIDATES}`,
      [probe, vectors[0]!, ...(validFrom === null ? [] : [validFrom])],
      CANDIDATES,
    );
    for (const [id, text, likeness, later, begins] of rows) {
      const candidate = { id, content: text, likeness, isLater: later } as Candidate;
      found.set(candidate.id, { candidate, begins: begins as number });
    }
    // They are all that there are.
    if (rows.length < CANDIDATES) break;
  }
  const all = [...found.values()];
  const order = (a: (typeof all)[number], b: (typeof all)[number]) =>
    a.candidate.isLater && b.candidate.isLater ? a.begins - b.begins : b.candidate.likeness - a.candidate.likeness;
  const held = all.filter(({ candidate }) => !candidate.isLater).sort(order);
  const later = all.filter(({ candidate }) => candidate.isLater).sort(order);
  return [...held, ...later].map(({ candidate }) => candidate);
}

type Scores = { readonly contradiction: number; readonly entailment: number };

/** Null: it was not asked, since there is nothing to ask or claims are switched off. */
async function askModel(context: MemoryContext, content: string, open: readonly Candidate[]) {
  const claims = context.services.capability(CLAIMS);
  if (claims === null || open.length === 0) return null;
  const rows = open.flatMap(({ content: old }) => [
    [null, old, content],
    [null, content, old],
  ]);
  let scores: readonly Scores[];
  try {
    scores = await scoresOf(claims, rows, context);
  } catch (error) {
    if (error instanceof DbError && error.code === "nli_disabled") return null;
    throw error;
  }
  return open.map(({ likeness }, i) => judgedByModel(likeness, scores[2 * i]!, scores[2 * i + 1]!));
}

async function scoresOf(claims: Claims, rows: readonly (readonly unknown[])[], context: MemoryContext) {
  const answers = (await claims.classify(rows, context)) as readonly { readonly scores: Scores }[];
  return answers.map(({ scores }) => scores);
}

/** By the scores of both directions. */
export function judgedByModel(likeness: number, there: Scores, back: Scores): "contradicts" | "repeats" | null {
  if (Math.min(there.contradiction, back.contradiction) >= CONTRADICTION_MIN) return "contradicts";
  const isEntailed = Math.min(there.entailment, back.entailment) >= ENTAILMENT_MIN;
  return isEntailed && likeness >= REPEATED_LIKENESS_MIN ? "repeats" : null;
}
