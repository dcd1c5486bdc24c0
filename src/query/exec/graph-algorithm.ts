/**
 * A graph algorithm as a function that gives rows: it reads the graph as the statement's transaction sees it into
 * arrays, has a task thread compute, and hands out the results. CALL algo.… calls it
 * (features/graph/algorithm-procedures.ts).
 */

import { EDGE_COLUMN, type GraphTables, NODE_COLUMN } from "../../catalog/graph.js";
import type { TableDef } from "../../catalog/table.js";
import { PAGE_BITS, PAGE_NODES, type Pages } from "../../graph/adjacency-pages.js";
import type { Algorithm, AlgorithmGraph, AlgorithmResult, ResultColumn } from "../../graph/algorithms/algorithm.js";
import { type AlgorithmJob, checkedOptions, runAlgorithm } from "../../graph/algorithms/run-algorithm.js";
import { DbError } from "../../protocol/errors.js";
import { prefixEnd } from "../../storage/keys.js";
import { BOOL, INT8, recordOf, TEXT, VARIANT, type Value } from "../../values/values.js";
import {
  Float,
  floatValue,
  GraphNode,
  GraphRelationship,
  type Variant,
  type VariantMap,
} from "../../values/variant.js";
import { cypherOperator, HAS_LABEL } from "../expr/cypher/registry.js";
import type { EvalContext, Expr } from "../expr/expr.js";
import { resolveOperator } from "../expr/resolve.js";
import type { TableFunction, TableRows } from "../expr/table-function.js";
import { newColumnId } from "../optimize/new-column-id.js";
import { optimize } from "../optimize/optimize.js";
import { filtered, withColumns } from "../optimize/rule.js";
import { columnExpr } from "../plan/column-expr.js";
import type { EdgeColumns, NodeColumns } from "../plan/graph-plans.js";
import type { OutputColumn, Plan } from "../plan/plan.js";
import { findAdjacency } from "./adjacency-index.js";
import { compilePlan } from "./compile-plan.js";
import type { ExecContext } from "./context.js";
import { drain } from "./operator.js";
import { layoutOf } from "./table-layout.js";

/** Which part of the graph is meant. */
interface Part {
  /** Nodes with any of these; null: all. */
  readonly labels: readonly string[] | null;
  readonly nodes: ReadonlySet<number> | null;
  readonly types: readonly string[] | null;
  readonly relationships: ReadonlySet<number> | null;
  readonly weight: string | null;
}

/** What policies leave of a graph. */
export interface SeenGraph {
  readonly nodes: { readonly plan: Plan; readonly columns: NodeColumns };
  readonly edges: { readonly plan: Plan; readonly columns: EdgeColumns };
}

interface ReadGraph extends GraphTables {
  /** Null: all of it. */
  readonly seen: SeenGraph | null;
}

/** A graph of so few nodes and relationships is not worth another thread. */
const RUN_HERE_MAX = 1000;
/** Milliseconds between two looks whether the statement was cancelled. */
const LOOK_MS = 20;
/** Relationships between two looks at the clock. */
const STEP = 65_536;

/** Its rows: columns of nodes give ids under the name `<column>Id`. */
export function algorithmFunction(graph: GraphTables, algorithm: Algorithm, seen: SeenGraph | null): TableFunction {
  return Object.freeze({
    name: `algo.${algorithm.name}`,
    args: [VARIANT],
    returns: recordOf(
      algorithm.columns.map(({ name, kind }) => ({
        name: kind === "node" ? `${name}Id` : name,
        type: kind === "node" || kind === "integer" ? INT8 : VARIANT,
      })),
    ),
    strict: false,
    open: (context: EvalContext, [options]: readonly Value[]) =>
      new AlgorithmRows({ ...graph, seen }, algorithm, options ?? null, context as ExecContext),
  });
}

class AlgorithmRows implements TableRows {
  private result: AlgorithmResult | null = null;
  private nodes: Float64Array | null = null;
  private at = 0;

  constructor(
    private readonly graph: ReadGraph,
    private readonly algorithm: Algorithm,
    private readonly given: Value,
    private readonly context: ExecContext,
  ) {}

  next(out: readonly Value[][], at: number, max: number): number | Promise<number> {
    if (this.result !== null) return this.fill(this.result, out, at, max);
    return this.compute().then((result) => {
      this.result = result;
      return this.fill(result, out, at, max);
    });
  }

