/**
 * A graph of a text by a language model: each piece of the text is one question, with one more to repair an answer in
 * the wrong form. Results have spans of the text; what the text does not name is left out. The handler of
 * graph/extract chooses the model; this file does not know which it is.
 */
import type { ExtractedEdge, TextSpan } from "./extract-graph.js";
import { extractionMessages, type PromptMessage, repairMessages } from "./extraction-prompt.js";
import {
  type AnsweredEdge,
  type AnsweredNode,
  type GraphAnswer,
  type GraphSchema,
  readGraphAnswer,
} from "./graph-answer.js";
import { type TextPiece, textPieces } from "./text-pieces.js";

/** Asks the model once. */
export type AskModel = (messages: readonly PromptMessage[]) => Promise<ModelReply>;

export interface ModelReply {
  readonly text: string;
  /** It ended because it became too long. */
  readonly isCut: boolean;
}

export interface ModelNode {
  readonly name: string;
  readonly type: string;
  readonly spans: readonly TextSpan[];
  /** 0 to 1. */
  readonly confidence: number;
}

export interface ModelGraph {
  readonly nodes: readonly ModelNode[];
  readonly edges: readonly ExtractedEdge[];
  /** What was left out of the answers, and why. */
  readonly warnings: readonly string[];
}

/** The model's answer was no graph, twice. */
export class NoGraphError extends Error {
  override readonly name = "NoGraphError";
}

/** Characters of a piece: some 1,500 tokens, whose answer is seldom longer than what models write at a time. */
const PIECE_CHARACTERS = 6000;
/** Pieces whose answer is too long are halved until they are this short. */
const PIECE_CHARACTERS_MIN = 500;
const WARNINGS_MAX = 20;
/** Different types of nodes, and of edges between nodes of given types: each is a clause where the graph is stored. */
const TYPES_MAX = 200;
/** Places of a node in a piece. */
const SPANS_MAX = 200;
/** Of these, those that an edge without words of its own is looked for between. */
const SPANS_TRIED = 50;
/** Nodes or edges looked for between two turns. */
const STEP = 16;
/** Of an edge without words of the text that say so. */
const UNQUOTED_CONFIDENCE = 0.5;

/** `turn`: gives others their turns, where it is time. Throws NoGraphError, and whatever `ask` and `turn` throw. */
export async function extractByModel(
  text: string,
  schema: GraphSchema,
  ask: AskModel,
  turn: () => void | Promise<void>,
): Promise<ModelGraph> {
  const found = new FoundGraph(text);
  const waiting = textPieces(text, PIECE_CHARACTERS);
  for (let piece = waiting.shift(); piece !== undefined; piece = waiting.shift()) {
    const answer = await answerOf(piece, schema, ask);
    if (answer === null) waiting.unshift(...halved(piece));
    else await found.add(answer, piece, turn);
  }
  return found.graph();
}

/** Null: the piece is too long for its answer. */
async function answerOf(piece: TextPiece, schema: GraphSchema, ask: AskModel): Promise<GraphAnswer | null> {
  const asked = extractionMessages(piece.text, schema);
  const first = await ask(asked);
  if (first.isCut && piece.text.length > PIECE_CHARACTERS_MIN) return null;
  const read = readGraphAnswer(first.text, schema);
  const problems = read.answer === null ? [read.problem] : read.answer.problems;
  if (read.answer !== null && problems.length === 0) return read.answer;
  const second = await ask(repairMessages(asked, first.text, problems));
  const mended = readGraphAnswer(second.text, schema);
  if (mended.answer === null) {
    if (read.answer !== null) return read.answer;
    throw new NoGraphError(mended.problem);
  }
  // A mended answer that says less than the first one had right is no better.
  return read.answer !== null && sizeOf(mended.answer) < sizeOf(read.answer) ? read.answer : mended.answer;
}

function sizeOf({ nodes, edges }: GraphAnswer): number {
  return nodes.length + edges.length;
}

function halved({ text, start }: TextPiece): TextPiece[] {
  return textPieces(text, Math.ceil(text.length / 2) + 1).map((half) => ({ ...half, start: start + half.start }));
}

/** What all pieces name, with its places in the whole text. */
class FoundGraph {
  private readonly nodes = new Map<string, { name: string; type: string; spans: TextSpan[]; confidence: number }>();
  private readonly edges = new Map<string, ExtractedEdge>();
  private readonly warnings: string[] = [];
  private readonly nodeTypes = new Set<string>();
  private readonly edgeTypes = new Set<string>();

  constructor(private readonly text: string) {}

