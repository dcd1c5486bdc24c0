/**
 * Clauses that write and run as one, so that each row of the query is gone through once: CREATE after CREATE, and SET
 * of what they make. Called by bind-query.ts.
 */
import type { ChangedProperty, Clause, CreateClause, Expr, SetItem } from "../parse/ast.js";
import type { Binding } from "./binding.js";
import { directParts } from "./expr-parts.js";
import type { Variables } from "./variables.js";
import type { WritingClause } from "./writes.js";

/** The first one, and those of `clauses` from a place on. `scope`: what was there before it. */
export function clausesTogether(
  first: WritingClause,
  clauses: readonly Clause[],
  from: number,
  scope: Variables,
  { guard }: Binding,
): readonly WritingClause[] {
  if (first.kind !== "create") return [first];
  const together: WritingClause[] = [first];
  const made = new Set(namesOf(first));
  let at = from;
  let next = clauses[at];
  for (; next?.kind === "create"; next = clauses[++at]) {
    together.push(next);
    for (const name of namesOf(next)) made.add(name);
  }
  for (const name of scope.keys()) made.delete(name);
  // Policies look at what a row of the table is between the clauses.
  if (guard !== null) return together;
  for (; next?.kind === "set" && next.items.every((item) => isOf(made, item, scope)); next = clauses[++at]) {
    together.push(next);
  }
  return together;
}

/** Variables of its patterns; some may have been there before. */
function namesOf({ patterns }: CreateClause): string[] {
  return patterns.flatMap(({ start, steps }) => {
    const variables = [
      start.variable,
      ...steps.flatMap(({ relationship, node }) => [relationship.variable, node.variable]),
    ];
    return variables.flatMap((variable) => (variable === null ? [] : [variable.name]));
  });
}

/** Whether the item changes what the row itself has made, by values that do not depend on other rows. */
function isOf(made: ReadonlySet<string>, item: SetItem, scope: Variables): boolean {
  const isAlone = (expr: Expr) => isOfRow(expr, scope);
  switch (item.kind) {
    case "set-property":
      return isOfMade(made, item.target) && isAlone(item.value) && keysOf(item.target).every(isAlone);
    case "replace":
    case "add":
      return made.has(item.variable.name) && isAlone(item.value);
    case "labels":
      return item.variable.kind === "variable" && made.has(item.variable.name) && item.dynamic.length === 0;
  }
}

const isOfMade = (made: ReadonlySet<string>, { target }: ChangedProperty): boolean =>
  target.kind === "variable" && made.has(target.name);

const keysOf = (property: ChangedProperty): Expr[] => (property.kind === "index" ? [property.index] : []);

const OF_PARTS: ReadonlySet<Expr["kind"]> = new Set<Expr["kind"]>([
  "null",
  "boolean",
  "integer",
  "float",
  "string",
  "parameter",
  "property",
  "index",
  "slice",
  "call",
  "unary",
  "not",
  "arithmetic",
  "logical",
  "comparison",
  "text-match",
  "in",
  "null-test",
  "list",
  "map",
  "case",
]);

/** It looks at nothing in the graph. A node as a whole may be asked for its relationships, a property may not. */
function isOfRow(expr: Expr, scope: Variables): boolean {
  if (expr.kind === "variable") return scope.get(expr.name)?.kind === "value";
  if (!OF_PARTS.has(expr.kind)) return false;
  if ((expr.kind === "property" || expr.kind === "index") && expr.target.kind === "variable") {
    return expr.kind === "property" || isOfRow(expr.index, scope);
  }
  return directParts(expr, null).every((part) => isOfRow(part, scope));
}
