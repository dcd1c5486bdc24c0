/**
 * GRAPH_TABLE as a query over the graph's tables: each vertex and edge of the pattern is a subquery over one table,
 * edges meet vertices by their keys, and where several tables fit, every way to choose them is a part of a UNION ALL.
 * Called by bind-from.ts, which binds the result like any other query.
 */
import type { EdgeEnd, EdgeTable, ElementProperty, ElementTable } from "../../catalog/property-graph.js";
import type { PropertyGraphDef } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import type {
  ExprNode,
  FromSubquery,
  GraphElementNode,
  GraphLabelNode,
  GraphTableNode,
  NameNode,
  QueryNode,
  TargetNode,
} from "../parse/ast-query.js";
import { parseExpression } from "../parse/parse.js";
import { plainQuery, plainSelect } from "../parse/plain-query.js";
import type { BindEnvironment } from "./bound-statement.js";
import { columnNode, elementQuery, keyName } from "./graph-element-query.js";
import { firstFound } from "./names.js";
import { relationOf } from "./scope.js";

/** Ways to choose tables for one pattern. */
const CHOICES_MAX = 256;

/** A vertex or an edge of the pattern; the same variable is the same one. */
interface Element {
  readonly kind: "vertex" | "edge";
  /** The variable, or a name that no client can have. */
  readonly alias: string;
  readonly candidates: readonly ElementTable[];
  /** By name, those of all candidates. */
  readonly properties: ReadonlyMap<string, ElementProperty>;
}

/** An edge of the pattern between two vertices, all by their numbers. */
interface Connection {
  readonly edge: number;
  readonly left: number;
  readonly right: number;
  readonly direction: GraphElementNode["direction"];
}

/** A table for each element, and for each connection whether the edge leaves its left vertex. */
interface Choice {
  readonly tables: readonly ElementTable[];
  readonly forward: readonly boolean[];
}

interface Pattern {
  readonly elements: readonly Element[];
  readonly connections: readonly Connection[];
  /** WHERE of the elements. */
  readonly conditions: readonly ExprNode[];
}

export function graphTableQuery(node: GraphTableNode, env: BindEnvironment): QueryNode {
  const graph = propertyGraphOf(node.graph, env);
  const pattern = readPattern(node, graph);
  const found = choices(pattern);
  if (found.length > CHOICES_MAX) {
    const hint = "Use labels in the pattern to choose the tables.";
    throw sqlError("54000", "the pattern fits too many combinations of tables", { position: node.position, hint });
  }
  const columns = node.columns.flatMap((target) => expanded(target, pattern));
  const parts = found.map((choice) => partQuery(choice, pattern, columns, node, graph, env));
  if (parts.length === 0) {
    // No edge table joins the wanted vertices: no rows, but their columns.
    const tables = pattern.elements.map(({ kind, candidates }) => candidates[0] ?? anyTable(graph, kind, node));
    parts.push(partQuery({ tables, forward: [] }, pattern, columns, node, graph, env));
  }
  return parts.reduce((left, right): QueryNode => {
    return plainQuery({ kind: "set operation", op: "union", all: true, left, right });
  });
}

/** Throws 42P01, 42809. */
export function propertyGraphOf(name: NameNode, env: BindEnvironment): PropertyGraphDef {
  const relation = relationOf(name);
  const graph = firstFound(relation, env, (schema, graphName) => env.catalog.propertyGraph(schema, graphName));
  if (graph !== null) return graph;
  const { position } = name;
  const spelled = name.path.join(".");
  const other = firstFound(
    relation,
    env,
    (schema, relationName) => env.catalog.table(schema, relationName) ?? env.catalog.view(schema, relationName),
  );
  if (other !== null) throw sqlError("42809", `"${spelled}" is not a property graph`, { position });
  throw sqlError("42P01", `property graph "${spelled}" does not exist`, { position });
}

