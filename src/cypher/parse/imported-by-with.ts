/** What a CALL without variables in parentheses imports. Called by queries.ts. */
import type { Query, Variable } from "./ast.js";

/** The variables in the WITHs that the parts begin with; only plain ones import. */
export function importedByWith({ parts }: Query): readonly Variable[] | "*" {
  const imports = new Map<string, Variable>();
  for (const { clauses } of parts) {
    const [first] = clauses;
    if (first?.kind !== "with") continue;
    if (first.star) return "*";
    for (const { expr } of first.items) if (expr.kind === "variable") imports.set(expr.name, expr);
  }
  return [...imports.values()];
}
