/** Converts queries and FROM items from the grammar's JSON to our syntax tree. Called through `Conversion.query`. */
import type {
  Alias,
  CTECycleClause,
  CTESearchClause,
  JoinExpr,
  LockingClause,
  Node,
  RangeFunction,
  RangeVar,
  SelectStmt,
  WithClause,
} from "@pgsql/types";
import type {
  AliasNode,
  ColumnSpec,
  CommonTableNode,
  CycleNode,
  ExprNode,
  FromJoin,
  FromNode,
  FromTable,
  GroupingElement,
  LockingNode,
  NameNode,
  QueryNode,
  SearchNode,
  SelectBody,
  SetOperationBody,
  TargetNode,
  ValuesBody,
  WithNode,
} from "./ast-query.js";
import { type Conversion, notSupported, only, strings, tagOf } from "./conversion.js";
import { GRAPH_TABLE_PREFIX } from "./dialect.js";
import { convertSort, convertType, convertWindow } from "./from-pg-expr.js";
import { withAlias } from "./graph-table.js";

export function convertQuery(node: SelectStmt, c: Conversion): QueryNode {
  if (node.intoClause !== undefined) throw notSupported("SELECT INTO here", 0);
  const body = queryBody(node, c);
  return {
    kind: "query",
    with: convertWith(node.withClause, c),
    body,
    orderBy: convertSort(node.sortClause, c),
    // LIMIT ALL and LIMIT NULL arrive as a NULL constant
    limit: c.optional(node.limitCount),
    offset: c.optional(node.limitOffset),
    withTies: node.limitOption === "LIMIT_OPTION_WITH_TIES",
    locking: (node.lockingClause ?? []).map((clause) => locking(only(clause, "LockingClause"), c)),
    position: bodyPosition(body),
  };
}

function queryBody(node: SelectStmt, c: Conversion): SelectBody | ValuesBody | SetOperationBody {
  if (node.op !== undefined && node.op !== "SETOP_NONE") {
    const op = node.op === "SETOP_UNION" ? "union" : node.op === "SETOP_INTERSECT" ? "intersect" : "except";
    const left = c.query(node.larg!);
    return { kind: "set operation", op, all: node.all ?? false, left, right: c.query(node.rarg!) };
  }
  if (node.valuesLists !== undefined) {
    return { kind: "values", rows: node.valuesLists.map((row) => c.exprs(only(row, "List").items)) };
  }
  return {
    kind: "select",
    distinct: distinct(node.distinctClause, c),
    targets: convertTargets(node.targetList, c),
    from: convertFrom(node.fromClause, c),
    where: c.optional(node.whereClause),
    groupBy: grouping(node.groupClause, c),
    groupDistinct: node.groupDistinct ?? false,
    having: c.optional(node.havingClause),
    windows: (node.windowClause ?? []).map((window) => convertWindow(only(window, "WindowDef"), c)),
  };
}

/** The grammar gives a query no position: its first item stands in. */
function bodyPosition(body: SelectBody | ValuesBody | SetOperationBody): number {
  if (body.kind === "set operation") return body.left.position;
  if (body.kind === "values") return body.rows[0]?.[0]?.position ?? 0;
  return body.targets[0]?.position ?? 0;
}

/** Plain DISTINCT is a list of one empty node. */
function distinct(nodes: readonly Node[] | undefined, c: Conversion): SelectBody["distinct"] {
  if (nodes === undefined) return "all";
  const on = nodes.filter((node) => Object.keys(node).length > 0);
  return on.length === 0 ? "distinct" : { on: c.exprs(on) };
}

export function convertTargets(nodes: readonly Node[] | undefined, c: Conversion): TargetNode[] {
  return (nodes ?? []).map((node) => {
    const target = only(node, "ResTarget");
    return { expr: c.expr(target.val!), name: target.name ?? null, position: c.position(target.location) };
  });
}

function grouping(nodes: readonly Node[] | undefined, c: Conversion): GroupingElement[] {
  return (nodes ?? []).map((node) => {
    if (tagOf(node) !== "GroupingSet") return { kind: "expr", expr: c.expr(node) };
    const set = only(node, "GroupingSet");
    if (set.kind === "GROUPING_SET_EMPTY") return { kind: "empty" };
    const kind =
      set.kind === "GROUPING_SET_ROLLUP" ? "rollup" : set.kind === "GROUPING_SET_CUBE" ? "cube" : ("sets" as const);
    const items = c.nested(() => grouping(set.content, c));
    return { kind, items, position: c.position(set.location) };
  });
}

function locking(node: LockingClause, c: Conversion): LockingNode {
  const strengths = {
    LCS_FORUPDATE: "update",
    LCS_FORNOKEYUPDATE: "no key update",
    LCS_FORSHARE: "share",
    LCS_FORKEYSHARE: "key share",
    LCS_NONE: "share",
  } as const;
  const wait = node.waitPolicy === "LockWaitSkip" ? "skip" : node.waitPolicy === "LockWaitError" ? "error" : "block";
  const relations = (node.lockedRels ?? []).map((relation) => relationName(only(relation, "RangeVar"), c));
  return { strength: strengths[node.strength ?? "LCS_NONE"], relations, wait };
}

export function convertWith(node: WithClause | undefined, c: Conversion): WithNode | null {
  if (node === undefined) return null;
  const tables = (node.ctes ?? []).map((cte): CommonTableNode => {
    const table = only(cte, "CommonTableExpr");
    const position = c.position(table.location);
    const { search_clause: search, cycle_clause: cycle } = table;
    const query = table.ctequery!;
    return {
      name: table.ctename ?? "",
      columns: strings(table.aliascolnames),
      materialized:
        table.ctematerialized === "CTEMaterializeAlways"
          ? true
          : table.ctematerialized === "CTEMaterializeNever"
            ? false
            : null,
      statement: tagOf(query) === "SelectStmt" ? c.query(only(query, "SelectStmt")) : c.dataStatement(query),
      ...(search !== undefined && { search: convertSearch(search, c) }),
      ...(cycle !== undefined && { cycle: convertCycle(cycle, c) }),
      position,
    };
  });
  return { recursive: node.recursive ?? false, tables, position: c.position(node.location) };
}

