/** What pg_operator and pg_cast say of operators and casts that statements made. */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import { type RoutineType, sameRoutineType } from "../../../catalog/function.js";
import { type CastDef, computesOf, type OperatorDef } from "../../../catalog/operator.js";
import { oidOfId } from "../../../query/expr/types.js";
import { OPERATOR_FACTS } from "./data/operators.js";
import { functionTaking, routineTypeOid } from "./object-names.js";
import { OWNER_OID, schemaOid, typeOid } from "./relation-facts.js";
import { recordsOf } from "./shapes.js";
import type { DefinedView, SystemRow } from "./system-view.js";

const operandOid = (operand: RoutineType | null): number => (operand === null ? 0 : routineTypeOid(operand));

function functionOid(definition: OperatorDef | CastDef, types: readonly number[], view: DefinedView): number {
  const computes = computesOf(definition);
  if (computes === null) return 0;
  return "id" in computes ? oidOfId(computes.id) : functionTaking(view, computes.builtIn, types);
}

export function* madeOperatorRows(view: DefinedView): Iterable<SystemRow> {
  const { catalog } = view;
  for (const operator of catalog.operators()) {
    const [oprleft, oprright] = [operandOid(operator.left), operandOid(operator.right)];
    const types = operator.left === null ? [oprright] : [oprleft, oprright];
    yield {
      oid: oidOfId(operator.id),
      oprname: operator.name,
      oprnamespace: schemaOid(operator.schema, view),
      oprowner: OWNER_OID,
      oprkind: operator.left === null ? "l" : "b",
      oprcanmerge: operator.merges === true,
      oprcanhash: operator.hashes === true,
      oprleft,
      oprright,
      oprresult: operandOid(operator.result),
      oprcom: relatedOid(operator, "commutator", catalog),
      oprnegate: relatedOid(operator, "negator", catalog),
      oprcode: functionOid(operator, types, view),
      oprrest: estimatorOid(operator.restrict, view),
      oprjoin: estimatorOid(operator.join, view),
    };
  }
}

const estimatorOid = (name: string | undefined, view: DefinedView) =>
  name === undefined ? 0 : functionTaking(view, name, []);

/** Named by the operator, or by the other one, as PostgreSQL notes it with both. */
function relatedOid(operator: OperatorDef, how: "commutator" | "negator", catalog: CatalogView): number {
  const { left, right, schema, name } = operator;
  const sides = how === "commutator" ? [right, left] : [left, right];
  const fits = (other: OperatorDef) =>
    other.schema === schema && isSame(other.left, sides[0]!) && isSame(other.right, sides[1]!);
  const wanted = operator[how];
  const own =
    wanted === undefined
      ? catalog.operators().find((other) => other[how] === name && fits(other))
      : catalog.operatorsNamed(wanted).find(fits);
  if (own !== undefined) return oidOfId(own.id);
  if (wanted === undefined) return 0;
  const [first, second] = sides.map((side) => operandOid(side));
  for (const record of recordsOf(OPERATOR_FACTS)) {
    const [oid, symbol, , , , oprleft, oprright] = record.split(",");
    if (symbol === wanted && Number(oprleft) === first && Number(oprright) === second) return Number(oid);
  }
  return 0;
}

function isSame(a: RoutineType | null, b: RoutineType | null): boolean {
  return a === null || b === null ? a === b : sameRoutineType(a, b);
}

const CONTEXTS = { implicit: "i", assignment: "a", explicit: "e" } as const;
const METHODS = { function: "f", inout: "i", binary: "b" } as const;

export function* madeCastRows(view: DefinedView): Iterable<SystemRow> {
  for (const cast of view.catalog.casts()) {
    const [castsource, casttarget] = [typeOid(cast.source), typeOid(cast.target)];
    yield {
      oid: oidOfId(cast.id),
      castsource,
      casttarget,
      castfunc: functionOid(cast, [castsource], view),
      castcontext: CONTEXTS[cast.context],
      castmethod: METHODS[cast.method.kind],
    };
  }
}