  async add(
    { nodes, edges, problems }: GraphAnswer,
    piece: TextPiece,
    turn: () => void | Promise<void>,
  ): Promise<void> {
    for (const problem of problems) this.warn(problem);
    for (const [i, node] of nodes.entries()) {
      if (i % STEP === 0) await turn();
      this.addNode(node, piece);
    }
    for (const [i, edge] of edges.entries()) {
      if (i % STEP === 0) await turn();
      this.addEdge(edge, piece);
    }
  }

  graph(): ModelGraph {
    const inOrder = (a: TextSpan, b: TextSpan) => a.start - b.start || a.end - b.end;
    const nodes = [...this.nodes.values()].map((node) => ({ ...node, spans: node.spans.sort(inOrder) }));
    nodes.sort((a, b) => inOrder(a.spans[0]!, b.spans[0]!));
    const edges = [...this.edges.values()].sort((a, b) => inOrder(a.span, b.span));
    return { nodes, edges, warnings: this.warnings };
  }

  private warn(warning: string): void {
    if (this.warnings.length < WARNINGS_MAX) this.warnings.push(warning);
  }

  private addNode({ name, type, mentions, confidence }: AnsweredNode, piece: TextPiece): void {
    const key = name.toLowerCase();
    const known = this.nodes.get(key);
    const spans = withoutOverlaps([name, ...mentions].flatMap((words) => placesOf(words, piece)));
    if (known !== undefined) {
      known.spans.push(...spans);
      known.confidence = Math.max(known.confidence, confidence);
    } else if (spans.length === 0) this.warn(`the node "${name}" is left out: the text does not name it`);
    else if (this.isOneMore(this.nodeTypes, type)) this.nodes.set(key, { name, type, spans, confidence });
  }

  private addEdge({ from, to, type, evidence, confidence }: AnsweredEdge, piece: TextPiece): void {
    const [source, target] = [this.nodes.get(from.toLowerCase()), this.nodes.get(to.toLowerCase())];
    if (source === undefined || target === undefined) {
      this.warn(`the edge ${type} from "${from}" to "${to}" is left out with its node`);
      return;
    }
    if (!this.isOneMore(this.edgeTypes, JSON.stringify([source.type, type, target.type]))) return;
    const quoted = evidence === "" ? [] : placesOf(evidence, piece, false);
    const span = quoted[0] ?? this.around(source.spans, target.spans);
    const sure = quoted.length > 0 ? confidence : Math.min(confidence, UNQUOTED_CONFIDENCE);
    const key = JSON.stringify([source.name, type, target.name]);
    const known = this.edges.get(key);
    if (known !== undefined && known.confidence >= sure) return;
    this.edges.set(key, { from: source.name, to: target.name, type, span, confidence: sure });
  }

  /** False, with a warning: there are too many. */
  private isOneMore(types: Set<string>, type: string): boolean {
    if (types.size >= TYPES_MAX && !types.has(type)) {
      this.warn(`what is of the type ${type} is left out: there are more than ${TYPES_MAX} types`);
      return false;
    }
    types.add(type);
    return true;
  }

  /** The shortest part of the text with a mention of both. */
  private around(a: readonly TextSpan[], b: readonly TextSpan[]): TextSpan {
    let best: TextSpan = { start: 0, end: this.text.length };
    for (const one of a.slice(0, SPANS_TRIED)) {
      for (const other of b.slice(0, SPANS_TRIED)) {
        const [start, end] = [Math.min(one.start, other.start), Math.max(one.end, other.end)];
        if (end - start < best.end - best.start) best = { start, end };
      }
    }
    return best;
  }
}

const UNSPACED =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}/u;

/** Where the piece has these words, with any blanks between them; as whole words unless told otherwise. */
function placesOf(words: string, { text, start }: TextPiece, whole = true): TextSpan[] {
  const escaped = words.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = escaped.replaceAll(/\s+/g, "\\s+");
  const bounded = `(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`;
  // Not all writing has blanks between words.
  const source = whole && !UNSPACED.test(words) ? bounded : pattern;
  for (const flags of ["gu", "giu"]) {
    const places: TextSpan[] = [];
    for (const { 0: found, index } of text.matchAll(new RegExp(source, flags))) {
      places.push({ start: start + index, end: start + index + found.length });
      if (places.length === SPANS_MAX) break;
    }
    if (places.length > 0) return places;
  }
  return [];
}

/** Of spans within others the longer ones. */
function withoutOverlaps(spans: readonly TextSpan[]): TextSpan[] {
  const longest = spans.slice(0, SPANS_MAX).sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start);
  const kept: TextSpan[] = [];
  for (const span of longest) {
    if (kept.every((other) => span.end <= other.start || span.start >= other.end)) kept.push(span);
  }
  return kept;
}
