/** A graph in a shard in memory, and plans that write it, by hand. */
import type { Test } from "tap";
import { Catalog } from "../../src/catalog/catalog.js";
import { applyDdl } from "../../src/catalog/ddl.js";
import { EDGE_COLUMN, type GraphTables, graphOf, NODE_COLUMN } from "../../src/catalog/graph.js";
import type { GraphCommand } from "../../src/catalog/graph-command.js";
import { createGraph } from "../../src/catalog/graph-ddl.js";
import type { TableDef } from "../../src/catalog/table.js";
import { bindCypher } from "../../src/cypher/bind/bind-cypher.js";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { compilePlan } from "../../src/query/exec/compile-plan.js";
import type { ExecContext } from "../../src/query/exec/context.js";
import { createContext, SUBQUERIES_ONLY } from "../../src/query/exec/create-context.js";
import { readGraphNode } from "../../src/query/exec/graph-node.js";
import { createRowNumbers } from "../../src/query/exec/row-numbers.js";
import { type ResultRows, runToCompletion } from "../../src/query/exec/run.js";
import type { Expr } from "../../src/query/expr/expr.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import type { EdgeColumns, GraphWriteStep, NodeColumns } from "../../src/query/plan/graph-plans.js";
import { columnsMadeBy } from "../../src/query/plan/graph-steps.js";
import type { OutputColumn, Plan } from "../../src/query/plan/plan.js";
import { bindTable } from "../../src/sql/bind/bind-table.js";
import type { Shard } from "../../src/storage/shard.js";
import type { Transaction } from "../../src/storage/store.js";
import { decodeLabels } from "../../src/values/labels.js";
import { INT8, TEXT, VARIANT, type Value } from "../../src/values/values.js";
import { GraphNode, GraphRelationship, type Variant, type VariantMap } from "../../src/values/variant.js";
import { openShard } from "../storage/shards.js";
import { newColumn } from "./plan-builder.js";

export const value = (of: unknown): Expr => ({ kind: "const", type: VARIANT, value: of as Value });
export const column = ({ id, name, type }: OutputColumn): Expr => ({ kind: "column", id, name, type });
export const map = (entries: Record<string, Variant>): VariantMap => new Map(Object.entries(entries));
export const node = (id: number): Expr => value(new GraphNode(id, [], new Map()));
export const relationship = (id: number): Expr => value(new GraphRelationship(id, "", 0, 0, new Map()));

export const nodeColumns = (): NodeColumns => ({
  id: newColumn("id", INT8),
  labels: newColumn("labels", TEXT),
  properties: newColumn("properties", VARIANT),
});

export const edgeColumns = (): EdgeColumns => ({
  id: newColumn("id", INT8),
  type: newColumn("type", TEXT),
  src: newColumn("src", INT8),
  dst: newColumn("dst", INT8),
  properties: newColumn("properties", VARIANT),
});

/** As many rows as values, of one column each. */
export const rowsOf = (columns: readonly OutputColumn[], rows: readonly (readonly unknown[])[]): Plan => ({
  kind: "values",
  columns,
  rows: rows.map((row) =>
    row.map((each, i): Expr => ({ kind: "const", type: columns[i]!.type, value: each as Value })),
  ),
});

export const ONE_ROW: Plan = { kind: "values", columns: [], rows: [[]] };

export class GraphDatabase {
  graph: GraphTables;
  private readonly ids = new Map<string, number>();

  constructor(
    readonly shard: Shard,
    readonly catalog: Catalog,
  ) {
    const tx = shard.begin();
    this.graph = catalog.change(tx, (editor) => createGraph(editor, "default", 1));
    catalog.settle(tx, tx.commit());
  }

  static async open(t: Test): Promise<GraphDatabase> {
    return new GraphDatabase(await openShard(t), new Catalog(1));
  }

  /** Makes an index or a constraint of the empty graph. */
  define(command: GraphCommand): void {
    this.commit((tx) => {
      applyDdl(this.catalog, tx, command, 2);
      this.graph = this.graphIn(tx);
    });
  }

  /** The graph as it is defined for the transaction. */
  graphIn(tx: Transaction): GraphTables {
    return graphOf(this.catalog.view(tx), "default")!;
  }

