/** Finds which relations a text names that a definition keeps, and which of their columns it cannot do without. */
import type { CatalogView } from "../../catalog/catalog-view.js";
import type { ViewRelation } from "../../catalog/kept-query.js";
import type { TableDef } from "../../catalog/table.js";
import type { PropertyGraphDef, ViewDef } from "../../catalog/view.js";
import type { Expr } from "../../query/expr/expr.js";
import { columnsOf } from "../../query/expr/walk.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { exprsOfPlan, subqueriesOf, walkPlan } from "../../query/plan/walk.js";
import type { Noted } from "./bound-statement.js";

/** A catalog that remembers which relations were asked for. */
export class RelationRecorder {
  readonly catalog: CatalogView;
  private readonly tables = new Map<number, TableDef>();
  private readonly views = new Map<number, ViewDef>();
  private readonly graphs = new Map<number, PropertyGraphDef>();

  constructor(behind: CatalogView) {
    const own: Pick<CatalogView, "table" | "view" | "propertyGraph"> = {
      propertyGraph: (schema, name) => {
        const graph = behind.propertyGraph(schema, name);
        if (graph !== null) this.graphs.set(graph.id, graph);
        return graph;
      },
      table: (schema, name) => {
        const table = behind.table(schema, name);
        if (table !== null) this.tables.set(table.id, table);
        return table;
      },
      view: (schema, name) => {
        const view = behind.view(schema, name);
        if (view !== null) this.views.set(view.id, view);
        return view;
      },
    };
    this.catalog = Object.assign(Object.create(behind) as CatalogView, own);
  }

  list(plans: readonly Plan[], changed: Noted["changed"] = new Map()): ViewRelation[] {
    const used = usedColumns(plans, changed);
    const tables = [...this.tables.values()].map(({ id, schema, name, columns }): ViewRelation => {
      const of = used.get(id);
      return {
        kind: "table",
        id,
        schema,
        name,
        columns: columns.map((column) => ({ id: column.id, name: column.name, used: of?.has(column.id) ?? false })),
      };
    });
    const views = [...this.views.values()].map(({ id, schema, name, columns }): ViewRelation => {
      return {
        kind: "view",
        id,
        schema,
        name,
        columns: columns.map((column, i) => ({ id: i, name: column.name, used: true })),
      };
    });
    const graphs = [...this.graphs.values()].map(({ id, schema, name }): ViewRelation => {
      return { kind: "graph", id, schema, name, columns: [] };
    });
    return [...tables, ...views, ...graphs];
  }
}

/** Per table id, the ids of columns that some expression reads, or that are given values. */
function usedColumns(
  plans: readonly Plan[],
  changed: ReadonlyMap<number, ReadonlySet<number>>,
): ReadonlyMap<number, ReadonlySet<number>> {
  const read = new Set<number>();
  const rows: TableRow[] = [];
  const appends: Extract<Plan, { kind: "append" }>[] = [];
  const visit = (part: Plan): void => {
    // What an UPDATE only hands on is not read.
    const passing = new Set<Plan>();
    walkPlan(part, (node) => {
      if (node.kind === "scan") rows.push({ tableId: node.table.id, columns: node.columns, ids: node.source });
      if (node.kind === "append") appends.push(node);
      const isChange = isChanging(node);
      if (isChange) {
        rows.push(...changedRows(node));
        if (node.kind !== "insert" && node.input.kind === "project") passing.add(node.input);
      }
      const exprs = isChange ? changingExprs(node) : passing.has(node) ? [] : exprsOfPlan(node);
      for (const expr of exprs) for (const id of columnsOf(expr)) read.add(id);
      for (const subquery of subqueriesOf(node)) visit(subquery.plan);
    });
  };
  for (const plan of plans) visit(plan);
  for (const { columns, inputs } of appends) {
    for (const [i, column] of columns.entries()) {
      if (read.has(column.id)) for (const input of inputs) if (i < input.columns.length) read.add(input.columns[i]!.id);
    }
  }
  const used = new Map([...changed].map(([tableId, ids]) => [tableId, new Set(ids)]));
  for (const { tableId, columns, ids } of rows) {
    const of = used.get(tableId) ?? new Set();
    columns.forEach((column, i) => {
      if (read.has(column.id)) of.add(ids[i]!);
    });
    used.set(tableId, of);
  }
  return used;
}

/** Columns of a plan that are columns of a table, by whose ids. */
interface TableRow {
  readonly tableId: number;
  readonly columns: readonly OutputColumn[];
  readonly ids: readonly number[];
}

type Changing = Extract<Plan, { kind: "insert" | "update" | "delete" | "merge" }>;

function isChanging(plan: Plan): plan is Changing {
  return plan.kind === "insert" || plan.kind === "update" || plan.kind === "delete" || plan.kind === "merge";
}

function changedRows(plan: Changing): TableRow[] {
  const { table } = plan;
  const ids = table.columns.map(({ id }) => id);
  const { onConflict = null } = plan as Partial<Extract<Plan, { kind: "insert" }>>;
  const rows = [
    ...(plan.kind === "delete" ? [plan.oldColumns] : [plan.rowColumns]),
    ...(onConflict === null ? [] : [onConflict.existing, onConflict.excluded]),
  ];
  return rows.map((columns) => ({ tableId: table.id, columns, ids }));
}

/** What the statement itself says; checks of the table are the table's. */
function changingExprs(plan: Changing): Expr[] {
  const { returning } = plan;
  const own = [...(returning?.exprs ?? [])];
  if (plan.kind === "update") own.push(...plan.assignments.map(({ expr }) => expr));
  if (plan.kind === "merge") {
    for (const { condition, action, assignments } of plan.actions) {
      if (condition !== null) own.push(condition);
      if (action === "update") own.push(...assignments.map(({ expr }) => expr));
    }
  }
  if (plan.kind === "insert" && plan.onConflict !== null) {
    const { where, assignments } = plan.onConflict;
    own.push(...assignments.map(({ expr }) => expr), ...(where === null ? [] : [where]));
  }
  return own;
}
