/** CREATE [OR REPLACE] VIEW and DROP [MATERIALIZED] VIEW; finds what a stored query depends on. */
import type { CatalogView } from "../../catalog/catalog-view.js";
import type { DdlCommand, RelationName } from "../../catalog/ddl-command.js";
import { ViewMakersRights } from "../../catalog/rights.js";
import type { TableDef } from "../../catalog/table.js";
import type { PropertyGraphDef, ViewColumn, ViewDef, ViewQuery, ViewRelation } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import { displayName } from "../../query/expr/types.js";
import { columnsOf } from "../../query/expr/walk.js";
import type { Plan } from "../../query/plan/plan.js";
import { exprsOfPlan, modifiesData, subqueriesOf, walkPlan } from "../../query/plan/walk.js";
import type { CreateViewStatement, DropStatement } from "../parse/ast-definitions.js";
import type { QueryNode } from "../parse/ast-query.js";
import { type Binding, PLAIN_QUERY } from "./binding.js";
import type { BindEnvironment, BoundDdl } from "./bound-statement.js";
import { updatableColumns } from "./changed-relation.js";
import { newName } from "./names.js";
import { checkedRights, refuseDenied } from "./relation-rights.js";
import { relationOf } from "./scope.js";
import { viewOptions } from "./view-options.js";

export function bindCreateView(node: CreateViewStatement, binding: Binding): BoundDdl {
  const { position } = node;
  const { checkOption = node.checkOption } = viewOptions(node.options);
  const { schema, name } = newName(node.name, binding.env, node.persistence);
  const {
    query,
    columns,
    plan: stored,
  } = binding.within(makersEnvironment(binding.env), () => bindStoredQuery(node, "VIEW", binding));
  const draft = { id: 0, schema, name, columns, query, checkOption, createdAt: 0 };
  const updatable = updatableColumns(draft, binding);
  if (checkOption !== null && updatable === null) {
    throw sqlError("0A000", "WITH CHECK OPTION is supported only on automatically updatable views", { position });
  }
  const before = binding.env.catalog.view(schema, name);
  if (before !== null && node.replace) checkReplacement(before, columns);
  const { replace } = node;
  const command = { kind: "create view", schema, name, replace, columns, query, checkOption, updatable } as const;
  return { kind: "ddl", command, stored };
}

function makersEnvironment(env: BindEnvironment): BindEnvironment {
  const rights = checkedRights(env);
  return rights === null ? env : { ...env, rights: new ViewMakersRights(rights.catalog, rights.acting) };
}

interface StoredQueryNode {
  readonly query: QueryNode;
  readonly columns: readonly string[];
  readonly text: string;
  readonly position: number;
}

export interface StoredQuery {
  readonly query: ViewQuery;
  readonly columns: readonly ViewColumn[];
  readonly plan: Plan;
}

/** The query of a CREATE statement with its column names and what it depends on. `what`: "VIEW", for messages. */
export function bindStoredQuery(node: StoredQueryNode, what: string, binding: Binding): StoredQuery {
  const { position, text } = node;
  if (text === "")
    throw sqlError("0A000", `a ${what.toLowerCase()} in CREATE SCHEMA is not supported yet`, { position });
  const relations = new RelationRecorder(binding.env.catalog);
  const env = { ...binding.env, catalog: relations.catalog };
  const source = binding.within(env, () => binding.query(node.query, null, PLAIN_QUERY));
  const plan: Plan = Object.freeze({ ...binding.commonTables.place(source.plan), columns: source.columns });
  refuseDenied(plan, binding);
  if (binding.parameterTypes().length > 0) throw sqlError("42P02", "there is no parameter $1", { position });
  if (modifiesData(plan)) {
    throw sqlError("0A000", "views must not contain data-modifying statements in WITH", { position });
  }
  const columns = namedColumns(node.columns, source.columns, what, position);
  const { searchPath } = binding.env;
  const functions = relations.functions();
  const query = { sql: text, searchPath, relations: relations.list(plan), ...(functions.length > 0 && { functions }) };
  return { query, columns, plan };
}

