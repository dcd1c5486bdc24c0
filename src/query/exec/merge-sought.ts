/** What a MERGE looks for, as far as pending-entities.ts can tell it from what is pending. */
import type { Value } from "../../values/values.js";
import type { VariantMap } from "../../values/variant.js";
import { compileExpr, type SlotOf } from "../expr/compile.js";
import type { Batch, Expr } from "../expr/expr.js";
import { isVolatile, someExpr } from "../expr/walk.js";
import type { GraphWriteStep, MergeStep } from "../plan/graph-plans.js";
import type { ExecContext } from "./context.js";
import { propertiesIn } from "./graph-values.js";
import type { Sought } from "./pending-entities.js";

/** For a row; null: it may be anything. */
export type SoughtFor = (row: Batch, context: ExecContext) => Sought | null;

const ANYTHING: SoughtFor = () => null;
const NO_PROPERTIES: VariantMap = new Map();

export function compileSought({ create, isDirected }: MergeStep, slotOf: SlotOf): SoughtFor {
  const [made] = create;
  if (create.length !== 1 || made === undefined) return ANYTHING;
  if (made.kind === "create-node") return soughtNode(made, slotOf);
  return made.kind === "create-edge" ? soughtEdge(made, isDirected, slotOf) : ANYTHING;
}

type Step<K extends GraphWriteStep["kind"]> = Extract<GraphWriteStep, { kind: K }>;

function soughtNode({ properties, dynamic = [] }: Step<"create-node">, slotOf: SlotOf): SoughtFor {
  if (properties === null || [properties, ...dynamic].some(mayDiffer)) return ANYTHING;
  const evaluate = compileExpr(properties, slotOf);
  return (row, context) => {
    const value = evaluate(row, 0, context);
    return { of: "node", properties: value === null ? NO_PROPERTIES : propertiesIn(value) };
  };
}

function soughtEdge(
  { type, src, dst, properties }: Step<"create-edge">,
  isDirected: boolean,
  slotOf: SlotOf,
): SoughtFor {
  const read = [type, src, dst, properties].filter((part): part is Expr => part !== null && typeof part !== "string");
  if (read.some(mayDiffer)) return ANYTHING;
  const fromOf = compileExpr(src, slotOf);
  const toOf = compileExpr(dst, slotOf);
  return (row, context) => {
    const ends: readonly Value[] = [fromOf(row, 0, context), toOf(row, 0, context)];
    if (ends.includes(null)) return null;
    const [from, to] = ends.map(Number) as [number, number];
    return { of: "relationship", src: from, dst: to, isDirected, byProperties: properties !== null };
  };
}

/** It may have another value when the search evaluates it, or read what is pending. */
function mayDiffer(expr: Expr): boolean {
  const reads = (part: Expr) => part.kind === "subquery" || (part.kind === "call" && part.fn.routine !== undefined);
  return isVolatile(expr) || someExpr(expr, reads);
}
