/**
 * Chooses the source of a node's relationships: the adjacency in memory if there is one, else the edge table's
 * indexes, through the transaction. The operators that walk (expand.ts, expand-path.ts) open one source per run.
 */
import { EDGE_COLUMN, type GraphTables } from "../../catalog/graph.js";
import type { IndexDef } from "../../catalog/table.js";
import { boundOf } from "../../storage/cursor-bound.js";
import { decodeKey, encodeKey } from "../../storage/key-codec.js";
import { prefixEnd } from "../../storage/keys.js";
import type { Value } from "../../values/values.js";
import type { ExecContext } from "./context.js";
import type { EdgeSource, EdgeSourceProgram, Span, Walked } from "./edge-source.js";
import { suffixOf } from "./entry-value.js";
import { openAdjacency } from "./expand-adjacency.js";
import { decoderOf, joinKey, type KeyLayout, keyLayoutOf, layoutOf } from "./table-layout.js";

/** Nodes whose relationships are remembered. */
const REMEMBERED_MAX = 4096;
const ENTRIES = 1024;

export function compileEdgeSource({ graph, direction, types }: Walked): EdgeSourceProgram {
  const { edges } = graph;
  const layout = layoutOf(edges);
  return {
    graph,
    direction,
    types: [...new Set(types)],
    layout,
    out: keyLayoutOf(edges, indexBy(graph, EDGE_COLUMN.src)),
    in: keyLayoutOf(edges, indexBy(graph, EDGE_COLUMN.dst)),
    decodeEnds: decoderOf(layout, [EDGE_COLUMN.src, EDGE_COLUMN.dst]),
  };
}

function indexBy({ edges }: GraphTables, columnId: number): IndexDef {
  const found = edges.indexes.find(
    ({ columns }) =>
      columns.length === 3 && columns[0]!.columnId === columnId && columns[1]!.columnId === EDGE_COLUMN.type,
  );
  if (found === undefined) throw new Error(`the edge table ${edges.name} has lost an index`);
  return found;
}

export function openEdgeSource(program: EdgeSourceProgram, context: ExecContext): EdgeSource {
  const { edgeSources } = context;
  if (edgeSources === undefined) return newEdgeSource(program, context);
  const known = edgeSources.get(program);
  if (known !== undefined) return known;
  const source = newEdgeSource(program, context);
  edgeSources.set(program, source);
  return source;
}

function newEdgeSource(program: EdgeSourceProgram, context: ExecContext): EdgeSource {
  if (context.derived === null) return new IndexedEdges(program, context);
  if (!context.tx.seesEngine) return new ChangedEdges(program, context);
  return openAdjacency(program, context) ?? new IndexedEdges(program, context);
}

/** Nodes that are looked up in the indexes before it is worth while to collect what a transaction sees differently. */
const LOOKED_UP_MAX = 16;

/** Of a transaction that has written, or whose snapshot is not the newest. */
class ChangedEdges implements EdgeSource {
  private readonly indexed: IndexedEdges;
  private source: EdgeSource;
  private lookedUp = 0;

  constructor(
    private readonly program: EdgeSourceProgram,
    private readonly context: ExecContext,
  ) {
    this.indexed = new IndexedEdges(program, context);
    this.source = this.indexed;
  }

  maxNode(): number {
    return this.source.maxNode();
  }

  of(node: number): readonly Span[] {
    this.lookUp();
    return this.source.of(node);
  }

  between(node: number, other: number): readonly Span[] {
    this.lookUp();
    return this.source.between(node, other);
  }

  private lookUp(): void {
    if (++this.lookedUp === LOOKED_UP_MAX) this.source = openAdjacency(this.program, this.context) ?? this.indexed;
  }
}

class IndexedEdges implements EdgeSource {
  private readonly remembered = new Map<number, readonly Span[]>();
  private greatest: number | null = null;

