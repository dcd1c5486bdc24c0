/**
 * Plans of statements that features run for themselves, by their texts: a function that reads a large object piece by
 * piece runs the same few over and over. One per session; owned by routine-runner.ts.
 */
import { sqlError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
import { parseSql } from "../parse/parse.js";
import type { RoutineHost, RoutinePlan } from "./host.js";

const PLANS_MAX = 64;

export class OwnPlans {
  private readonly known = new Map<string, { readonly epoch: string; readonly plan: RoutinePlan }>();

  constructor(private readonly host: RoutineHost) {}

  /** Of `own` statements those that are queries are kept, as long as definitions and rights are the same. */
  planOf(sql: string, own: true | undefined, context: ExecContext): RoutinePlan {
    if (own === undefined) return this.host.plan(onlyStatement(sql), {}, context);
    const epoch = this.host.epoch(context);
    const known = this.known.get(sql);
    if (known?.epoch === epoch) return known.plan;
    const plan = this.host.plan(onlyStatement(sql), { own }, context);
    if (plan.bound.kind !== "query") return plan;
    if (this.known.size >= PLANS_MAX) this.known.clear();
    this.known.set(sql, { epoch, plan });
    return plan;
  }
}

/** Throws 42601. */
function onlyStatement(sql: string) {
  const [only, ...others] = parseSql(sql);
  if (only === undefined || others.length > 0) throw sqlError("42601", "one statement is run at a time");
  return only.node;
}
