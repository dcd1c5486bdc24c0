/**
 * The interface between the ways to search for paths (all-paths.ts, shortest-path.ts, followed-list.ts) and their
 * operator, expand-path.ts.
 */
import type { Variant } from "../../values/variant.js";
import type { Predicate } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import type { ExpandPathPlan } from "../plan/graph-plans.js";
import type { ExecContext } from "./context.js";
import type { EdgeSource, EdgeSourceProgram } from "./edge-source.js";
import type { ExcludedOf } from "./expand-exclude.js";
import type { EdgeRecordsProgram } from "./expand-records.js";
import type { EvaluateAll } from "./slots.js";

/** A relationship of a path. */
export interface StepProgram {
  readonly source: EdgeSourceProgram;
  /** Over the input's columns, then the five of the relationship. */
  readonly filter: Predicate | null;
}

export interface PathProgram {
  /** They are taken in turn, the first one first; mostly there is one. */
  readonly steps: readonly StepProgram[];
  readonly backward: EdgeSourceProgram;
  readonly from: EvaluateAll;
  readonly into: EvaluateAll | null;
  readonly excluded: ExcludedOf;
  readonly inputWidth: number;
  readonly min: number;
  readonly max: number;
  readonly search: ExpandPathPlan["path"]["search"];
  /** What may not come twice on the way. */
  readonly avoids: "relationships" | "nodes" | "nothing";
  /** Each end once. */
  readonly distinct: boolean;
  /** The list that has to be the path's relationships. */
  readonly bound: Evaluate | null;
  readonly reversed: boolean;
  /** Whether the list and the other end are among the columns. */
  readonly givesList: boolean;
  readonly givesOther: boolean;
  readonly records: EdgeRecordsProgram;
}

/** Paths from one node, one after the other. */
export interface PathSearch {
  /** Begins at a node; `into` −1: any other end. */
  start(node: number, into: number): void;
  /** False: no further path; undefined: not for now, its turn is over. */
  next(): boolean | undefined;
  /** Of the path that `next` found, from its beginning. */
  edges(): readonly number[];
  end(): number;
  /** Releases its memory. */
  close?(): void;
}

/** What every search may ask of the row that it runs for. */
export interface PathRow {
  readonly program: PathProgram;
  readonly context: ExecContext;
  /** Of the first of the steps. */
  readonly source: EdgeSource;
  /** Of each of the steps. */
  readonly sources: readonly EdgeSource[];
  /** The same relationships from their other ends. */
  backward(): EdgeSource;
  /** Whether the relationship may be part of the row's paths, as one of the steps. */
  allows(edge: number, step?: number): boolean;
  /** Null: the row gives no list. */
  list(): readonly Variant[] | null;
}
