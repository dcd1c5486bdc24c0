/**
 * FOR UPDATE and FOR SHARE. Rows of tables that the query itself names are held until the transaction ends, where
 * transactions wait for each other; elsewhere transactions are validated when they commit. Wrong uses of the clause are
 * refused as in PostgreSQL. Called for SELECT.
 */

import { sqlError } from "../../protocol/errors.js";
import type { FromNode, LockingNode, QueryNode, SelectBody } from "../parse/ast-query.js";
import type { Scope } from "./scope.js";

const clauseOf = ({ strength }: LockingNode) => `FOR ${strength.toUpperCase()}`;

/** `aggregated`, `windowed`, `sets`: what the select list has. Throws 0A000, 42601 and 42P01. */
export function checkLocking(
  { locking, position }: QueryNode,
  body: SelectBody,
  scope: Scope,
  has: { readonly aggregates: boolean; readonly windows: boolean; readonly sets: boolean },
): void {
  const [first] = locking;
  if (first === undefined) return;
  const obstacles: readonly (readonly [boolean, string])[] = [
    [body.distinct !== "all", "DISTINCT clause"],
    [body.groupBy.length > 0, "GROUP BY clause"],
    [body.having !== null, "HAVING clause"],
    [has.aggregates, "aggregate functions"],
    [has.windows, "window functions"],
    [has.sets, "set-returning functions in the target list"],
  ];
  const obstacle = obstacles.find(([there]) => there);
  if (obstacle !== undefined) throw notAllowed(clauseOf(first), `with ${obstacle[1]}`, position);
  for (const clause of locking) {
    for (const relation of clause.relations) {
      const at = { position: relation.position };
      const spelled = clauseOf(clause);
      if (relation.path.length > 1) throw sqlError("42601", `${spelled} must specify unqualified relation names`, at);
      const name = relation.path[0]!;
      const found = body.from.map((item) => named(item, name, scope)).find((kind) => kind !== null);
      if (found === undefined) {
        throw sqlError("42P01", `relation "${name}" in ${spelled} clause not found in FROM clause`, at);
      }
      if (found !== null && found !== "relation")
        throw sqlError("0A000", `${spelled} cannot be applied to ${found}`, at);
    }
  }
}

/** Of UNION and the like. */
export function refuseLocking({ locking, position }: QueryNode, what: "set operation" | "values"): void {
  const [first] = locking;
  if (first === undefined) return;
  if (what === "values") throw sqlError("0A000", `${clauseOf(first)} cannot be applied to VALUES`, { position });
  throw notAllowed(clauseOf(first), "with UNION/INTERSECT/EXCEPT", position);
}

function notAllowed(clause: string, what: string, position: number): Error {
  return sqlError("0A000", `${clause} is not allowed ${what}`, { position });
}

/** What the name is among the items of FROM; null: not here. */
function named(item: FromNode, name: string, scope: Scope): string | null {
  switch (item.kind) {
    case "join": {
      if (item.alias !== null) return item.alias.name === name ? "a join" : null;
      if (item.usingAlias?.name === name) return "a join";
      return named(item.left, name, scope) ?? named(item.right, name, scope);
    }
    case "table": {
      const [table] = item.name.path;
      if ((item.alias?.name ?? item.name.path.at(-1)) !== name) return null;
      return item.name.path.length === 1 && scope.commonTable(table!) !== null ? "a WITH query" : "relation";
    }
    case "from subquery":
      if (item.alias?.name !== name) return null;
      return item.query.body.kind === "values" ? "VALUES" : "relation";
    case "from function":
      return item.alias?.name === name ? "a function" : null;
    case "graph table":
      return item.alias?.name === name ? "GRAPH_TABLE" : null;
  }
}
