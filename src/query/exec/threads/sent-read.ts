/**
 * Plans of scans and what is above them as plain values for threads, and as plans again there. Called by aggregate.ts,
 * top-n.ts and distinct.ts, once per plan, and by read-in-thread.ts.
 */
import { INT8 } from "../../../values/values.js";
import { receivedCondition, Sender } from "../../expr/sent-condition.js";
import { aggregateOfKey, keyOfAggregate, typeKey, typeOfKey } from "../../expr/sent-expr.js";
import type {
  AggregateCall,
  AggregatePlan,
  DistinctPlan,
  OutputColumn,
  Plan,
  ProjectPlan,
  ScanPlan,
  TopNPlan,
} from "../../plan/plan.js";
import { holdsEncoded } from "../segments/encoded-column.js";
import { isStorable } from "../segments/stored/column-page.js";
import { layoutOf } from "../table-layout.js";
import { callNanos } from "./cheap-calls.js";
import type { SentCall, SentColumn, SentGoal, SentPlan, SentRead } from "./read-threads.js";

/** Asked when a run begins; the first time it is worked out. Null: threads cannot do it. */
export type SentPlanOf = () => SentPlan | null;

export function sentPlanOf(plan: AggregatePlan | TopNPlan | DistinctPlan): SentPlanOf {
  let sent: SentPlan | null | undefined;
  return () => {
    if (sent === undefined) sent = sentPlan(plan);
    return sent;
  };
}

function sentPlan(plan: AggregatePlan | TopNPlan | DistinctPlan): SentPlan | null {
  const project = plan.input.kind === "project" ? plan.input : null;
  const scan = project === null ? plan.input : project.input;
  if (!isPlainScan(scan)) return null;
  const columns = sentColumns(scan.columns);
  const below = new Sender(idsOf(scan.columns));
  const above = new Sender(idsOf(plan.input.columns));
  const filter = scan.filter === null ? null : below.of(scan.filter);
  const projected = project === null ? null : sentProject(project, below);
  const goal = sentGoal(plan, above);
  if (columns === null || filter === undefined || projected === undefined || goal === null) return null;
  const read = { columns, source: scan.source, filter, project: projected, goal };
  if (callNanos(read) === null) return null;
  return { read, parameters: [...new Set([...below.parameters, ...above.parameters])] };
}

function isPlainScan(plan: Plan): plan is ScanPlan {
  if (plan.kind !== "scan" || plan.reverse || plan.rowKey !== null || plan.nearest !== undefined) return false;
  const { types } = layoutOf(plan.table);
  // Documents have no form for the way back, and lists may be too long for it.
  return plan.source.every((id) => isStorable(types[id]!) && !holdsEncoded(types[id]!));
}

const idsOf = (columns: readonly OutputColumn[]) => new Set(columns.map(({ id }) => id));

function sentColumns(columns: readonly OutputColumn[]): readonly SentColumn[] | null {
  const sent: SentColumn[] = [];
  for (const { id, type, name } of columns) {
    const key = typeKey(type);
    if (key === null) return null;
    sent.push({ id, type: key, name });
  }
  return sent;
}

function sentProject(project: ProjectPlan, sender: Sender): SentRead["project"] | undefined {
  const columns = sentColumns(project.columns);
  const exprs = sender.all(project.exprs);
  return columns === null || exprs === undefined ? undefined : { columns, exprs };
}

function sentGoal(plan: AggregatePlan | TopNPlan | DistinctPlan, sender: Sender): SentGoal | null {
  switch (plan.kind) {
    case "aggregate": {
      const groups = plan.grouping === undefined ? sender.all(plan.groups) : undefined;
      const calls = plan.calls.map((call) => sentCall(call, sender));
      return groups === undefined || calls.includes(null)
        ? null
        : { kind: "aggregate", groups, calls: calls as SentCall[] };
    }
    case "topn": {
      const exprs = sender.all(plan.keys.map(({ expr }) => expr));
      if (exprs === undefined) return null;
      const keys = plan.keys.map(({ descending, nullsFirst }, i) => ({ expr: exprs[i]!, descending, nullsFirst }));
      return { kind: "topn", keys };
    }
    case "distinct":
      return plan.on === null ? { kind: "distinct" } : null;
  }
}

function sentCall({ fn, args, distinct, filter, orderBy, direct }: AggregateCall, sender: Sender): SentCall | null {
  if (distinct || filter !== null || orderBy.length > 0 || direct !== undefined || fn.open !== undefined) return null;
  const key = keyOfAggregate(fn);
  const sent = sender.all(args);
  return key === null || sent === undefined ? null : { fn: key, args: sent };
}

const receivedColumns = (columns: readonly SentColumn[]): OutputColumn[] =>
  columns.map(({ id, type, name }) => ({ id, type: typeOfKey(type), name, nullable: true }));

/** What compilers of operators read of a plan. */
export interface ReceivedRead {
  readonly columns: readonly OutputColumn[];
  readonly filter: ScanPlan["filter"];
  readonly project: ProjectPlan | null;
  readonly goal: AggregatePlan | TopNPlan | DistinctPlan;
}

export function receivedRead({ columns: sent, filter, project, goal }: SentRead, rowsMax: number | null): ReceivedRead {
  const columns = receivedColumns(sent);
  const bottom: Plan = { kind: "values", columns, rows: [] };
  const projected: ProjectPlan | null =
    project === null
      ? null
      : {
          kind: "project",
          input: bottom,
          columns: receivedColumns(project.columns),
          exprs: project.exprs.map(receivedCondition),
        };
  return {
    columns,
    filter: filter === null ? null : receivedCondition(filter),
    project: projected,
    goal: receivedGoal(goal, projected ?? bottom, rowsMax),
  };
}

function receivedGoal(goal: SentGoal, input: Plan, rowsMax: number | null): ReceivedRead["goal"] {
  const { columns } = input;
  switch (goal.kind) {
    case "aggregate": {
      const calls = goal.calls.map(
        ({ fn, args }): AggregateCall => ({
          fn: aggregateOfKey(fn),
          args: args.map(receivedCondition),
          distinct: false,
          filter: null,
          orderBy: [],
        }),
      );
      return { kind: "aggregate", input, groups: goal.groups.map(receivedCondition), calls, columns: [] };
    }
    case "topn": {
      const keys = goal.keys.map(({ expr, ...direction }) => ({ expr: receivedCondition(expr), ...direction }));
      return { kind: "topn", input, columns, keys, limit: { kind: "const", type: INT8, value: rowsMax }, offset: null };
    }
    case "distinct":
      return { kind: "distinct", input, columns, on: null };
  }
}
