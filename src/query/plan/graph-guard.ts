/**
 * What policies say of a graph's nodes and relationships, for whoever makes plans over its tables. sql/bind makes it of
 * the policies of both tables; null in its place: the statement's role sees all of the graph.
 */
import { BOOL } from "../../values/values.js";
import type { Expr } from "../expr/expr.js";
import type { EdgeColumns, EntityPolicies, NodeColumns } from "./graph-plans.js";
import type { OutputColumn, Plan } from "./plan.js";

export interface GraphGuard {
  /** The condition under which a node is seen, over its columns; null: always. */
  node(columns: NodeColumns): Expr | null;
  /** The same of a relationship, whatever its ends are. */
  edge(columns: EdgeColumns): Expr | null;
  /** Of what a writing clause makes and changes; null: no policy decides. */
  writtenNodes(): EntityPolicies | null;
  writtenEdges(): EntityPolicies | null;
}

const TRUE: Expr = Object.freeze({ kind: "const", type: BOOL, value: true });

/** The rows for which the policy holds, behind a barrier: nothing that could tell of a row sees one that it hides. */
export function behindPolicy(rows: Plan, policy: Expr | null | undefined): Plan {
  if (policy === null || policy === undefined) return rows;
  const { columns } = rows;
  const input: Plan = rows.kind === "scan" ? Object.freeze({ ...rows, policy }) : rows;
  const visible: Plan = Object.freeze({ kind: "filter", input, predicate: policy, trusted: true, columns });
  return Object.freeze({ kind: "filter", input: visible, predicate: TRUE, barrier: true, columns });
}

/** The condition only for rows for which the policy holds: for others it is not computed. */
export function underPolicy(policy: Expr | null, condition: Expr | null): Expr | null {
  if (policy === null || condition === null) return policy ?? condition;
  const { type } = TRUE;
  // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
  const branches = [{ when: policy, then: condition }];
  const otherwise: Expr = { kind: "const", type, value: false };
  return Object.freeze({ kind: "case", type, branches, otherwise });
}

/** In the order in which the tables have them. */
export function nodeColumnList({ id, labels, properties }: NodeColumns): readonly OutputColumn[] {
  return [id, labels, properties];
}

export function edgeColumnList({ id, type, src, dst, properties }: EdgeColumns): readonly OutputColumn[] {
  return [id, type, src, dst, properties];
}
