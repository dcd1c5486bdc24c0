/** pg_proc's built-in rows and pg_aggregate: what of PostgreSQL's functions exists here. */
import { isKnownFunction } from "../../../query/expr/resolve.js";
import { catalogVector } from "../../../values/catalog-types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { type FunctionFacts, functionFacts, readFunctionFacts, typeFacts } from "./builtin-facts.js";
import { familyFunctionRows, operatorRows } from "./builtin-operators.js";
import { castRows, knownTypeOids } from "./builtin-types.js";
import { AGGREGATE_FACTS } from "./data/functions.js";
import { OWNER_OID, PG_CATALOG_OID } from "./relation-facts.js";
import { recordsOf } from "./shapes.js";
import { isSystemFunction } from "./system-functions.js";
import type { SystemRow } from "./system-view.js";

/** Those of sequence-functions.ts, which looks names up and so cannot be imported here. */
const SEQUENCE_FUNCTIONS = new Set(["nextval", "currval", "setval", "lastval"]);

let known: ReadonlySet<number> | null = null;

/**
 * OIDs of PostgreSQL's functions that can be called here, and of those that convert the types that exist here. To find
 * them takes tens of milliseconds the first time, in steps.
 */
function* knownFunctionOids(): Generator<undefined, ReadonlySet<number>> {
  if (known !== null) return known;
  const types = knownTypeOids();
  const oids = new Set<number>();
  const isCallable = (name: string) => isKnownFunction(name) || isSystemFunction(name) || SEQUENCE_FUNCTIONS.has(name);
  for (const { oid, name, args, result } of (yield* readFunctionFacts()).values()) {
    if (isCallable(name) && [...args, result].every((type) => types.has(type))) oids.add(oid);
    yield;
  }
  for (const oid of types) for (const fn of typeFacts().get(oid)?.io ?? []) oids.add(fn);
  for (const { castfunc } of castRows()) oids.add(castfunc as number);
  for (const { amproc } of familyFunctionRows()) {
    oids.add(amproc as number);
    yield;
  }
  for (const { oprcode, oprrest, oprjoin } of operatorRows()) {
    for (const fn of [oprcode, oprrest, oprjoin]) oids.add(fn as number);
    yield;
  }
  for (const record of recordsOf(AGGREGATE_FACTS)) {
    const [aggregate, , , ...parts] = record.split(",").map(Number) as [number, ...number[]];
    if (oids.has(aggregate)) for (const fn of parts.slice(0, AGGREGATE_FUNCTIONS)) oids.add(fn);
  }
  for (const oid of [...METHOD_HANDLERS, ...TRIGGER_FUNCTIONS]) oids.add(oid);
  oids.delete(0);
  known = oids;
  return known;
}

/** Columns of AGGREGATE_FACTS behind the direct arguments. */
const AGGREGATE_FUNCTIONS = 8;
/** suppress_redundant_updates_trigger, tsvector_update_trigger, tsvector_update_trigger_column. */
const TRIGGER_FUNCTIONS = [1291, 3752, 3753];
const METHOD_HANDLERS = [3, 330, 332, 333, 334, 335];

const INTERNAL_LANGUAGE = 12;

/** The built-in rows of pg_proc. */
export function* builtInFunctionRows(): Iterable<SystemRow | undefined> {
  for (const oid of yield* knownFunctionOids()) yield rowOf(functionFacts().get(oid)!);
}

function rowOf(facts: FunctionFacts): SystemRow {
  const { all } = facts;
  return {
    oid: facts.oid,
    proname: facts.name,
    pronamespace: PG_CATALOG_OID,
    proowner: OWNER_OID,
    prolang: INTERNAL_LANGUAGE,
    procost: 1,
    prorows: facts.set ? 1000 : 0,
    provariadic: facts.variadic,
    prokind: facts.kind,
    proleakproof: facts.leakproof,
    proisstrict: facts.strict,
    proretset: facts.set,
    provolatile: facts.volatility,
    proparallel: facts.parallel,
    pronargs: facts.args.length,
    pronargdefaults: facts.defaults,
    prorettype: facts.result,
    proargtypes: catalogVector(facts.args),
    ...(all !== null && {
      proallargtypes: sqlArray(all.types),
      proargmodes: sqlArray([...all.modes]),
      proargnames: all.names.length === 0 ? null : sqlArray(all.names),
    }),
    prosrc: facts.kind === "f" ? facts.name : "aggregate_dummy",
  };
}

const AGGREGATE_COLUMNS =
  "aggfnoid aggkind aggnumdirectargs aggtransfn aggfinalfn aggcombinefn aggserialfn aggdeserialfn aggmtransfn aggminvtransfn aggmfinalfn aggfinalextra aggmfinalextra aggfinalmodify aggmfinalmodify aggsortop aggtranstype aggtransspace aggmtranstype aggmtransspace agginitval aggminitval".split(
    " ",
  );

/** The built-in rows of pg_aggregate. */
export function* builtInAggregateRows(): Iterable<SystemRow | undefined> {
  const oids = yield* knownFunctionOids();
  for (const record of recordsOf(AGGREGATE_FACTS)) {
    const cells = record.split(",");
    if (!oids.has(Number(cells[0]))) continue;
    yield Object.fromEntries(AGGREGATE_COLUMNS.map((column, i) => [column, aggregateCell(column, cells[i]!)]));
  }
}

function aggregateCell(column: string, cell: string) {
  if (column.endsWith("initval")) return cell === "-" ? null : cell;
  if (column.endsWith("extra")) return cell === "1";
  return column === "aggkind" || column.endsWith("modify") ? cell : Number(cell);
}
