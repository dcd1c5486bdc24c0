/**
 * SEARCH and CYCLE of a recursive WITH table, rewritten into columns that the table carries along (SQL:2016, part 2,
 * §7.17; PostgreSQL's src/backend/rewrite/rewriteSearchCycle.c):
 *
 *   first UNION ALL SELECT … FROM t, …        SEARCH DEPTH FIRST BY a SET ord   CYCLE a SET mark USING path
 *
 *   SELECT a, ARRAY[ROW(a)] AS ord, false AS mark, ARRAY[ROW(a)] AS path FROM (first) f(a)
 *   UNION ALL
 *   SELECT a, ord || ROW(a), ROW(a) = ANY (path), path || ROW(a)
 *   FROM (SELECT …, t.ord, t.path FROM t, … WHERE t.mark <> true) s(a, ord, path)
 */
import { sqlError } from "../../protocol/errors.js";
import type {
  CommonTableNode,
  CycleNode,
  ExprNode,
  FromJoin,
  FromNode,
  FromTable,
  QueryNode,
  SearchNode,
  SelectBody,
  TargetNode,
} from "../parse/ast-query.js";
import { plainCall } from "../parse/plain-call.js";
import { plainSelect } from "../parse/plain-query.js";

/** The table's query with the columns of SEARCH and CYCLE. `names`: the columns that it has without them. */
export function expandSearchCycle(table: CommonTableNode, names: readonly string[]): QueryNode {
  const query = table.statement as QueryNode;
  const { search = null, cycle = null } = table;
  const { body } = query;
  if (body.kind !== "set operation") return query;
  const { position } = search ?? cycle!;
  if (search !== null) checkSearch(search, names);
  if (cycle !== null) checkCycle(cycle, names);
  if (search !== null && cycle !== null) checkApart(search, cycle);
  const right = body.right.body;
  if (body.left.body.kind === "set operation") throw mustBeSelect("left", position);
  if (right.kind !== "select") throw mustBeSelect("right", position);
  const reference = referenceIn(right.from, table.name);
  if (reference === null) {
    const message = `with a SEARCH or CYCLE clause, the recursive reference to WITH query "${table.name}" must be at the top level of its right-hand SELECT`;
    throw sqlError("0A000", message, { position });
  }
  const first = wrapped(body.left, "first", names, [], firstTargets(search, cycle));
  const carried = [...(search === null ? [] : [search.sequence]), ...(cycle === null ? [] : [cycle.path])];
  const alias = reference.alias?.name ?? table.name;
  const shown = names.map((name, i) => reference.alias?.columns?.[i] ?? name);
  const spelled = { ...right, targets: withoutStars(right, reference, alias, shown) };
  const inner = carrying(body.right, spelled, alias, carried, cycle);
  const step = wrapped(inner, "step", names, carried, stepTargets(search, cycle));
  return { ...query, body: { ...body, left: first, right: step } };
}

/** The step's own query with the columns of the rows that it goes on from; what closed a cycle goes no further. */
function carrying(
  query: QueryNode,
  body: SelectBody,
  alias: string,
  carried: readonly string[],
  cycle: CycleNode | null,
): QueryNode {
  const targets = [...body.targets, ...carried.map((name) => target(column([alias, name]), name))];
  if (cycle === null) return { ...query, body: { ...body, targets } };
  const goesOn: ExprNode = {
    kind: "operator",
    name: "<>",
    left: column([alias, cycle.mark]),
    right: cycle.value,
    position: 0,
  };
  const where: ExprNode =
    body.where === null ? goesOn : { kind: "and", args: [body.where, goesOn], position: body.where.position };
  return { ...query, body: { ...body, targets, where } };
}

/** `SELECT names, extra FROM (query) alias(names, carried)`. */
function wrapped(
  query: QueryNode,
  alias: string,
  names: readonly string[],
  carried: readonly string[],
  extra: (alias: string) => TargetNode[],
): QueryNode {
  const { position } = query;
  const from: FromNode = {
    kind: "from subquery",
    query,
    alias: { name: alias, columns: [...names, ...carried] },
    lateral: false,
    position,
  };
  const targets = [...names.map((name) => target(column([alias, name]), name)), ...extra(alias)];
  return plainSelect(targets, [from], null, position);
}

/** The reference shows no more columns than the table has without SEARCH and CYCLE: its stars are spelled out. */
function withoutStars(
  { targets, from }: SelectBody,
  reference: FromTable,
  alias: string,
  names: readonly string[],
): readonly TargetNode[] {
  const own = names.map((name) => target(column([alias, name]), name));
  return targets.flatMap((each) => {
    const { expr } = each;
    if (expr.kind !== "column" || !expr.star) return [each];
    if (expr.path.length === 1 && expr.path[0] === alias) return own;
    return (expr.path.length === 0 ? starsOf(from, reference, own) : null) ?? [each];
  });
}

/** What `*` stands for, item by item; null: columns of both sides of a join are one there. */
function starsOf(
  items: readonly FromNode[],
  reference: FromTable,
  own: readonly TargetNode[],
): readonly TargetNode[] | null {
  const all: TargetNode[] = [];
  for (const item of items) {
    const stars = item === reference ? own : item.kind === "join" ? starsOfJoin(item, reference, own) : starOf(item);
    if (stars === null) return null;
    all.push(...stars);
  }
  return all;
}

