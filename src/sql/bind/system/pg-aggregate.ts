/** pg_aggregate: the built-in aggregates, and those that statements made. */
import type { AggregateSide, FunctionDef } from "../../../catalog/function.js";
import { oidOfId } from "../../../query/expr/types.js";
import { typeFactsByName } from "./builtin-facts.js";
import { builtInAggregateRows } from "./builtin-functions.js";
import { argumentOids, functionTaking } from "./object-names.js";
import { typeOid } from "./relation-facts.js";
import { type DefinedView, definedRelation, type SystemRow } from "./system-view.js";

function sideOf(side: AggregateSide, args: readonly number[], view: DefinedView) {
  const { stateType } = side;
  const state = typeFactsByName().get(stateType.polymorphic ?? stateType.name ?? "")?.oid ?? typeOid(stateType.type);
  const final = side.finalFunction;
  return {
    step: functionTaking(view, side.stateFunction, [state, ...args]),
    final: final === null ? 0 : functionTaking(view, final, [state, ...(side.finalExtra ? args : [])]),
    extra: side.finalExtra ?? false,
    state,
    initial: side.initial,
  };
}

function rowOf(fn: FunctionDef, view: DefinedView): SystemRow {
  const aggregate = fn.aggregate!;
  const oid = oidOfId(fn.id);
  const args = argumentOids(view, oid);
  const plain = sideOf(aggregate, args, view);
  const moving = aggregate.moving === undefined ? null : sideOf(aggregate.moving, args, view);
  return {
    aggfnoid: oid,
    aggkind: "n",
    aggtransfn: plain.step,
    aggfinalfn: plain.final,
    aggfinalextra: plain.extra,
    aggfinalmodify: "r",
    aggtranstype: plain.state,
    agginitval: plain.initial,
    aggmfinalmodify: "r",
    ...(moving !== null && {
      aggmtransfn: moving.step,
      aggminvtransfn: functionTaking(view, aggregate.moving!.inverseFunction, [moving.state, ...args]),
      aggmfinalfn: moving.final,
      aggmfinalextra: moving.extra,
      aggmtranstype: moving.state,
      aggminitval: moving.initial,
    }),
  };
}

export const PG_AGGREGATE = definedRelation(
  "pg_catalog",
  "pg_aggregate",
  (view) =>
    view.catalog
      .functions()
      .filter(({ aggregate }) => aggregate !== undefined)
      .map((fn) => rowOf(fn, view)),
  builtInAggregateRows,
);
