/** The arguments of EXECUTE as one row of values of the prepared statement's parameter types. */
import { sqlError } from "../../protocol/errors.js";
import { canCoerce, withMadeCasts } from "../../query/expr/coercion.js";
import type { Plan } from "../../query/plan/plan.js";
import type { SqlType } from "../../values/values.js";
import { contextOf } from "./bind-context.js";
import { bindData } from "./bind-data.js";
import { bindExpr } from "./bind-expr.js";
import { bindQuery } from "./bind-query.js";
import { Binding } from "./binding.js";
import type { BindEnvironment, BoundExecute } from "./bound-statement.js";
import { coerceAssignment, isUnknown, typeName } from "./coerce.js";
import { Scope } from "./scope.js";

/** Throws 42601 for a wrong number of arguments, 42804 for one that its parameter's type cannot take. */
export function bindArguments(execute: BoundExecute, types: readonly SqlType[], env: BindEnvironment): Plan {
  return withMadeCasts(env.catalog.madeCasts, () => argumentsAs(execute, types, env));
}

function argumentsAs({ name, args }: BoundExecute, types: readonly SqlType[], env: BindEnvironment): Plan {
  if (args.length !== types.length) {
    throw sqlError("42601", `wrong number of parameters for prepared statement "${name}"`, {
      detail: `Expected ${types.length} parameters but got ${args.length}.`,
    });
  }
  const binding = new Binding(env, bindQuery, bindData);
  const context = { ...contextOf(binding, new Scope(null), "EXECUTE parameters"), subqueries: false };
  const row = args.map((node, i) => {
    const type = types[i]!;
    const expr = bindExpr(node, context);
    if (!isUnknown(expr) && !canCoerce(expr.type, type, "assignment")) {
      const message = `parameter $${i + 1} of type ${typeName(expr.type)} cannot be coerced to the expected type ${typeName(type)}`;
      throw sqlError("42804", message, {
        position: node.position,
        hint: "You will need to rewrite or cast the expression.",
      });
    }
    return coerceAssignment(expr, { name: `$${i + 1}`, type }, binding, node.position);
  });
  const columns = types.map((type, i) => binding.newColumn(`$${i + 1}`, type, true));
  return Object.freeze({ kind: "values", rows: [row], columns });
}
