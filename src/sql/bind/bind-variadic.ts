/** `f(a, VARIADIC array)`: calls that take the members of an array as arguments. Called by bind-call.ts. */
import { sqlError } from "../../protocol/errors.js";
import type { EvalContext, Expr, ScalarFunction } from "../../query/expr/expr.js";
import { resolveFunction } from "../../query/expr/resolve.js";
import { arrayOf, MULTIRANGES, type SqlArray, type SqlType, type Value } from "../../values/values.js";
import type { CallNode } from "../parse/ast-query.js";
import type { Binding } from "./binding.js";
import { coerceImplicit, isUnknown } from "./coerce.js";

/** Functions whose last parameter is variadic. */
const VARIADIC = new Set([
  "concat",
  "concat_ws",
  "format",
  "json_build_array",
  "json_build_object",
  "json_extract_path",
  "json_extract_path_text",
  "jsonb_build_array",
  "jsonb_build_object",
  "jsonb_extract_path",
  "jsonb_extract_path_text",
  "num_nonnulls",
  "num_nulls",
]);

const made = new Map<string, WeakMap<SqlType, ScalarFunction>>();

/** The call over an array; `given` are the bound arguments, the last one the array. Throws 42804 and 42883. */
export function bindVariadicCall(name: string, given: readonly Expr[], node: CallNode, binding: Binding): Expr {
  const { position } = node;
  const array = given[given.length - 1]!;
  const at = node.args[node.args.length - 1]!.value.position || position;
  if (array.type.element === null) {
    if (!isUnknown(array)) throw sqlError("42804", "VARIADIC argument must be an array", { position: at });
  }
  if (!VARIADIC.has(name)) {
    const types = given.map((arg) => arg.type);
    if (Object.hasOwn(MULTIRANGES, name)) return ofArray(name, given, binding, position);
    throw notVariadic(name, types, position);
  }
  const fixed = given.slice(0, -1);
  const element = array.type.element ?? given[0]!.type;
  const { argTypes } = resolveFunction(name, [...fixed.map((arg) => arg.type), element], position);
  const args = fixed.map((arg, i) =>
    coerceImplicit(arg, argTypes[i]!, binding, node.args[i]!.value.position || position),
  );
  const member = argTypes[argTypes.length - 1]!;
  args.push(coerceImplicit(array, arrayOf(member), binding, at));
  const fn = spreading(
    name,
    args.slice(0, -1).map((arg) => arg.type),
    member,
  );
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}

/** A constructor of multiranges takes the array itself. */
function ofArray(name: string, given: readonly Expr[], binding: Binding, position: number): Expr {
  const { fn, argTypes } = resolveFunction(
    name,
    given.map((arg) => arg.type),
    position,
  );
  const args = given.map((arg, i) => coerceImplicit(arg, argTypes[i]!, binding, position));
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}

function notVariadic(name: string, types: readonly SqlType[], position: number): Error {
  resolveFunction(name, types, position);
  return sqlError("42883", `function ${name} is not variadic`, { position });
}

/** The function that spreads its last argument; equal calls get the same object. */
function spreading(name: string, fixed: readonly SqlType[], member: SqlType): ScalarFunction {
  const key = `${name}/${fixed.map((type) => type.name).join()}`;
  let byMember = made.get(key);
  if (byMember === undefined) {
    byMember = new WeakMap();
    made.set(key, byMember);
  }
  let fn = byMember.get(member);
  if (fn === undefined) {
    fn = makeSpreading(name, fixed, member);
    byMember.set(member, fn);
  }
  return fn;
}

function makeSpreading(name: string, fixed: readonly SqlType[], member: SqlType): ScalarFunction {
  const sample = resolveFunction(name, [...fixed, member]).fn;
  const byCount = new Map<number, ScalarFunction>();
  const overload = (count: number) => {
    let fn = byCount.get(count);
    if (fn === undefined) {
      fn = resolveFunction(name, [...fixed, ...new Array<SqlType>(count).fill(member)]).fn;
      byCount.set(count, fn);
    }
    return fn;
  };
  return Object.freeze({
    name,
    args: [...fixed, arrayOf(member)],
    returns: sample.returns,
    volatility: sample.volatility,
    strict: false,
    needsContext: true,
    apply(context: EvalContext, ...values: Value[]): Value {
      const array = values[values.length - 1] as SqlArray | null;
      // format() takes a NULL array for one without members.
      if (array === null && name !== "format") return null;
      const members = array === null ? [] : array.elements;
      // Nothing to join is an empty text, as one NULL is.
      const padded = members.length === 0 && name.startsWith("concat") ? [null] : members;
      const fn = overload(padded.length);
      const all = [...values.slice(0, -1), ...padded];
      if (fn.strict && all.includes(null)) return null;
      return fn.needsContext === true ? fn.apply(context, ...all) : fn.apply(...all);
    },
  } satisfies ScalarFunction);
}