  private async compute(): Promise<AlgorithmResult> {
    const { algorithm, context } = this;
    const { part, own } = settingsOf(this.given, algorithm);
    const options = checkedOptions(algorithm, own);
    context.services.progress("reading", 0);
    const graph = await readGraph(this.graph, part, context);
    context.services.progress("computing", 0);
    this.nodes = graph.nodes;
    const control = new Int32Array(new SharedArrayBuffer(8));
    const job: AlgorithmJob = { algorithm: algorithm.name, graph, options, control };
    const isSmall = graph.nodes.length + graph.src.length <= RUN_HERE_MAX;
    if (isSmall) return this.told(runAlgorithm(job));
    // Its own copy: the arrays go to the other thread.
    this.nodes = graph.nodes.slice();
    return this.told(await finished(context.services.runAlgorithm(job), control, context));
  }

  private told(result: AlgorithmResult): AlgorithmResult {
    this.context.services.progress("finishing", 0);
    return result;
  }

  private fill({ columns, rows }: AlgorithmResult, out: readonly Value[][], at: number, max: number): number {
    const count = Math.min(max, rows - this.at);
    const { nodes } = this;
    columns.forEach((column, c) => {
      const valueIn = readerOf(column, nodes!);
      const to = out[c]!;
      for (let i = 0; i < count; i++) to[at + i] = valueIn(this.at + i);
    });
    this.at += count;
    return count;
  }
}

function readerOf(column: ResultColumn, nodes: Float64Array): (row: number) => Value {
  switch (column.kind) {
    case "node":
      return (row) => nodes[column.values[row]!]!;
    case "integer":
      return (row) => column.values[row]!;
    case "float":
      return (row) => floatValue(column.values[row]!);
    case "nodes":
      return (row) => Array.from(column.values[row]!, (node) => nodes[node]!);
  }
}

/** Waits for the other thread, and tells it if the statement is cancelled. */
async function finished(
  running: Promise<AlgorithmResult>,
  control: Int32Array,
  context: ExecContext,
): Promise<AlgorithmResult> {
  let timer: NodeJS.Timeout | undefined;
  const cancelled = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      try {
        context.checkpoint();
        context.services.progress("computing", Atomics.load(control, 0) / 1000);
      } catch (error) {
        Atomics.store(control, 1, 1);
        reject(error as Error);
      }
    }, LOOK_MS);
  });
  try {
    return await Promise.race([running, cancelled]);
  } finally {
    clearInterval(timer);
    running.catch(() => undefined);
  }
}

// ---- options ----

function settingsOf(given: Value, algorithm: Algorithm): { part: Part; own: Record<string, unknown> } {
  if (given !== null && !(given instanceof Map)) throw wrong("the options of a graph algorithm must be a map");
  const own: Record<string, unknown> = {};
  const common: Partial<Record<string, Variant>> = {};
  for (const [name, value] of (given as VariantMap | null) ?? []) {
    const plain = COMMON[name.replace(/_/g, "").toLowerCase()];
    if (plain === undefined)
      own[name] = value instanceof Float ? value.value : value instanceof GraphNode ? value.id : value;
    else common[plain] = value;
  }
  if (common.weight !== undefined && common.weight !== null && !algorithm.isWeighted) {
    throw wrong(`${algorithm.name} does not read weights`);
  }
  return {
    own,
    part: {
      labels: texts(common.labels, "node_labels"),
      types: texts(common.types, "relationship_types"),
      nodes: ids(common.nodes, "node_ids"),
      relationships: ids(common.relationships, "relationship_ids"),
      weight: texts(common.weight, "weight_property")?.[0] ?? null,
    },
  };
}

const COMMON: Readonly<Record<string, string>> = {
  nodelabels: "labels",
  relationshiptypes: "types",
  edgetypes: "types",
  nodeids: "nodes",
  relationshipids: "relationships",
  edgeids: "relationships",
  weightproperty: "weight",
  weight: "weight",
};

function texts(value: Variant | undefined, name: string): readonly string[] | null {
  if (value === undefined || value === null) return null;
  const list: readonly Variant[] = Array.isArray(value) ? value : [value as Variant];
  if (!list.every((item) => typeof item === "string")) throw wrong(`option "${name}" must be text or a list of texts`);
  return list as readonly string[];
}

