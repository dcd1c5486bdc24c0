/** The shape of a GraphWrite's steps, for walk.ts: plans and expressions inside, and the columns that they make. */
import type { ColumnId, Expr } from "../expr/expr.js";
import { columnsOf } from "../expr/walk.js";
import type { GraphWriteStep } from "./graph-plans.js";
import type { OutputColumn, Plan } from "./plan.js";

/** What MERGE looks for and the queries of CALL, in the order of the steps. */
export function matchesOf(steps: readonly GraphWriteStep[]): readonly Plan[] {
  return steps.flatMap((step) => {
    if (step.kind === "foreach") return matchesOf(step.steps);
    return step.kind === "merge" || step.kind === "call" ? [step.match] : [];
  });
}

/** The steps with other plans in place of those that `matchesOf` gave. */
export function withMatches(steps: readonly GraphWriteStep[], matches: readonly Plan[]): readonly GraphWriteStep[] {
  const rest = [...matches];
  const replaced = (of: readonly GraphWriteStep[]): readonly GraphWriteStep[] =>
    of.map((step) => {
      if (step.kind === "merge" || step.kind === "call") return { ...step, match: rest.shift()! };
      return step.kind === "foreach" ? { ...step, steps: replaced(step.steps) } : step;
    });
  return replaced(steps);
}

/** Rewrites every expression that stands directly in the steps. */
export function mapStepExprs(
  steps: readonly GraphWriteStep[],
  change: (expr: Expr) => Expr,
): readonly GraphWriteStep[] {
  return steps.map((step) => mapExprsOfStep(step, change));
}

export function mapExprsOfStep(step: GraphWriteStep, change: (expr: Expr) => Expr): GraphWriteStep {
  const maybe = (expr: Expr | null) => (expr === null ? null : change(expr));
  const name = (of: string | Expr) => (typeof of === "string" ? of : change(of));
  switch (step.kind) {
    case "create-node":
      return { ...step, dynamic: step.dynamic?.map(change) ?? [], properties: maybe(step.properties) };
    case "create-edge":
      return {
        ...step,
        type: name(step.type),
        src: change(step.src),
        dst: change(step.dst),
        properties: maybe(step.properties),
      };
    case "set-property":
      return { ...step, target: change(step.target), key: name(step.key), value: change(step.value) };
    case "set-properties":
      return { ...step, target: change(step.target), value: change(step.value) };
    case "set-labels":
    case "remove-labels":
      return { ...step, target: change(step.target), dynamic: step.dynamic?.map(change) ?? [] };
    case "delete":
      return { ...step, target: change(step.target) };
    case "merge":
      return {
        ...step,
        create: mapStepExprs(step.create, change),
        onCreate: mapStepExprs(step.onCreate, change),
        onMatch: mapStepExprs(step.onMatch, change),
      };
    case "call":
      return step;
    case "foreach":
      return { ...step, list: change(step.list), steps: mapStepExprs(step.steps, change) };
  }
}

/** Columns that the steps make, those that only steps inside of FOREACH see included. */
export function columnsMadeBy(steps: readonly GraphWriteStep[]): readonly OutputColumn[] {
  return steps.flatMap((step): readonly OutputColumn[] => {
    switch (step.kind) {
      case "create-node": {
        const { id, labels, properties } = step.columns;
        return [id, labels, properties];
      }
      case "create-edge": {
        const { id, type, src, dst, properties } = step.columns;
        return [id, type, src, dst, properties];
      }
      case "merge":
        return step.columns;
      case "call":
        return step.columns ?? [];
      case "foreach":
        return columnsMadeBy(step.steps);
      default:
        return [];
    }
  });
}

/** The variables of FOREACH. */
export function variablesOf(steps: readonly GraphWriteStep[]): readonly ColumnId[] {
  return steps.flatMap((step) => (step.kind === "foreach" ? [step.variable, ...variablesOf(step.steps)] : []));
}

/** Columns of what the steps change, as far as they name it. */
export function columnsChangedBy(steps: readonly GraphWriteStep[]): readonly ColumnId[] {
  return steps.flatMap((step): readonly ColumnId[] => {
    switch (step.kind) {
      case "merge":
        return [...columnsChangedBy(step.onCreate), ...columnsChangedBy(step.onMatch)];
      case "foreach":
        return columnsChangedBy(step.steps);
      default:
        return "target" in step ? [...columnsOf(step.target)] : [];
    }
  });
}
