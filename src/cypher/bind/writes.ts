/** Which clauses and queries change the graph. Read by the checker and by the binders of clauses. */
import type { Clause, Query } from "../parse/ast.js";

export type WritingClause = Extract<
  Clause,
  { readonly kind: "create" | "merge" | "set" | "remove" | "delete" | "foreach" }
>;

const WRITING: ReadonlySet<Clause["kind"]> = new Set(["create", "merge", "set", "remove", "delete", "foreach"]);

export function isWriting(clause: Clause): clause is WritingClause {
  return WRITING.has(clause.kind);
}

/** A clause that writes, or runs a query that does. */
export function writes(clause: Clause): boolean {
  return isWriting(clause) || (clause.kind === "subquery-call" && isWritingQuery(clause.query));
}

export function isWritingQuery({ parts }: Query): boolean {
  return parts.some(({ clauses }) => clauses.some(writes));
}
