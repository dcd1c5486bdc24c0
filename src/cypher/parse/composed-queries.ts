/**
 * Queries made of queries, in terms of clauses that each say the same: `WHEN … THEN … ELSE …`, `… NEXT …` and
 * `{ … } UNION { … }`. Called by `composed-parser.ts`.
 */
import type { Clause, Expr, ProjectionClause, ProjectionItem, Query, SingleQuery, Variable } from "./ast.js";

/** `when`: null: of ELSE. */
export interface Branch {
  readonly when: Expr | null;
  readonly query: Query;
}

/** A projection of all variables. */
export const EVERYTHING = {
  distinct: false,
  star: true,
  items: [],
  orderBy: [],
  skip: null,
  limit: null,
  where: null,
} satisfies Omit<ProjectionClause, "kind" | "position">;

/** The names of the query's columns, none without RETURN; null: `RETURN *`, where only the checker knows them. */
export function columnsOf({ parts }: Query): readonly Variable[] | null {
  if (parts.some((part) => columnsOfPart(part) === null)) return null;
  return columnsOfPart(parts[0]!);
}

function columnsOfPart({ clauses }: SingleQuery): readonly Variable[] | null {
  const last = clauses.at(-1);
  if (last?.kind !== "return") return [];
  return last.star ? null : last.items.map(({ name, position }) => ({ kind: "variable", name, position }));
}

const returned = (items: readonly ProjectionItem[], position: number): ProjectionClause => ({
  ...EVERYTHING,
  kind: "return",
  star: false,
  items,
  position,
});

const itemOf = (expr: Variable): ProjectionItem => ({ expr, alias: null, name: expr.name, position: expr.position });

const named = (expr: Expr, alias: Variable): ProjectionItem => ({
  expr,
  alias,
  name: alias.name,
  position: alias.position,
});

/** Whether the column says which branch of a WHEN is taken: its conditions have no aggregates. */
export const isChoice = (column: string): boolean => column.startsWith(" chosen ");

/** No variable of a query begins with a space unless its author wants trouble. */
export const hidden = (name: string, position: number): Variable => ({
  kind: "variable",
  name: ` ${name} ${position}`,
  position,
});

export const isHidden = (name: string): boolean => name.startsWith(" ");

/** What CALL can return beside a variable of the column's own name. */
const hiddenColumns = (columns: readonly Variable[], position: number): readonly Variable[] =>
  columns.map(({ name }) => hidden(`as ${name}`, position));

/**
 * The query with its columns under the names `to`: `… WITH … RETURN column AS to`. A UNION whose parts do not agree
 * stays, for the checker to refuse.
 */
function renamed(query: Query, to: readonly Variable[]): Query {
  if (to.length === 0) return query;
  const names = query.parts.map((part) => columnsOfPart(part) ?? []);
  const first = names[0]!;
  if (names.some((each) => each.length !== to.length || each.some(({ name }, i) => name !== first[i]!.name))) {
    return query;
  }
  const parts = query.parts.map((part, at): SingleQuery => {
    const last = part.clauses.at(-1) as ProjectionClause;
    const variables = names[at]!;
    const items = last.items.map((item, i) => ({ ...item, alias: item.alias ?? aliasOf(item, variables[i]!) }));
    const clauses: Clause[] = [
      ...part.clauses.slice(0, -1),
      { ...last, kind: "with", items },
      returned(
        variables.map((variable, i) => named(variable, to[i]!)),
        last.position,
      ),
    ];
    return { ...part, clauses };
  });
  return { ...query, parts };
}

const aliasOf = ({ expr }: ProjectionItem, variable: Variable): Variable | null =>
  expr.kind === "variable" ? null : variable;

const called = (query: Query, position: number): Clause => ({
  kind: "subquery-call",
  imports: "*",
  keeps: false,
  query,
  optional: false,
  transactions: null,
  position,
});

/** `CALL (*) { query } RETURN its columns`, which may have names of variables around it. */
function wrapped(query: Query, columns: readonly Variable[], position: number): SingleQuery {
  const inner = hiddenColumns(columns, position);
  const call = called(renamed(query, inner), position);
  return ending(call, columns, inner, position);
}