function convertSearch(node: CTESearchClause, c: Conversion): SearchNode {
  return {
    depthFirst: !node.search_breadth_first,
    columns: strings(node.search_col_list),
    sequence: node.search_seq_column ?? "",
    position: c.position(node.location),
  };
}

function convertCycle(node: CTECycleClause, c: Conversion): CycleNode {
  const truth = (value: boolean) => ({ kind: "boolean", value, position: 0 }) as const;
  return {
    columns: strings(node.cycle_col_list),
    mark: node.cycle_mark_column ?? "",
    value: node.cycle_mark_value === undefined ? truth(true) : c.expr(node.cycle_mark_value),
    otherwise: node.cycle_mark_default === undefined ? truth(false) : c.expr(node.cycle_mark_default),
    path: node.cycle_path_column ?? "",
    position: c.position(node.location),
  };
}

// ---- FROM ----

export function convertFrom(nodes: readonly Node[] | undefined, c: Conversion): FromNode[] {
  return (nodes ?? []).map((node) => convertFromItem(node, c));
}

export function convertFromItem(node: Node, c: Conversion): FromNode {
  return c.nested(() => {
    const tag = tagOf(node);
    switch (tag) {
      case "RangeVar":
        return fromTable(only(node, "RangeVar"), c);
      case "RangeSubselect": {
        const item = only(node, "RangeSubselect");
        const query = c.subquery(item.subquery);
        const lateral = item.lateral ?? false;
        return { kind: "from subquery", query, alias: convertAlias(item.alias), lateral, position: query.position };
      }
      case "RangeFunction":
        return fromFunction(only(node, "RangeFunction"), c);
      case "JoinExpr":
        return join(only(node, "JoinExpr"), c);
      case "RangeTableSample": {
        const item = only(node, "RangeTableSample");
        const position = c.position(item.location);
        const sample = {
          method: strings(item.method).at(-1) ?? "",
          args: c.exprs(item.args),
          seed: c.optional(item.repeatable),
          position,
        };
        return { ...fromTable(only(item.relation, "RangeVar"), c), sample };
      }
      default: {
        const name = tag === "RangeTableFunc" ? "XMLTABLE" : tag === "JsonTable" ? "JSON_TABLE" : tag;
        throw notSupported(name, c.position((only(node, tag) as { location?: number }).location ?? -1));
      }
    }
  });
}

function fromTable(node: RangeVar, c: Conversion): FromTable {
  const name = relationName(node, c);
  return { kind: "table", name, alias: convertAlias(node.alias), sample: null, position: name.position };
}

export function relationName(node: RangeVar, c: Conversion): NameNode {
  const path = [node.catalogname, node.schemaname, node.relname].filter((part) => part !== undefined && part !== "");
  return { path: path as string[], ...(!node.inh && { only: true }), position: c.position(node.location) };
}

export function convertAlias(alias: Alias | undefined): AliasNode | null {
  return alias === undefined ? null : { name: alias.aliasname ?? "", columns: strings(alias.colnames) };
}

function fromFunction(node: RangeFunction, c: Conversion): FromNode {
  const functions = (node.functions ?? []).map((item) => {
    const [call, columns] = only(item, "List").items ?? [];
    const list = columns !== undefined && "List" in columns ? only(columns, "List").items : undefined;
    return { call: c.expr(call!), columns: columnSpecs(list, c) };
  });
  const graphTable = graphTableOf(functions[0]?.call);
  if (graphTable !== null) return withAlias(c.graphTable(graphTable), convertAlias(node.alias));
  return {
    kind: "from function",
    functions,
    ordinality: node.ordinality ?? false,
    lateral: node.lateral ?? false,
    alias: convertAlias(node.alias),
    columns: columnSpecs(node.coldeflist, c),
    position: functions[0]?.call.position ?? 0,
  };
}

/** The number of a placeholder for GRAPH_TABLE; null: another function. */
function graphTableOf(call: ExprNode | undefined): number | null {
  const name = call?.kind === "call" ? call.path[0]! : "";
  return name.startsWith(GRAPH_TABLE_PREFIX) ? Number(name.slice(GRAPH_TABLE_PREFIX.length)) : null;
}

function columnSpecs(nodes: readonly Node[] | undefined, c: Conversion): ColumnSpec[] {
  return (nodes ?? []).map((node) => {
    const column = only(node, "ColumnDef");
    return { name: column.colname ?? "", type: convertType(column.typeName!, c) };
  });
}

function join(node: JoinExpr, c: Conversion): FromJoin {
  const left = convertFromItem(node.larg!, c);
  const right = convertFromItem(node.rarg!, c);
  const using = node.usingClause === undefined ? null : strings(node.usingClause);
  const natural = node.isNatural ?? false;
  const condition = c.optional(node.quals);
  const types = { JOIN_LEFT: "left", JOIN_RIGHT: "right", JOIN_FULL: "full" } as const;
  const outer = types[node.jointype as keyof typeof types];
  return {
    kind: "join",
    type: outer ?? (using === null && !natural && condition === null ? "cross" : "inner"),
    left,
    right,
    natural,
    using,
    usingAlias: convertAlias(node.join_using_alias),
    condition,
    alias: convertAlias(node.alias),
    position: right.position,
  };
}
