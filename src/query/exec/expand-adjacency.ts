/**
 * Relationships from the adjacency in memory, corrected by what the run's transaction sees differently. Made by
 * expand-edges.ts. Each node that is read counts as read, as if the indexes had been used.
 */

import type { EdgeItem } from "../../graph/adjacency-body.js";
import { type AdjacencyView, PAGE_BITS, PAGE_MASK, type Pages } from "../../graph/adjacency-pages.js";
import { encodeKey } from "../../storage/key-codec.js";
import { prefixEnd } from "../../storage/keys.js";
import { edgeReader, findAdjacency } from "./adjacency-index.js";
import type { ExecContext } from "./context.js";
import type { EdgeSource, EdgeSourceProgram, Span } from "./edge-source.js";

/** Changes of a transaction beyond which the indexes are read instead. */
const CORRECTIONS_MAX = 10_000;
/** Nodes whose reading is noted one by one; then all relationships count as read. */
const NOTED_MAX = 1024;

/** What a transaction sees beyond the adjacency, and what it no longer sees. */
interface Corrected {
  readonly hidden: ReadonlySet<number>;
  readonly out: ReadonlyMap<number, readonly EdgeItem[]>;
  readonly in: ReadonlyMap<number, readonly EdgeItem[]>;
  /** Nodes that have such. */
  readonly nodes: ReadonlySet<number>;
}

/** Null: there is no adjacency that is ready, or too much is different. */
export function openAdjacency(program: EdgeSourceProgram, context: ExecContext): AdjacencyEdges | null {
  const { edges } = program.graph;
  const index = findAdjacency(context, edges);
  if (index === null) return null;
  index.fold(() => context.shouldYield());
  const view = index.body.view();
  if (view === null) return null;
  if (context.tx.seesEngine && index.entries.size === 0) return new AdjacencyEdges(program, view, null, context);
  const gte = program.layout.rowPrefixOf(context.tenantNumber);
  const corrections = context.tx.correctionsUnread({ gte, lt: prefixEnd(gte) }, index);
  const read = edgeReader(edges);
  const corrected = { hidden: new Set<number>(), out: new Map(), in: new Map(), nodes: new Set<number>() };
  for (let count = 0; corrections.text !== null; corrections.advance()) {
    if (++count > CORRECTIONS_MAX) return null;
    const slot = index.slotOf(corrections.key);
    if (slot !== undefined) {
      corrected.hidden.add(slot);
      const { src, dst } = index.body.endsOf(slot);
      corrected.nodes.add(src).add(dst);
    }
    if (corrections.value === null) continue;
    const item = read(corrections.value);
    if (item === null) return null;
    corrected.nodes.add(item.src).add(item.dst);
    push(corrected.out, item.src, item);
    push(corrected.in, item.dst, item);
  }
  return new AdjacencyEdges(program, view, corrected.nodes.size === 0 ? null : corrected, context);
}

function push(lists: Map<number, EdgeItem[]>, node: number, item: EdgeItem): void {
  const list = lists.get(node);
  if (list === undefined) lists.set(node, [item]);
  else list.push(item);
}

const NONE: readonly Span[] = [];

export class AdjacencyEdges implements EdgeSource {
  /** Pages of the wanted types, with the type's name. */
  private readonly out: readonly (readonly [string, Pages])[];
  private readonly in: readonly (readonly [string, Pages])[];
  private noted = 0;
  /** The transaction wants to be told which nodes are read. */
  notes = true;

  constructor(
    private readonly program: EdgeSourceProgram,
    readonly view: AdjacencyView,
    readonly corrected: Corrected | null,
    private readonly context: ExecContext,
  ) {
    const { types, direction } = program;
    const wanted = view.types.flatMap((type, number) => (types.length === 0 || types.includes(type) ? [number] : []));
    const pagesOf = (tables: readonly Pages[]) => wanted.map((type) => [view.types[type]!, tables[type]!] as const);
    this.out = direction === "in" ? [] : pagesOf(view.out);
    this.in = direction === "out" ? [] : pagesOf(view.in);
  }

