/** EXPLAIN's JSON as drivers read plans: operators with arguments and children. */
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
  const isRun = isProfiled(json);
  const { args, identifiers: _, children: __, ...measured } = treeOf(read(json).Plan, isRun);
  const { EstimatedRows, Rows, Time } = args;
  return {
    ...measured,
    operatorType: "ProduceResults",
    identifiers: columns,
    args: {
      planner: "TESSERA",
      runtime: "TESSERA",
      Details: columns.join(", "),
      EstimatedRows,
      ...(isRun && { Rows, Time, DbHits: 0 }),
    },
    children: [treeOf(read(json).Plan, isRun)],
  };
}

interface Tree {
  readonly [key: string]: PackValue | undefined;
  readonly args: { readonly [name: string]: PackValue };
}

/** Names of ours, and what drivers and Neo4j Browser call the same. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  "Plan Rows": "EstimatedRows",
  "Actual Rows": "Rows",
  "Actual Total Time": "Time",
};
const MEGA = 1_000_000;

function treeOf({ "Node Type": operatorType, Plans: plans = [], ...properties }: Node, isRun: boolean): Tree {
  const args: Record<string, PackValue> = {};
  for (const [name, value] of Object.entries(properties)) {
    const isEstimate = name === "Plan Rows" && typeof value === "number";
    args[ARGUMENTS[name] ?? name] = isEstimate ? new PackFloat(value) : (value as PackValue);
  }
  const loops = Number(properties["Actual Loops"] ?? 0);
  const rows = Math.round(Number(properties["Actual Rows"] ?? 0) * loops);
  const measured = {
    rows,
    // Nothing here counts reads of single records.
    dbHits: 0,
    pageCacheHits: 0,
    pageCacheMisses: 0,
    pageCacheHitRatio: 0,
    time: Math.round(Number(properties["Actual Total Time"] ?? 0) * loops * MEGA),
  };
  return {
    operatorType,
    identifiers: [],
    args: isRun ? { ...args, Rows: rows, DbHits: 0 } : args,
    children: plans.map((child) => treeOf(child, isRun)),
    ...(isRun && measured),
  };
}