function ending(call: Clause, columns: readonly Variable[], inner: readonly Variable[], position: number): SingleQuery {
  if (columns.length === 0) return { clauses: [call], finish: true, position };
  const items = columns.map((column, i) => named(inner[i]!, column));
  return { clauses: [call, returned(items, position)], position };
}

/** A query in braces, as a part of a UNION. */
export function singleOf(query: Query, columns: readonly Variable[]): SingleQuery {
  return query.parts.length === 1 ? query.parts[0]! : wrapped(query, columns, query.position);
}

/**
 * Which branch it is, is known before any of them runs, so that what one writes takes no other with it:
 *
 *     WITH *, CASE WHEN … THEN 0 … ELSE … END AS chosen
 *     CALL (*) {
 *       UNWIND CASE chosen WHEN 0 THEN [0] ELSE [] END AS run CALL (*) { branch 0 } RETURN hidden columns
 *       UNION ALL … }
 *     RETURN hidden columns AS columns
 *
 * @param columns of each branch
 */
export function conditionalQuery(branches: readonly Branch[], columns: readonly Variable[], position: number): Query {
  const chosen = hidden("chosen", position);
  const inner = hiddenColumns(columns, position);
  const number = (value: number): Expr => ({ kind: "integer", value, position });
  const list = (items: readonly Expr[]): Expr => ({ kind: "list", items, position });
  const predicates = branches.flatMap(({ when }, i) => (when === null ? [] : [{ when, result: number(i) }]));
  const choice: Expr = {
    kind: "case",
    subject: null,
    branches: predicates,
    otherwise: predicates.length < branches.length ? number(predicates.length) : null,
    position,
  };
  const parts = branches.map(({ query }, i): SingleQuery => {
    const at = query.position;
    const when = number(i);
    const once: Expr = {
      kind: "case",
      subject: chosen,
      branches: [{ when, result: list([when]) }],
      otherwise: list([]),
      position: at,
    };
    const clauses: Clause[] = [
      { kind: "unwind", list: once, variable: hidden("run", at), position: at },
      called(renamed(query, inner), at),
      ...(inner.length === 0 ? [] : [returned(inner.map(itemOf), at)]),
    ];
    return { clauses, position: at };
  });
  const choosing: Clause = { ...EVERYTHING, kind: "with", items: [named(choice, chosen)], position };
  const call = called({ kind: "query", parts, all: true, position }, position);
  const { clauses, ...end } = ending(call, columns, inner, position);
  return { kind: "query", parts: [{ ...end, clauses: [choosing, ...clauses] }], all: false, position };
}

/**
 * Rows of the first are what the second begins with. Each part of a UNION behind NEXT begins with all of them:
 *
 *     … WITH collect([a, b]) AS rows CALL (*) { UNWIND rows AS row WITH row[0] AS a, row[1] AS b … UNION … } RETURN …
 *
 * @param columns of the first, which ends in RETURN
 * @param last of the second, if that is a UNION
 */
export function sequentialQuery(
  first: Query,
  columns: readonly Variable[],
  second: Query,
  last: readonly Variable[],
): Query {
  const { position } = first;
  const { clauses: before } = singleOf(first, columns);
  const handed: Clause[] = [...before.slice(0, -1), { ...(before.at(-1) as ProjectionClause), kind: "with" }];
  const [part] = second.parts;
  if (second.parts.length === 1) {
    return { ...first, parts: [{ ...part!, clauses: [...handed, ...part!.clauses], position }], all: false };
  }
  const at = second.position;
  const [rows, row] = [hidden("rows", at), hidden("row", at)];
  const whole: Expr = { kind: "list", items: columns, position: at };
  const all: Expr = { kind: "call", name: "collect", args: [whole], distinct: false, position: at };
  const again: Clause[] = [
    { kind: "unwind", list: rows, variable: row, position: at },
    {
      ...returned(
        columns.map((column, i) => {
          const index: Expr = { kind: "integer", value: i, position: at };
          return named({ kind: "index", target: row, index, position: at }, column);
        }),
        at,
      ),
      kind: "with",
    },
  ];
  const parts = second.parts.map((each) => ({ ...each, clauses: [...again, ...each.clauses] }));
  const united = wrapped({ ...second, parts }, last, at);
  const gathered: Clause = { ...returned([named(all, rows)], at), kind: "with" };
  return { ...first, parts: [{ ...united, clauses: [...handed, gathered, ...united.clauses], position }], all: false };
}
