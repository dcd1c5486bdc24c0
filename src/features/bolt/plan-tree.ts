/** EXPLAIN's JSON as drivers read plans, with the arguments that Neo4j Browser and cypher-shell show. */
import { PackFloat, type PackValue } from "../../protocol/bolt/pack-writer.js";

interface Node {
  readonly "Node Type": string;
  readonly Plans?: readonly Node[];
  readonly [property: string]: unknown;
}

interface Explained {
  readonly Plan: Node;
  readonly "Execution Time"?: number;
}

const read = (json: string): Explained => (JSON.parse(json) as readonly [Explained])[0];

/** It ran: the plan has what each operator did. */
export function isProfiled(json: string): boolean {
  return read(json)["Execution Time"] !== undefined;
}

/**
 * Under the operator with which each plan of Neo4j's ends, which tools look for. `columns`: the names of the result's.
 */
export function planTree(json: string, columns: readonly string[]): PackValue {
  const last = operatorOf(read(json).Plan, isProfiled(json));
  const top = { ...last, type: "ProduceResults", details: columns.join(", "), inputs: [last] };
  // `version`: the language's.
  return packed(top, columns, { version: "5", planner: "TESSERA", runtime: "TESSERA" });
}

interface Operator {
  readonly type: string;
  readonly details: string;
  /** Rows, by the planner; null: the client may not know. */
  readonly estimate: number | null;
  /** With the operators below, in nanoseconds; null: it did not run. */
  readonly run: { readonly rows: number; readonly time: number } | null;
  readonly inputs: readonly Operator[];
}

const MEGA = 1_000_000;

/** What tools have columns for. All else that is known of an operator is in its details. */
const MEASURED = new Set(["Plan Rows", "Actual Rows", "Actual Loops", "Actual Total Time"]);

function operatorOf({ "Node Type": type, Plans: plans = [], ...properties }: Node, isRun: boolean): Operator {
  const numberOf = (name: string) => Number(properties[name] ?? 0);
  const loops = numberOf("Actual Loops");
  const details = Object.entries(properties).filter(([name]) => !MEASURED.has(name));
  return {
    type,
    details: details.map(([name, value]) => `${name}: ${value}`).join(", "),
    estimate: properties["Plan Rows"] === undefined ? null : numberOf("Plan Rows"),
    run: isRun
      ? {
          rows: Math.round(numberOf("Actual Rows") * loops),
          time: Math.round(numberOf("Actual Total Time") * loops * MEGA),
        }
      : null,
    inputs: inPairs(plans.map((plan) => operatorOf(plan, isRun))),
  };
}

/** Plans of Neo4j's have two inputs at most, and cypher-shell refuses more: an operator between holds what is over. */
function inPairs(inputs: readonly Operator[]): readonly Operator[] {
  if (inputs.length <= 2) return inputs;
  const [first, ...more] = inputs as readonly [Operator, ...Operator[]];
  const total = (amountOf: (each: Operator) => number | undefined | null) =>
    more.reduce((sum, each) => sum + (amountOf(each) ?? 0), 0);
  const estimate = first.estimate === null ? null : total((each) => each.estimate);
  const run =
    first.run === null ? null : { rows: total((each) => each.run?.rows), time: total((each) => each.run?.time) };
  const between = { type: "Inputs", details: "", estimate, run };
  return [first, { ...between, inputs: inPairs(more) }];
}

interface PackedArguments {
  readonly [name: string]: PackValue;
}

function packed(operator: Operator, identifiers: readonly string[] = [], more: PackedArguments = {}): PackValue {
  const { type, details, estimate, run, inputs } = operator;
  const known = { ...more, Details: details, ...(estimate !== null && { EstimatedRows: new PackFloat(estimate) }) };
  return {
    operatorType: type,
    identifiers,
    args: run === null ? known : { ...known, Rows: run.rows, Time: run.time, DbHits: 0 },
    children: inputs.map((input) => packed(input)),
    // Nothing here counts reads of single records or pages.
    ...(run !== null && { ...run, dbHits: 0, pageCacheHits: 0, pageCacheMisses: 0, pageCacheHitRatio: 0 }),
  };
}