/** Output columns under the names that a CREATE statement lists. Throws 42601, 42701. */
export function namedColumns(
  names: readonly string[],
  outputs: readonly ViewColumn[],
  what: string,
  position: number,
): readonly ViewColumn[] {
  if (names.length > outputs.length) {
    const message =
      what === "VIEW" ? "CREATE VIEW specifies more column names than columns" : "too many column names were specified";
    throw sqlError("42601", message, { position });
  }
  const columns = outputs.map(({ name, type }, i) => ({ name: names[i] ?? name, type }));
  columns.forEach(({ name }, i) => {
    if (columns.findIndex((other) => other.name === name) < i) {
      throw sqlError("42701", `column "${name}" specified more than once`, { position });
    }
  });
  return columns;
}

/** CREATE OR REPLACE may only add columns at the end. Throws 42P16. */
function checkReplacement(before: ViewDef, columns: readonly ViewColumn[]): void {
  if (columns.length < before.columns.length) throw sqlError("42P16", "cannot drop columns from view");
  before.columns.forEach(({ name, type }, i) => {
    const next = columns[i]!;
    if (next.name !== name) {
      throw sqlError("42P16", `cannot change name of view column "${name}" to "${next.name}"`, {
        hint: "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.",
      });
    }
    if (displayName(next.type) !== displayName(type)) {
      const message = `cannot change data type of view column "${name}" from ${displayName(type)} to ${displayName(next.type)}`;
      throw sqlError("42P16", message);
    }
  });
}

/** A catalog that remembers which relations were asked for. */
export class RelationRecorder {
  readonly catalog: CatalogView;
  private readonly tables = new Map<number, TableDef>();
  private readonly views = new Map<number, ViewDef>();
  private readonly graphs = new Map<number, PropertyGraphDef>();
  private readonly called = new Set<number>();

  constructor(behind: CatalogView) {
    const own: Pick<CatalogView, "table" | "view" | "propertyGraph" | "functionsNamed"> = {
      propertyGraph: (schema, name) => {
        const graph = behind.propertyGraph(schema, name);
        if (graph !== null) this.graphs.set(graph.id, graph);
        return graph;
      },
      functionsNamed: (schema, name) => {
        const named = behind.functionsNamed(schema, name);
        for (const { id } of named) this.called.add(id);
        return named;
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

  /** Ids of functions by the names that were called. */
  functions(): readonly number[] {
    return [...this.called];
  }

  /** Without knowing which columns are used. */
  listAll(): ViewRelation[] {
    return this.listed(new Map());
  }

  list(plan: Plan): ViewRelation[] {
    return this.listed(usedColumns(plan));
  }

  private listed(used: ReturnType<typeof usedColumns>): ViewRelation[] {
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

/** Per table id, the ids of columns that some expression reads. */
function usedColumns(plan: Plan): ReadonlyMap<number, ReadonlySet<number>> {
  const read = new Set<number>();
  const scans: Extract<Plan, { kind: "scan" }>[] = [];
  const appends: Extract<Plan, { kind: "append" }>[] = [];
  const visit = (part: Plan): void => {
    walkPlan(part, (node) => {
      if (node.kind === "scan") scans.push(node);
      if (node.kind === "append") appends.push(node);
      for (const expr of exprsOfPlan(node)) for (const id of columnsOf(expr)) read.add(id);
      for (const subquery of subqueriesOf(node)) visit(subquery.plan);
    });
  };
  visit(plan);
  for (const { columns, inputs } of appends) {
    for (const [i, column] of columns.entries()) {
      if (read.has(column.id)) for (const input of inputs) if (i < input.columns.length) read.add(input.columns[i]!.id);
    }
  }
  const used = new Map<number, Set<number>>();
  for (const scan of scans) {
    const of = used.get(scan.table.id) ?? new Set();
    scan.columns.forEach((column, i) => {
      if (read.has(column.id)) of.add(scan.source[i]!);
    });
    used.set(scan.table.id, of);
  }
  return used;
}

export function bindDropViews(node: DropStatement, binding: Binding): DdlCommand {
  const { catalog, searchPath } = binding.env;
  const views = node.names.map((given): RelationName => {
    const { schema, name } = relationOf(given);
    const found = searchPath.find((path) => catalog.view(path, name) !== null || catalog.table(path, name) !== null);
    return { schema: schema ?? found ?? searchPath[0]!, name, position: given.position };
  });
  const { ifExists, cascade } = node;
  return { kind: "drop views", views, materialized: node.object === "materialized view", ifExists, cascade };
}