function readPattern({ paths, where }: GraphTableNode, def: PropertyGraphDef): Pattern {
  const written: GraphElementNode[][] = [];
  const numbers = new Map<string, number>();
  const numberOf = (node: GraphElementNode): number => {
    const known = node.variable === null ? undefined : numbers.get(node.variable);
    if (known === undefined) {
      if (node.variable !== null) numbers.set(node.variable, written.length);
      return written.push([node]) - 1;
    }
    if (written[known]![0]!.kind !== node.kind) {
      const message = `"${node.variable}" cannot be a vertex and an edge`;
      throw sqlError("42712", message, { position: node.position });
    }
    written[known]!.push(node);
    return known;
  };
  const connections: Connection[] = [];
  for (const path of paths) {
    const at = path.map(numberOf);
    for (let i = 1; i < path.length; i += 2) {
      connections.push({ edge: at[i]!, left: at[i - 1]!, right: at[i + 1]!, direction: path[i]!.direction });
    }
  }
  const conditions = written.flat().flatMap((node) => (node.where === null ? [] : [node.where]));
  const elements = written.map((nodes, i) => elementOf(nodes, i, def));
  return { elements, connections, conditions: where === null ? conditions : [...conditions, where] };
}

function elementOf(nodes: readonly GraphElementNode[], number: number, def: PropertyGraphDef): Element {
  const { kind, variable } = nodes[0]!;
  const tables: readonly ElementTable[] = kind === "vertex" ? def.graph.vertices : def.graph.edges;
  const labels = nodes.flatMap((node) => (node.labels === null ? [] : [node.labels]));
  for (const label of labels) checkLabels(label, tables, def.name);
  const candidates = tables.filter((table) => labels.every((label) => hasLabels(table, label)));
  const properties = new Map<string, ElementProperty>();
  // Of labels that no table has together there are no rows, but columns.
  for (const table of candidates.length > 0 ? candidates : tables) {
    for (const property of propertiesOf(table)) {
      if (!properties.has(property.name)) properties.set(property.name, property);
    }
  }
  return { kind, alias: variable ?? `\u0001element ${number}`, candidates, properties };
}

const isMadeUp = (alias: string): boolean => alias.startsWith("\u0001");

const propertiesOf = ({ labels }: ElementTable): ElementProperty[] => labels.flatMap(({ properties }) => properties);

/** Throws 42704 for a label that no table of the kind has. */
function checkLabels(label: GraphLabelNode, tables: readonly ElementTable[], graph: string): void {
  if (label.kind === "not") checkLabels(label.operand, tables, graph);
  if (label.kind === "and" || label.kind === "or") for (const each of label.operands) checkLabels(each, tables, graph);
  if (label.kind !== "label" || tables.some(({ labels }) => labels.some(({ name }) => name === label.name))) return;
  const message = `label "${label.name}" does not exist in property graph "${graph}"`;
  throw sqlError("42704", message, { position: label.position });
}

function hasLabels(table: ElementTable, label: GraphLabelNode): boolean {
  switch (label.kind) {
    case "label":
      return table.labels.some(({ name }) => name === label.name);
    case "any":
      return table.labels.length > 0;
    case "not":
      return !hasLabels(table, label.operand);
    case "and":
      return label.operands.every((each) => hasLabels(table, each));
    case "or":
      return label.operands.some((each) => hasLabels(table, each));
  }
}

/** All that fit: edges first, since they say which vertices there can be. At most one more than CHOICES_MAX. */
function choices({ elements, connections }: Pattern): Choice[] {
  const found: Choice[] = [];
  const tables: (ElementTable | null)[] = elements.map(() => null);
  const forward: boolean[] = [];
  /** Goes on with `next` where the element can be the table. */
  const choose = (number: number, table: ElementTable, next: () => void): void => {
    const before = tables[number]!;
    if (before !== null && before !== table) return;
    if (!elements[number]!.candidates.includes(table)) return;
    tables[number] = table;
    next();
    tables[number] = before;
  };
  const vertexOf = (end: EdgeEnd, number: number, next: () => void): void => {
    for (const table of elements[number]!.candidates) if (table.alias === end.vertex) choose(number, table, next);
  };
  const connect = (at: number): void => {
    if (found.length > CHOICES_MAX) return;
    const connection = connections[at];
    if (connection === undefined) {
      fill(0);
      return;
    }
    const { edge, left, right, direction } = connection;
    for (const table of elements[edge]!.candidates as readonly EdgeTable[]) {
      choose(edge, table, () => {
        for (const leaves of [true, false]) {
          if (leaves ? direction === "left" : direction === "right" || (direction === "either" && left === right))
            continue;
          forward[at] = leaves;
          const [from, to] = leaves ? [left, right] : [right, left];
          vertexOf(table.source, from, () => vertexOf(table.destination, to, () => connect(at + 1)));
        }
      });
    }
  };
  /** Vertices without edges. */
  const fill = (number: number): void => {
    if (found.length > CHOICES_MAX) return;
    if (number === elements.length) found.push({ tables: tables.map((table) => table!), forward: [...forward] });
    else if (tables[number] !== null) fill(number + 1);
    else for (const table of elements[number]!.candidates) choose(number, table, () => fill(number + 1));
  };
  connect(0);
  return found;
}