  constructor(
    private readonly program: EdgeSourceProgram,
    private readonly context: ExecContext,
  ) {}

  of(node: number): readonly Span[] {
    const known = this.remembered.get(node);
    if (known !== undefined) return known;
    const spans = this.spansOf(node, null);
    if (this.remembered.size === REMEMBERED_MAX) this.remembered.clear();
    this.remembered.set(node, spans);
    return spans;
  }

  between(node: number, other: number): readonly Span[] {
    return this.remembered.get(node) ?? this.spansOf(node, other);
  }

  private spansOf(node: number, other: number | null): readonly Span[] {
    const spans: Span[] = [];
    const { direction } = this.program;
    if (direction !== "in") this.read(node, other, true, spans);
    if (direction !== "out") this.read(node, other, false, spans);
    return spans;
  }

  /** Of all nodes, by the last key of their table. */
  maxNode(): number {
    if (this.greatest !== null) return this.greatest;
    const { primaryKey } = layoutOf(this.program.graph.nodes);
    const prefix = primaryKey!.prefixOf(this.context.tenantNumber);
    const last = boundOf(this.context.tx.scan({ gte: prefix, lt: prefixEnd(prefix), reverse: true, only: "keys" }));
    this.greatest = last === null ? 0 : (decodeKey(last, prefix.length, primaryKey!.columns)[0] as number);
    return this.greatest;
  }

  /** `other` null: relationships with any node. */
  private read(node: number, other: number | null, isOut: boolean, spans: Span[]): void {
    const { types } = this.program;
    if (types.length === 0) this.readRange([node], isOut, spans);
    for (const type of types) this.readRange(other === null ? [node, type] : [node, type, other], isOut, spans);
  }

  /** Entries come in the order of types: each type is a span. */
  private readRange(values: readonly Value[], isOut: boolean, spans: Span[]): void {
    const { program, context } = this;
    const index = isOut ? program.out : program.in;
    const prefix = index.prefixOf(context.tenantNumber);
    const gte = encodeKey(prefix, index.columns, values);
    const cursor = context.tx.scan({ gte, lt: prefixEnd(gte) });
    let span: { type: string; others: number[]; edges: number[] } | null = null;
    try {
      for (;;) {
        const { keys, values: suffixes } = cursor.next(ENTRIES);
        if (keys.length === 0) break;
        const others = this.othersOf(suffixes, index, isOut);
        for (let i = 0; i < keys.length; i++) {
          // Only a relationship that the statement itself removed has an entry but no record.
          if (others[i] === undefined) continue;
          const type = decodeKey(keys[i]!, prefix.length, index.columns)[1] as string;
          if (span === null || span.type !== type) {
            if (span !== null) spans.push(this.finished(span, isOut));
            span = { type, others: [], edges: [] };
          }
          span.others.push(others[i]!);
          span.edges.push(decodeKey(suffixOf(index, suffixes[i]!), 0, program.layout.primaryKey!.columns)[0] as number);
        }
      }
    } finally {
      cursor.close();
    }
    if (span !== null) spans.push(this.finished(span, isOut));
  }

  private finished({ type, others, edges }: { type: string; others: number[]; edges: number[] }, isOut: boolean): Span {
    const skipsLoops = !isOut && this.program.direction === "either";
    return { type, others, edges, from: 0, to: others.length, isOut, skipsLoops };
  }

  private othersOf(suffixes: readonly Uint8Array[], index: KeyLayout, isOut: boolean): readonly (number | undefined)[] {
    const { program, context } = this;
    const prefix = program.layout.rowPrefixOf(context.tenantNumber);
    const records = context.tx.getMany(suffixes.map((suffix) => joinKey(prefix, suffixOf(index, suffix))));
    const ends: Value[][] = [[], []];
    return records.map((record) => {
      if (record === undefined) return undefined;
      program.decodeEnds(record, ends, 0);
      return ends[isOut ? 1 : 0]![0] as number;
    });
  }
}