function ids(value: Variant | undefined, name: string): ReadonlySet<number> | null {
  if (value === undefined || value === null) return null;
  const list: readonly Variant[] = Array.isArray(value) ? value : [value as Variant];
  return new Set(
    list.map((item) => {
      if (item instanceof GraphNode || item instanceof GraphRelationship) return item.id;
      if (typeof item !== "number") throw wrong(`option "${name}" must be a list of ids`);
      return item;
    }),
  );
}

function wrong(message: string): DbError {
  return new DbError("invalid_request", message);
}

// ---- the graph ----

async function readGraph(graph: ReadGraph, part: Part, context: ExecContext): Promise<AlgorithmGraph> {
  const nodes = await readNodes(graph, part, context);
  const places = new Places(nodes);
  const found = new Found(places);
  const isPlain = part.relationships === null && part.weight === null;
  const index = isPlain && graph.seen === null && context.tx.seesEngine ? findAdjacency(context, graph.edges) : null;
  const view = index !== null && index.entries.size === 0 ? index.body.view() : null;
  if (view === null) await readEdges(graph, part, context, found);
  else {
    context.tx.noteRead(wholeRange(context, graph.edges));
    for (const [type, pages] of view.out.entries()) {
      if (part.types === null || part.types.includes(view.types[type]!)) await readPages(pages, found, context);
    }
  }
  return found.graph(nodes);
}

function wholeRange({ tenantNumber }: ExecContext, table: TableDef) {
  const gte = layoutOf(table).rowPrefixOf(tenantNumber);
  return { gte, lt: prefixEnd(gte) };
}

/** Places of nodes in the arrays, by id. */
class Places {
  private readonly byId: Int32Array | Map<number, number>;

  constructor(nodes: Float64Array) {
    const greatest = nodes.at(-1) ?? 0;
    if (greatest < nodes.length * 16 + 65_536) {
      this.byId = new Int32Array(greatest + 1).fill(-1);
      for (let i = 0; i < nodes.length; i++) this.byId[nodes[i]!] = i;
    } else this.byId = new Map(Array.from(nodes, (id, i) => [id, i]));
  }

  of(id: number): number {
    return (this.byId instanceof Map ? this.byId.get(id) : this.byId[id]) ?? -1;
  }
}

/** Relationships as they are found. */
class Found {
  private src = new Uint32Array(1024);
  private dst = new Uint32Array(1024);
  private weights: number[] | null = null;
  private length = 0;

  constructor(readonly places: Places) {}

  /** Unless one of its ends is no part of the graph. */
  add(src: number, dst: number, weight: number | null): void {
    const [from, to] = [this.places.of(src), this.places.of(dst)];
    if (from === -1 || to === -1) return;
    if (this.length === this.src.length) {
      this.src = grown(this.src);
      this.dst = grown(this.dst);
    }
    this.src[this.length] = from;
    this.dst[this.length] = to;
    if (weight !== null) {
      this.weights ??= [];
      this.weights[this.length] = weight;
    }
    this.length++;
  }

  graph(nodes: Float64Array): AlgorithmGraph {
    const weights = this.weights === null ? null : Float64Array.from(this.weights);
    return { nodes, src: this.src.slice(0, this.length), dst: this.dst.slice(0, this.length), weights };
  }
}

function grown(old: Uint32Array): Uint32Array<ArrayBuffer> {
  const next = new Uint32Array(2 * old.length);
  next.set(old);
  return next;
}

async function readPages(pages: Pages, found: Found, context: ExecContext): Promise<void> {
  let steps = 0;
  for (const [number, page] of pages.entries()) {
    if (page === undefined) continue;
    const first = number << PAGE_BITS;
    for (let node = 0; node < PAGE_NODES; node++) {
      for (let i = page.offsets[node]!; i < page.offsets[node + 1]!; i++)
        found.add(first + node, page.others[i]!, null);
    }
    steps += page.others.length;
    if (steps < STEP) continue;
    steps = 0;
    context.checkpoint();
    if (context.shouldYield()) await context.yieldTurn();
  }
}

function column(name: string, type: OutputColumn["type"]): OutputColumn {
  return { id: newColumnId(), name, type, nullable: true };
}