function anyTable({ graph }: PropertyGraphDef, kind: Element["kind"], { position }: GraphTableNode): ElementTable {
  const [table] = kind === "vertex" ? graph.vertices : graph.edges;
  if (table === undefined) throw sqlError("42704", "the property graph has no edge tables", { position });
  return table;
}

/** `a.*` as the properties of a. */
function expanded(target: TargetNode, { elements }: Pattern): readonly TargetNode[] {
  const { expr, position } = target;
  if (expr.kind !== "column" || !expr.star) return [target];
  const element = elements.find(({ alias }) => expr.path.length === 1 && alias === expr.path[0]);
  if (element === undefined) {
    throw sqlError("42601", '"*" needs a variable of the pattern before it', { position });
  }
  return [...element.properties.keys()].map((name) => ({ expr: columnNode(element.alias, name), name, position }));
}

function partQuery(
  { tables, forward }: Choice,
  { elements, connections, conditions }: Pattern,
  columns: readonly TargetNode[],
  { position }: GraphTableNode,
  { query }: PropertyGraphDef,
  { catalog }: BindEnvironment,
): QueryNode {
  const keys = elements.map(() => new Set<number>());
  const met: ExprNode[] = [];
  for (const [i, connection] of connections.entries()) {
    const edge = tables[connection.edge] as EdgeTable;
    const isForward = forward[i];
    if (isForward === undefined) continue;
    const [from, to] = isForward ? [connection.left, connection.right] : [connection.right, connection.left];
    for (const [end, vertex] of [
      [edge.source, from],
      [edge.destination, to],
    ] as const) {
      for (const [k, column] of end.columns.entries()) {
        const reference = end.references[k]!;
        keys[connection.edge]!.add(column);
        keys[vertex]!.add(reference);
        met.push(equal(keyOf(elements[vertex]!, reference), keyOf(elements[connection.edge]!, column)));
      }
    }
    // An edge from a vertex to itself has been met in the other direction.
    if (connection.direction === "either" && !isForward) met.push(...notLoop(edge, elements[connection.edge]!));
  }
  if (forward.length < connections.length || tables.some((table, i) => !elements[i]!.candidates.includes(table))) {
    met.push({ kind: "boolean", value: false, position: 0 });
  }
  const from = elements.map(({ alias, properties }, i): FromSubquery => {
    const own = propertiesOf(tables[i]!);
    const targets = [...properties.values()].map((property): TargetNode => {
      const { sql } = own.find(({ name }) => name === property.name) ?? { sql: "NULL" };
      const expr = parseExpression(sql);
      const typed = expr.kind === "column" ? expr : parseExpression(`(${sql})::${property.type}`);
      return { expr: typed, name: property.name, position: 0 };
    });
    const { tableId, alias: table } = tables[i]!;
    // EXPLAIN calls the table as the pattern does.
    const shown = isMadeUp(alias) ? table : alias;
    const inner = elementQuery({ tableId, alias: shown }, targets, keys[i]!, query.relations, catalog);
    const named = { name: alias, columns: [] };
    return { kind: "from subquery", query: inner, alias: named, lateral: false, element: true, position };
  });
  const all = [...met, ...conditions];
  const where: ExprNode | null = all.length < 2 ? (all[0] ?? null) : { kind: "and", args: all, position: 0 };
  return plainSelect(columns, from, where);
}

const keyOf = ({ alias }: Element, column: number): ExprNode => columnNode(alias, keyName(column));

const equal = (left: ExprNode, right: ExprNode): ExprNode => ({
  kind: "operator",
  name: "=",
  left,
  right,
  position: 0,
});

function notLoop({ source, destination }: EdgeTable, element: Element): ExprNode[] {
  if (source.vertex !== destination.vertex) return [];
  const same = source.references.map((reference, i) => {
    const other = destination.columns[destination.references.indexOf(reference)];
    return other === undefined ? null : equal(keyOf(element, source.columns[i]!), keyOf(element, other));
  });
  if (same.includes(null)) return [];
  const args = same as ExprNode[];
  const input: ExprNode = args.length === 1 ? args[0]! : { kind: "and", args, position: 0 };
  return [{ kind: "not", input, position: 0 }];
}
