/**
 * A graph of the names in an English text and of the text's statements about them, found by rules (no model): tagged
 * words (tagged-text.ts) in chunks (chunks.ts), from which relations are read (relations.ts); here equal names become
 * one node. A task thread runs it (workers/task.ts), because it takes some seconds for the longest texts.
 */
import { DbError } from "../../protocol/errors.js";
import { EXTRACT_CHARACTERS_MAX } from "../../protocol/limits.js";
import { chunksOf, type EntityType, type NounChunk } from "./chunks.js";
import { type Memory, type Relation, relationsOf } from "./relations.js";
import { taggedSentences } from "./tagged-text.js";

/** UTF-16 offsets in the text. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

export interface ExtractedNode {
  /** No two nodes have names that differ only in case. */
  readonly name: string;
  readonly type: EntityType;
  /** Where it is named; pronouns do not count. */
  readonly spans: readonly TextSpan[];
  /** 0 to 1. */
  readonly confidence: number;
}

export interface ExtractedEdge {
  /** Names of nodes. */
  readonly from: string;
  readonly to: string;
  readonly type: string;
  /** The part of the text that says so; of several the surest one. */
  readonly span: TextSpan;
  /** 0 to 1. */
  readonly confidence: number;
}

export interface ExtractedGraph {
  readonly nodes: readonly ExtractedNode[];
  readonly edges: readonly ExtractedEdge[];
}

/**
 * Nodes in the order in which the text first names them, edges in that of their spans. Concepts (common nouns) and
 * dates are nodes only where an edge needs them. Throws `invalid_request` for a text beyond EXTRACT_CHARACTERS_MAX.
 */
export function extractGraph(text: string): ExtractedGraph {
  if (text.length > EXTRACT_CHARACTERS_MAX) {
    throw new DbError("invalid_request", `text has more than ${EXTRACT_CHARACTERS_MAX} characters`);
  }
  const nodes = new NodeMerger();
  const relations: Relation[] = [];
  const memory: Memory = { person: null, thing: null, several: [], persons: new Set() };
  for (const sentence of taggedSentences(text)) {
    const chunks = chunksOf(sentence, text);
    for (const chunk of chunks) {
      if (chunk.kind !== "noun") continue;
      nodes.see(chunk);
      if (chunk.within !== null) nodes.see(chunk.within);
    }
    relations.push(...relationsOf(chunks, memory));
  }
  const edges = mergeRelations(relations, nodes);
  return { nodes: nodes.result(new Set(edges.flatMap(({ from, to }) => [from, to])), memory.persons), edges };
}

interface SeenNode {
  readonly chunks: NounChunk[];
  /** The longest of its mentions. */
  name: string;
}

const ALWAYS_NODES: ReadonlySet<EntityType> = new Set(["Person", "Organization", "Place", "Entity"]);
const MORE_MENTIONS_CONFIDENCE = 0.03;
const CONFIDENCE_MAX = 0.99;

/**
 * Brings the mentions of one name together: by the name without case, and persons by their first or last name alone.
 */
class NodeMerger {
  private readonly nodes = new Map<string, SeenNode>();
  /** A part of a person's name → the key of the whole, last seen. */
  private readonly parts = new Map<string, string>();
  private readonly keys = new Map<NounChunk, string>();

  see(chunk: NounChunk): void {
    const key = this.keyFor(chunk);
    this.keys.set(chunk, key);
    const node = this.nodes.get(key);
    if (node === undefined) {
      this.nodes.set(key, { chunks: [chunk], name: chunk.name });
    } else {
      node.chunks.push(chunk);
      if (chunk.name.length > node.name.length) node.name = chunk.name;
    }
    const words = key.split(" ");
    if (words.length > 1 && (chunk.type === "Person" || chunk.type === "Entity")) {
      for (const part of [words[0], words.at(-1)]) this.parts.set(part as string, key);
    }
  }

  private keyFor({ name, type }: NounChunk): string {
    const key = name.toLowerCase();
    if (this.nodes.has(key) || (type !== "Person" && type !== "Entity")) return key;
    return this.parts.get(key) ?? key;
  }

  nameOf(chunk: NounChunk): string {
    return (this.nodes.get(this.keys.get(chunk) as string) as SeenNode).name;
  }

  /** `persons`: mentions that are persons by what is said of them. */
  result(inEdges: ReadonlySet<string>, persons: ReadonlySet<NounChunk>): ExtractedNode[] {
    const found: ExtractedNode[] = [];
    for (const node of this.nodes.values()) {
      const { name } = node;
      const { type, confidence } = surest(node.chunks, persons);
      if (!ALWAYS_NODES.has(type) && !inEdges.has(name)) continue;
      const more = MORE_MENTIONS_CONFIDENCE * (node.chunks.length - 1);
      found.push({
        name,
        type,
        spans: node.chunks.map(({ start, end }) => ({ start, end })),
        confidence: Math.round(Math.min(CONFIDENCE_MAX, confidence + more) * 100) / 100,
      });
    }
    return found;
  }
}

const SPOKEN_OF_AS_PERSON = { type: "Person", confidence: 0.75 } as const;

function surest(chunks: readonly NounChunk[], persons: ReadonlySet<NounChunk>): Pick<NounChunk, "type" | "confidence"> {
  const kinds = chunks.map((chunk) => (persons.has(chunk) ? SPOKEN_OF_AS_PERSON : chunk));
  return kinds.reduce((best, kind) => (kind.confidence > best.confidence ? kind : best));
}

/** Of equal edges the surest one, a little surer for each of the others. */
function mergeRelations(relations: readonly Relation[], nodes: NodeMerger): ExtractedEdge[] {
  const edges = new Map<string, ExtractedEdge>();
  for (const { from, to, type, start, end, confidence } of relations) {
    const edge = { from: nodes.nameOf(from), to: nodes.nameOf(to), type, span: { start, end }, confidence };
    if (edge.from === edge.to) continue;
    const key = JSON.stringify([edge.from, type, edge.to]);
    const other = edges.get(key);
    const best = other === undefined || confidence > other.confidence ? edge : other;
    const more = other === undefined ? 0 : MORE_MENTIONS_CONFIDENCE;
    const sum = Math.min(CONFIDENCE_MAX, best.confidence + more);
    edges.set(key, { ...best, confidence: Math.round(sum * 100) / 100 });
  }
  return [...edges.values()].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
}
