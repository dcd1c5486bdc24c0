/**
 * Queries made of queries, in terms of clauses that each say the same: `WHEN … THEN … ELSE …` and `… NEXT …`. Called by
 * `queries.ts`.
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
  const last = parts[0]!.clauses.at(-1);
  if (last?.kind !== "return") return [];
  return last.star ? null : last.items.map(({ name, position }) => ({ kind: "variable", name, position }));
}

const returned = (columns: readonly Variable[], position: number): Clause[] =>
  columns.length === 0 ? [] : [{ ...EVERYTHING, kind: "return", star: false, items: columns.map(itemOf), position }];

const itemOf = (expr: Variable): ProjectionItem => ({ expr, alias: null, name: expr.name, position: expr.position });

/** Whether the column says which branch of a WHEN is taken: its conditions have no aggregates. */
export const isChoice = (column: string): boolean => column.startsWith(" chosen ");

/** No variable of a query begins with a space unless its author wants trouble. */
const hidden = (name: string, position: number): Variable => ({
  kind: "variable",
  name: ` ${name} ${position}`,
  position,
});

/**
 * Which branch it is, is known before any of them runs, so that what one writes takes no other with it:
 *
 *     WITH *, CASE WHEN … THEN 0 … ELSE … END AS chosen
 *     CALL (*) {
 *       UNWIND CASE chosen WHEN 0 THEN [0] ELSE [] END AS run CALL (*) { branch 0 } RETURN columns
 *       UNION ALL … }
 *     RETURN columns
 *
 * @param columns of each branch
 */
export function conditionalQuery(branches: readonly Branch[], columns: readonly Variable[], position: number): Query {
  const chosen = hidden("chosen", position);
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
      called(query, at),
      ...returned(columns, at),
    ];
    return { clauses, position: at };
  });
  const named = { expr: choice, alias: chosen, name: chosen.name, position };
  const clauses: Clause[] = [
    { ...EVERYTHING, kind: "with", items: [named], position },
    called({ kind: "query", parts, all: true, position }, position),
    ...returned(columns, position),
  ];
  return { kind: "query", parts: [{ clauses, position }], all: false, position };
}

const called = (query: Query, position: number): Clause => ({
  kind: "subquery-call",
  imports: "*",
  query,
  optional: false,
  transactions: null,
  position,
});

/** Rows of the first are what the second begins with. `columns`: of the first, which ends in RETURN. */
export function sequentialQuery(first: Query, columns: readonly Variable[], second: SingleQuery): Query {
  const { position } = first;
  const before =
    first.parts.length === 1 ? first.parts[0]!.clauses : [called(first, position), ...returned(columns, position)];
  const last = before.at(-1) as ProjectionClause;
  const clauses: Clause[] = [...before.slice(0, -1), { ...last, kind: "with" }, ...second.clauses];
  return { ...first, parts: [{ ...second, clauses, position }], all: false };
}