  context(tx: Transaction, params: readonly Value[] = []): ExecContext {
    const { ids } = this;
    return createContext({
      tx,
      tenantNumber: 1,
      tenant: "test",
      user: "test",
      params,
      rowNumbers: createRowNumbers(() => this.shard.begin({ readOnly: true })),
      transactionMicros: 0,
      statementMicros: 0,
      timeZone: "UTC",
      memoryBytesMax: 256 * 1024 * 1024,
      checkpoint() {},
      shouldYield: () => false,
      yieldTurn: async () => {},
      bindTable: (table) => bindTable(table, this.catalog.view(tx), ["public"]),
      services: {
        ...SUBQUERIES_ONLY,
        graphNode: (id) => readGraphNode(tx, 1, this.graph, id),
        nextRowId({ name }: TableDef) {
          const id = (ids.get(name) ?? 0) + 1;
          ids.set(name, id);
          return id;
        },
      },
    });
  }

  plan(
    steps: readonly GraphWriteStep[],
    input: Plan = ONE_ROW,
    nodes: NodeColumns[] = [],
    edges: EdgeColumns[] = [],
  ): Plan {
    const made = steps.filter(({ kind }) => kind !== "foreach");
    const columns = [...input.columns, ...columnsMadeBy(made)];
    return { kind: "graphwrite", graph: this.graph, input, steps, nodes, edges, columns };
  }

  run(tx: Transaction, plan: Plan, context: ExecContext = this.context(tx)): ResultRows {
    const result = runToCompletion(compilePlan(plan), context, { maxRows: Number.POSITIVE_INFINITY });
    if (result instanceof Promise) throw new Error("the plan waited although its turn was not over");
    return result;
  }

  /** Runs a statement of Cypher; parameters by name. */
  cypher(tx: Transaction, text: string, params: Record<string, unknown> = {}): ResultRows {
    const { plan, parameterNames } = this.planned(tx, text);
    return this.run(
      tx,
      plan,
      this.context(
        tx,
        parameterNames.map((name) => params[name] as Value),
      ),
    );
  }

  planned(tx: Transaction, text: string) {
    const bound = bindCypher(parseCypher(text), text, { graph: this.graphIn(tx) });
    if (bound.kind !== "query") throw new Error(`${text} is no query`);
    return { ...bound, plan: optimize(bound.plan) };
  }

  /** Runs steps over one row; answers it. */
  write(tx: Transaction, ...steps: GraphWriteStep[]): readonly Value[] {
    return this.run(tx, this.plan(steps)).rows[0]!;
  }

  commit<T>(work: (tx: Transaction) => T): T {
    const tx = this.shard.begin();
    try {
      const result = work(tx);
      this.catalog.settle(tx, tx.commit());
      return result;
    } catch (error) {
      tx.rollback();
      this.catalog.settle(tx, null);
      throw error;
    }
  }

  read<T>(work: (tx: Transaction) => T): T {
    const tx = this.shard.begin({ readOnly: true });
    try {
      return work(tx);
    } finally {
      tx.rollback();
    }
  }

  /** All rows, by the tables themselves or by one of their indexes. */
  rows(tx: Transaction, of: "nodes" | "edges", index: string | null = null): readonly (readonly Value[])[] {
    const table = this.graph[of];
    const found = index === null ? "primary key" : table.indexes.find(({ name }) => name === index)!;
    const columns = table.columns.map(({ name, type }) => newColumn(name, type));
    const source = table.columns.map(({ id }) => id);
    const common = { table, alias: of, columns, source, filter: null, rowKey: null, reverse: false };
    const scan: Plan = {
      kind: "indexscan",
      ...common,
      index: found,
      prefix: [],
      keySets: null,
      lower: null,
      upper: null,
    };
    return this.run(tx, scan).rows.toSorted((a, b) => Number(a[0]) - Number(b[0]));
  }

  /** What the graph is, as text: `1:A:B {x: 1}`, `1-[2:T {}]->3`. */
  picture(tx: Transaction): string[] {
    const text = (properties: Value) =>
      `{${[...(properties as VariantMap)]
        .map(([key, item]) => `${key}: ${JSON.stringify(item)}`)
        .sort()
        .join(", ")}}`;
    const place = (id: number) => id - 1;
    return [
      ...this.rows(tx, "nodes").map((row) => {
        const labels = decodeLabels(row[place(NODE_COLUMN.labels)] as string).map((label) => `:${label}`);
        return `${row[0]}${labels.join("")} ${text(row[place(NODE_COLUMN.properties)]!)}`;
      }),
      ...this.rows(tx, "edges").map((row) => {
        const [src, dst] = [row[place(EDGE_COLUMN.src)], row[place(EDGE_COLUMN.dst)]];
        return `${src}-[${row[0]}:${row[place(EDGE_COLUMN.type)]} ${text(row[place(EDGE_COLUMN.properties)]!)}]->${dst}`;
      }),
    ];
  }
}
