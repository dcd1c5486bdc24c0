/**
 * Reads a language model's answer as a graph: its JSON, checked against the request. The answer is data: names, types
 * and quotes, bounded in number and length; nothing in it is ever run. Called by extract-by-model.ts.
 */

export interface AnsweredNode {
  readonly name: string;
  readonly type: string;
  /** As the text names it, beside the name. */
  readonly mentions: readonly string[];
  readonly confidence: number;
}

export interface AnsweredEdge {
  /** Names of nodes. */
  readonly from: string;
  readonly to: string;
  readonly type: string;
  /** The words of the text that say so; "": none were given. */
  readonly evidence: string;
  readonly confidence: number;
}

export interface GraphAnswer {
  readonly nodes: readonly AnsweredNode[];
  readonly edges: readonly AnsweredEdge[];
  /** What was wrong with the answer, for the prompt that asks for a repair; the wrong parts were left out. */
  readonly problems: readonly string[];
}

/** Which types the graph may have; null: any. */
export interface GraphSchema {
  readonly nodeTypes: readonly string[] | null;
  readonly edgeTypes: readonly string[] | null;
}

const NODES_MAX = 500;
const EDGES_MAX = 1000;
const NAME_MAX = 300;
const TYPE_MAX = 64;
const EVIDENCE_MAX = 2000;
const MENTIONS_MAX = 20;
/** Where the answer says nothing of it. */
const CONFIDENCE = 0.8;
const PROBLEMS_MAX = 12;

/** Null: it is no JSON object at all; `problem` says why. */
export function readGraphAnswer(
  text: string,
  schema: GraphSchema,
): { readonly answer: GraphAnswer } | { readonly answer: null; readonly problem: string } {
  const json = jsonIn(text);
  if (json === null) return { answer: null, problem: "there is no JSON object in it" };
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { answer: null, problem: `it is not valid JSON: ${(error as Error).message.slice(0, 200)}` };
  }
  if (!isObject(value)) return { answer: null, problem: "it is no JSON object" };
  if (!Array.isArray(value.nodes)) return { answer: null, problem: 'its field "nodes" is no list' };
  if (value.edges !== undefined && !Array.isArray(value.edges)) {
    return { answer: null, problem: 'its field "edges" is no list' };
  }
  return { answer: new AnswerReader(schema).read(value.nodes, (value.edges as unknown[] | undefined) ?? []) };
}

/** Models put JSON between words or into a fenced block. */
function jsonIn(text: string): string | null {
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  return from < 0 || to < from ? null : text.slice(from, to + 1);
}

class AnswerReader {
  private readonly problems: string[] = [];
  /** By name in lower case. */
  private readonly nodes = new Map<string, AnsweredNode>();

  constructor(private readonly schema: GraphSchema) {}

  read(nodes: readonly unknown[], edges: readonly unknown[]): GraphAnswer {
    if (nodes.length > NODES_MAX) this.wrong(`there are more than ${NODES_MAX} nodes`);
    for (const [i, node] of nodes.slice(0, NODES_MAX).entries()) this.node(node, `nodes[${i}]`);
    if (edges.length > EDGES_MAX) this.wrong(`there are more than ${EDGES_MAX} edges`);
    const found: AnsweredEdge[] = [];
    for (const [i, edge] of edges.slice(0, EDGES_MAX).entries()) {
      const read = this.edge(edge, `edges[${i}]`);
      if (read !== null) found.push(read);
    }
    return { nodes: [...this.nodes.values()], edges: found, problems: this.problems };
  }

  private wrong(problem: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(problem);
  }

  private node(node: unknown, at: string): void {
    if (!isObject(node)) {
      this.wrong(`${at} is no object`);
      return;
    }
    const name = this.text(node.name, `${at}.name`, NAME_MAX);
    const type = this.type(node.type, `${at}.type`, this.schema.nodeTypes, nodeType);
    if (name === null || type === null) return;
    const key = name.toLowerCase();
    const known = this.nodes.get(key);
    const mentions = Array.isArray(node.mentions) ? node.mentions : [];
    const quoted = mentions.filter(
      (mention): mention is string => typeof mention === "string" && mention.trim() !== "",
    );
    const all = [...(known?.mentions ?? []), ...quoted.map((mention) => mention.trim())];
    this.nodes.set(key, {
      name: known?.name ?? name,
      type: known?.type ?? type,
      mentions: [...new Set(all)].filter(({ length }) => length <= NAME_MAX).slice(0, MENTIONS_MAX),
      confidence: Math.max(known?.confidence ?? 0, confidenceOf(node.confidence)),
    });
  }

  private edge(edge: unknown, at: string): AnsweredEdge | null {
    if (!isObject(edge)) {
      this.wrong(`${at} is no object`);
      return null;
    }
    const from = this.end(edge.from, `${at}.from`);
    const to = this.end(edge.to, `${at}.to`);
    const type = this.type(edge.type, `${at}.type`, this.schema.edgeTypes, edgeType);
    if (from === null || to === null || type === null) return null;
    if (from === to) {
      this.wrong(`${at} joins "${from}" with itself`);
      return null;
    }
    const { evidence } = edge;
    const quote = typeof evidence === "string" ? evidence.trim().slice(0, EVIDENCE_MAX) : "";
    return { from, to, type, evidence: quote, confidence: confidenceOf(edge.confidence) };
  }

  /** The name of a node of the answer. */
  private end(value: unknown, at: string): string | null {
    const name = this.text(value, at, NAME_MAX);
    if (name === null) return null;
    const node = this.nodes.get(name.toLowerCase());
    if (node === undefined) this.wrong(`${at} is "${name}", which is not the name of a node`);
    return node?.name ?? null;
  }

  private type(
    value: unknown,
    at: string,
    allowed: readonly string[] | null,
    plain: (text: string) => string,
  ): string | null {
    const text = this.text(value, at, NAME_MAX);
    const made = text === null ? null : plain(text).slice(0, TYPE_MAX);
    if (made === null) return null;
    if (made === "") {
      this.wrong(`${at} has no letters`);
      return null;
    }
    if (allowed === null) return made;
    const meant = allowed.find((each) => plain(each).toLowerCase() === made.toLowerCase());
    if (meant === undefined) this.wrong(`${at} is "${text}", which is not one of ${allowed.join(", ")}`);
    return meant ?? null;
  }

  private text(value: unknown, at: string, max: number): string | null {
    const text = typeof value === "string" ? value.replaceAll(/\s+/g, " ").trim() : "";
    if (text !== "" && text.length <= max) return text;
    this.wrong(text === "" ? `${at} is no text` : `${at} is longer than ${max} characters`);
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function confidenceOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) return CONFIDENCE;
  return Math.round(Math.max(0, Math.min(1, value)) * 100) / 100;
}

const wordsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");

/** `research institute` → ResearchInstitute. */
function nodeType(text: string): string {
  return wordsOf(text)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join("");
}

/** `works at` → WORKS_AT. */
function edgeType(text: string): string {
  return wordsOf(text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2"))
    .join("_")
    .toUpperCase();
}