function starsOfJoin(join: FromJoin, reference: FromTable, own: readonly TargetNode[]): readonly TargetNode[] | null {
  if (join.natural || join.using !== null || join.alias !== null) return null;
  return starsOf([join.left, join.right], reference, own);
}

function starOf(item: Exclude<FromNode, FromJoin>): readonly TargetNode[] | null {
  const name = item.alias?.name ?? (item.kind === "table" ? item.name.path.at(-1)! : null);
  if (name === null) return null;
  return [{ expr: { kind: "column", path: [name], star: true, position: 0 }, name: null, position: 0 }];
}

const firstTargets = (search: SearchNode | null, cycle: CycleNode | null) => (alias: string) => {
  const row = (columns: readonly string[]) => rowOf(alias, columns, []);
  const made: TargetNode[] = [];
  if (search !== null) {
    const sequence = search.depthFirst ? array(row(search.columns)) : rowOf(alias, search.columns, [integer(0)]);
    made.push(target(sequence, search.sequence));
  }
  if (cycle !== null) {
    made.push(target(cycle.otherwise, cycle.mark), target(array(row(cycle.columns)), cycle.path));
  }
  return made;
};

const stepTargets = (search: SearchNode | null, cycle: CycleNode | null) => (alias: string) => {
  const made: TargetNode[] = [];
  if (search !== null) {
    const before = column([alias, search.sequence]);
    const depth: ExprNode = { kind: "field", input: before, name: "f1", position: 0 };
    const next: ExprNode = { kind: "operator", name: "+", left: depth, right: integer(1), position: 0 };
    const sequence = search.depthFirst
      ? append(before, rowOf(alias, search.columns, []))
      : rowOf(alias, search.columns, [next]);
    made.push(target(sequence, search.sequence));
  }
  if (cycle !== null) {
    const before = column([alias, cycle.path]);
    const row = rowOf(alias, cycle.columns, []);
    const when: ExprNode = { kind: "quantified", name: "=", all: false, left: row, array: before, position: 0 };
    const mark: ExprNode = {
      kind: "case",
      input: null,
      branches: [{ when, result: cycle.value }],
      otherwise: cycle.otherwise,
      position: 0,
    };
    made.push(target(mark, cycle.mark), target(append(before, row), cycle.path));
  }
  return made;
};

const target = (expr: ExprNode, name: string): TargetNode => ({ expr, name, position: 0 });
const column = (path: readonly string[]): ExprNode => ({ kind: "column", path, star: false, position: 0 });
const integer = (value: number): ExprNode => ({ kind: "integer", value, position: 0 });
const array = (element: ExprNode): ExprNode => ({ kind: "array", elements: [element], position: 0 });

function rowOf(alias: string, columns: readonly string[], before: readonly ExprNode[]): ExprNode {
  return { kind: "row", items: [...before, ...columns.map((name) => column([alias, name]))], position: 0 };
}

function append(list: ExprNode, element: ExprNode): ExprNode {
  return plainCall(["pg_catalog", "array_append"], [list, element], 0);
}

/** Where the query reads the table itself; null: in none of its own FROM items. */
function referenceIn(items: readonly FromNode[], name: string): FromTable | null {
  for (const item of items) {
    if (item.kind === "table" && item.name.path.length === 1 && item.name.path[0] === name) return item;
    const inside = item.kind === "join" ? referenceIn([item.left, item.right], name) : null;
    if (inside !== null) return inside;
  }
  return null;
}

function checkSearch({ columns, sequence, position }: SearchNode, names: readonly string[]): void {
  checkColumns(columns, names, "search", position);
  if (names.includes(sequence)) throw taken(`search sequence column name "${sequence}"`, position);
}

function checkCycle({ columns, mark, path, position }: CycleNode, names: readonly string[]): void {
  checkColumns(columns, names, "cycle", position);
  if (names.includes(mark)) throw taken(`cycle mark column name "${mark}"`, position);
  if (names.includes(path)) throw taken(`cycle path column name "${path}"`, position);
  if (mark === path) {
    throw sqlError("42601", "cycle mark column name and cycle path column name are the same", { position });
  }
}

function checkApart({ sequence, position }: SearchNode, { mark, path }: CycleNode): void {
  const other = sequence === mark ? "mark" : sequence === path ? "path" : null;
  if (other === null) return;
  const message = `search sequence column name and cycle ${other} column name are the same`;
  throw sqlError("42601", message, { position });
}

function checkColumns(columns: readonly string[], names: readonly string[], what: string, position: number): void {
  columns.forEach((name, i) => {
    if (!names.includes(name)) {
      throw sqlError("42601", `${what} column "${name}" not in WITH query column list`, { position });
    }
    if (columns.indexOf(name) < i) {
      throw sqlError("42701", `${what} column "${name}" specified more than once`, { position });
    }
  });
}

function taken(what: string, position: number): Error {
  return sqlError("42601", `${what} already used in WITH query column list`, { position });
}

function mustBeSelect(side: string, position: number): Error {
  const message = `with a SEARCH or CYCLE clause, the ${side} side of the UNION must be a SELECT`;
  return sqlError("0A000", message, { position });
}