  /** The pages, where there is one type in one direction and the transaction sees nothing else; else null. */
  get only(): Pages | null {
    if (this.corrected !== null || this.out.length + this.in.length !== 1) return null;
    return (this.out[0] ?? this.in[0])![1];
  }

  /** Of a source in one direction: relationships leave the node. */
  get isOut(): boolean {
    return this.program.direction === "out";
  }

  maxNode(): number {
    let max = this.view.maxNode;
    for (const node of this.corrected?.nodes ?? []) max = Math.max(max, node);
    return max;
  }

  /** Has the node's relationships count as read, for those who take them from the pages. */
  read(node: number): void {
    if (this.notes) this.note(node);
  }

  of(node: number): readonly Span[] {
    if (this.notes) this.note(node);
    return this.spansOf(node);
  }

  between(node: number, other: number): readonly Span[] {
    if (this.notes) this.note(node, other);
    return this.spansOf(node);
  }

  private spansOf(node: number): readonly Span[] {
    if (this.corrected?.nodes.has(node)) return this.correctedOf(node, this.corrected);
    const spans: Span[] = [];
    for (const [type, pages] of this.out) add(spans, pages, node, type, true, false);
    const skipsLoops = this.program.direction === "either";
    for (const [type, pages] of this.in) add(spans, pages, node, type, false, skipsLoops);
    return spans.length === 0 ? NONE : spans;
  }

  private correctedOf(node: number, corrected: Corrected): readonly Span[] {
    const { types, direction } = this.program;
    const spans: Span[] = [];
    for (const isOut of [true, false]) {
      if (direction === (isOut ? "in" : "out")) continue;
      const byType = new Map<string, { others: number[]; edges: number[] }>();
      const put = (type: string, other: number, edge: number): void => {
        const list = byType.get(type) ?? { others: [], edges: [] };
        byType.set(type, list);
        list.others.push(other);
        list.edges.push(edge);
      };
      const stored: Span[] = [];
      for (const [type, pages] of isOut ? this.out : this.in) add(stored, pages, node, type, isOut, false);
      for (const { type, others, edges, from, to } of stored) {
        for (let i = from; i < to; i++) if (!corrected.hidden.has(edges[i]!)) put(type, others[i]!, edges[i]!);
      }
      for (const { id, type, src, dst } of corrected[isOut ? "out" : "in"].get(node) ?? []) {
        if (types.length === 0 || types.includes(type)) put(type, isOut ? dst : src, id);
      }
      const skipsLoops = !isOut && direction === "either";
      for (const [type, { others, edges }] of byType) {
        spans.push({ type, others, edges, from: 0, to: edges.length, isOut, skipsLoops });
      }
    }
    return spans;
  }

  /** The node's relationships count as read, or those of the wanted types with one other node. */
  private note(node: number, other: number | null = null): void {
    const { context, program } = this;
    // Each search of a writing clause reads little.
    const isAll = ++this.noted > NOTED_MAX && context.edgeSources === undefined;
    const ranges =
      other === null || program.types.length === 0 ? [[node]] : program.types.map((type) => [node, type, other]);
    for (const index of [program.out, program.in]) {
      if (program.direction === (index === program.out ? "in" : "out")) continue;
      const prefix = index.prefixOf(context.tenantNumber);
      for (const values of isAll ? [[]] : ranges) {
        const gte = values.length === 0 ? prefix : encodeKey(prefix, index.columns, values);
        if (!context.tx.noteRead({ gte, lt: prefixEnd(gte) })) this.notes = false;
      }
    }
    if (isAll) this.notes = false;
  }
}

function add(spans: Span[], pages: Pages, node: number, type: string, isOut: boolean, skipsLoops: boolean): void {
  const page = pages[node >>> PAGE_BITS];
  if (page === undefined) return;
  const [from, to] = [page.offsets[node & PAGE_MASK]!, page.offsets[(node & PAGE_MASK) + 1]!];
  if (from < to) spans.push({ others: page.others, edges: page.edges, from, to, type, isOut, skipsLoops });
}