function scan(table: TableDef, columns: readonly OutputColumn[], source: readonly number[], filter: Expr | null): Plan {
  return { kind: "scan", table, alias: table.name, source, columns, filter, reverse: false, rowKey: null };
}

async function readNodes({ nodes, seen }: ReadGraph, part: Part, context: ExecContext): Promise<Float64Array> {
  const { id, labels } = seen?.nodes.columns ?? { id: column("id", INT8), labels: column("labels", TEXT) };
  const tests = part.labels?.map((label): Expr => {
    const args: Expr[] = [columnExpr(labels), { kind: "const", type: TEXT, value: label }];
    return { kind: "call", type: BOOL, fn: HAS_LABEL, args };
  });
  const filter = tests === undefined ? null : tests.length === 1 ? tests[0]! : anyOf(tests);
  const plan =
    seen !== null
      ? withColumns(filtered(seen.nodes.plan, filter === null ? [] : [filter]), [id])
      : filter === null
        ? scan(nodes, [id], [NODE_COLUMN.id], null)
        : scan(nodes, [id, labels], [NODE_COLUMN.id, NODE_COLUMN.labels], filter);
  const found: number[] = [];
  const wanted = part.nodes;
  await eachBatch(plan, context, (columns, length) => {
    const from = columns[0]!;
    for (let i = 0; i < length; i++)
      if (wanted === null || wanted.has(from[i] as number)) found.push(from[i] as number);
  });
  return Float64Array.from(found).sort();
}

function anyOf(args: readonly Expr[]): Expr {
  return args.length === 0 ? { kind: "const", type: BOOL, value: false } : { kind: "or", type: BOOL, args };
}

async function readEdges({ edges, seen }: ReadGraph, part: Part, context: ExecContext, found: Found): Promise<void> {
  const { id, src, dst, type, properties } = seen?.edges.columns ?? edgeColumns();
  const items = part.types?.map((name): Expr => ({ kind: "const", type: TEXT, value: name }));
  const equals = resolveOperator("=", TEXT, TEXT).fn;
  const filter: Expr | null =
    items === undefined
      ? null
      : items.length === 0
        ? anyOf([])
        : { kind: "in", type: BOOL, input: columnExpr(type), items, equals, negated: false };
  const { id: i, src: s, dst: d, type: t, properties: p } = EDGE_COLUMN;
  const rows =
    seen === null
      ? scan(edges, [id, src, dst, type, properties], [i, s, d, t, p], filter)
      : filtered(seen.edges.plan, filter === null ? [] : [filter]);
  const exprs: Expr[] = [columnExpr(id), columnExpr(src), columnExpr(dst)];
  if (part.weight !== null) {
    const args: Expr[] = [columnExpr(properties), { kind: "const", type: TEXT, value: part.weight }];
    exprs.push({ kind: "call", type: VARIANT, fn: cypherOperator("property"), args });
  }
  const columns = exprs.map((expr) => column("value", expr.type));
  const wanted = part.relationships;
  await eachBatch({ kind: "project", input: rows, exprs, columns }, context, (values, length) => {
    const [ids, from, to, weights] = values as [
      ArrayLike<Value>,
      ArrayLike<Value>,
      ArrayLike<Value>,
      ArrayLike<Value>?,
    ];
    for (let row = 0; row < length; row++) {
      if (wanted !== null && !wanted.has(ids[row] as number)) continue;
      const weight = weights === undefined ? null : weightOf(weights[row]!, part.weight!);
      found.add(from[row] as number, to[row] as number, weight);
    }
  });
}

function edgeColumns(): EdgeColumns {
  return {
    id: column("id", INT8),
    type: column("type", TEXT),
    src: column("src", INT8),
    dst: column("dst", INT8),
    properties: column("properties", VARIANT),
  };
}

/** One without the property weighs 1. */
function weightOf(value: Value, name: string): number {
  if (value === null) return 1;
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Float) return value.value;
  throw wrong(`the property "${name}" of a relationship is no number, so it cannot be its weight`);
}

async function eachBatch(
  plan: Plan,
  context: ExecContext,
  visit: (columns: readonly ArrayLike<Value>[], length: number) => void,
): Promise<void> {
  const operator = compilePlan(optimize(plan)).open(context);
  try {
    await drain(
      operator,
      ({ columns, length }) => visit(columns, length),
      () => undefined,
    );
  } finally {
    operator.close();
  }
}
