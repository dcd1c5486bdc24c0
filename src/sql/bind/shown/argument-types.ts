/** Which types the operands of an operator and the arguments of a call become, as PostgreSQL resolves them. */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import { DbError } from "../../../protocol/errors.js";
import {
  isAggregateName,
  isTableFunctionName,
  isWindowName,
  resolveAggregate,
  resolveFunction,
  resolveOperator,
  resolveTableFunction,
  resolveWindowFunction,
} from "../../../query/expr/resolve.js";
import { baseType, builtInTypes, pgOidOf } from "../../../query/expr/types.js";
import { isNamedOid } from "../../../values/catalog-types.js";
import { type SqlType, TEXT, UNKNOWN } from "../../../values/values.js";
import type { CallNode } from "../../parse/ast-query.js";
import { type FunctionFacts, functionFactsByName } from "../system/builtin-facts.js";
import { operatorRows } from "../system/builtin-operators.js";

/** null: as it is. */
export type Wanted = SqlType | null;

/** OIDs of the right operands, by name and left operand. */
let operators: ReadonlyMap<string, ReadonlySet<number>> | null = null;

function rightOperands(name: string, left: SqlType | null): ReadonlySet<number> {
  if (operators === null) {
    const found = new Map<string, Set<number>>();
    for (const { oprname, oprleft, oprright } of operatorRows()) {
      const key = `${oprname} ${oprleft}`;
      found.set(key, (found.get(key) ?? new Set()).add(oprright as number));
    }
    operators = found;
  }
  return operators.get(`${name} ${left === null ? 0 : pgOidOf(left)}`) ?? new Set();
}

/** Whether PostgreSQL has an operator of exactly these types. */
function hasOperator(name: string, left: SqlType | null, right: SqlType): boolean {
  return rightOperands(name, left).has(pgOidOf(right));
}

/** The right operand of the one operator that has this left one. */
function onlyRight(name: string, left: SqlType): SqlType | null {
  const [oid, ...others] = rightOperands(name, left);
  return others.length > 0 ? null : (builtInTypes().find((type) => pgOidOf(type) === oid) ?? null);
}

export function operandTypes(name: string, left: SqlType | null, right: SqlType): readonly [Wanted, Wanted] {
  const symbol = name === "!=" ? "<>" : name;
  if (hasOperator(symbol, left, right)) return [null, null];
  // A literal is taken to be of the other operand's type.
  if (left?.name === "unknown" && hasOperator(symbol, right, right)) return [baseType(right), null];
  if (left !== null && right.name === "unknown" && hasOperator(symbol, left, left)) return [null, baseType(left)];
  const only = left !== null && right.name === "unknown" ? onlyRight(symbol, left) : null;
  if (only !== null) return [null, only];
  const { argTypes } = resolveOperator(symbol, left, right, 0);
  return left === null ? [null, argTypes[0]!] : [argTypes[0]!, argTypes[1]!];
}

/** Of a function that a statement made, if `id` says so. */
export function argumentTypes(
  node: CallNode,
  given: readonly SqlType[],
  id: number | undefined,
  catalog: CatalogView,
): readonly Wanted[] {
  const own = id === undefined ? null : catalog.functionById(id);
  if (own !== null) {
    const inputs = own.parameters.filter(({ mode }) => mode !== "out" && mode !== "table");
    return node.args.map(({ name }, i) => {
      const parameter = name === null ? inputs[i] : inputs.find((other) => other.name === name);
      if (parameter === undefined || parameter.mode === "variadic" || parameter.type.polymorphic) return null;
      return parameter.type.type;
    });
  }
  const name = node.path.at(-1)!;
  // OIDs that are written as names are types of their own.
  const oids = given.map((type) => pgOidOf(isNamedOid(type) ? type : baseType(type)));
  const known = functionFactsByName().get(name) ?? [];
  if (known.some(({ args }) => args.join() === oids.join())) return given.map(() => null);
  const takesAny = (i: number) =>
    known.some(({ args, variadic }) => args[i] === ANY_OID || (i >= args.length && variadic === ANY_OID));
  try {
    return resolved(node, name, given).map((type, i) => {
      if (takesAny(i)) return isOpen(given[i]!) ? UNKNOWN : null;
      return isPseudo(type) ? (isOpen(given[i]!) ? TEXT : null) : type;
    });
  } catch (error) {
    if (error instanceof DbError) return byFacts(known, given);
    throw error;
  }
}

/** Of a function that only the catalog tells of: the one of PostgreSQL's whose strings stand where literals do. */
function byFacts(known: readonly FunctionFacts[], given: readonly SqlType[]): readonly Wanted[] {
  const isString = (oid: number) => oid === TEXT_OID || oid === NAME_OID;
  const fits = known.filter(
    ({ args, variadic }) => variadic === 0 && args.length === given.length && args.every((oid) => typeOf(oid) !== null),
  );
  const best = fits.filter(({ args }) => given.every((type, i) => !isOpen(type) || isString(args[i]!)));
  const takes = (type: SqlType, oid: number) => pgOidOf(type) === oid || (isNamedOid(type) && oid === OID_OID);
  const exact = best.filter(({ args }) => given.every((type, i) => isOpen(type) || takes(type, args[i]!)));
  const [only, ...others] = [exact, best, fits].find(({ length }) => length > 0) ?? [];
  if (only === undefined || others.length > 0) return given.map((type) => (isOpen(type) ? TEXT : null));
  return only.args.map(typeOf);
}

const TEXT_OID = 25;
const OID_OID = 26;
const NAME_OID = 19;

let types: ReadonlyMap<number, SqlType> | null = null;

function typeOf(oid: number): SqlType | null {
  types ??= new Map(builtInTypes().map((type) => [pgOidOf(type), type]));
  return types.get(oid) ?? null;
}

/**
 * From which argument on they become an array, as the function declares them; null: none does. `id`: of a function
 * that a statement made.
 */
export function variadicFrom({ args, path, variadic }: CallNode, id: number | undefined, catalog: CatalogView) {
  if (variadic || args.some(({ name }) => name !== null)) return null;
  const own = id === undefined ? null : catalog.functionById(id);
  if (own !== null) {
    const inputs = own.parameters.filter(({ mode }) => mode !== "out" && mode !== "table");
    const at = inputs.findIndex(({ mode }) => mode === "variadic");
    return at < 0 || at >= args.length || inputs[at]!.type.polymorphic === "any" ? null : at;
  }
  const known = functionFactsByName().get(path.at(-1)!) ?? [];
  if (known.some((facts) => facts.variadic === 0 && facts.args.length === args.length)) return null;
  const found = known.find((facts) => facts.variadic !== 0 && facts.args.length <= args.length);
  return found === undefined || found.variadic === ANY_OID ? null : found.args.length - 1;
}

/** Of the pseudo-type "any": a literal stays as it is. */
const ANY_OID = 2276;

const isOpen = ({ name }: SqlType) => name === "unknown";

const isPseudo = ({ name }: SqlType) => name === "record" || name === "variant" || name === "unknown";

function resolved(node: CallNode, name: string, given: readonly SqlType[]): readonly SqlType[] {
  if (node.over !== null && isWindowName(name)) return resolveWindowFunction(name, given, 0).argTypes;
  if (isAggregateName(name)) return resolveAggregate(name, given, 0).argTypes;
  if (isTableFunctionName(name)) return resolveTableFunction(name, given, 0).argTypes;
  return resolveFunction(name, given, 0).argTypes;
}
