/** Types as a PL/pgSQL body writes them: names, `relation.column%TYPE`, `relation%ROWTYPE`. Called by sql/routine. */
import { sqlError } from "../../protocol/errors.js";
import type { SqlType } from "../../values/values.js";
import type { CastNode } from "../parse/ast-query.js";
import { parseExpression } from "../parse/parse.js";
import { bindData } from "./bind-data.js";
import { bindQuery } from "./bind-query.js";
import { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { userTypeNamed } from "./names.js";
import { bindRoutineType, rowTypeNamed, typeNow, typeOfColumn } from "./routine-types.js";

const PERCENT = /^\s*([\s\S]*?)\s*%\s*(type|rowtype)\s*((?:\[\s*\d*\s*\])*|array)\s*$/i;

/**
 * null: of type record, without fields of its own. `variable`: the type of a variable of that path, if there is one.
 */
export function bindDeclaredType(
  text: string,
  env: BindEnvironment,
  variable: (path: readonly string[]) => SqlType | null | undefined,
): SqlType | null {
  const percent = PERCENT.exec(text);
  if (percent !== null) {
    const path = pathOf(percent[1]!);
    if (percent[2]!.toLowerCase() === "rowtype") {
      const row = rowTypeNamed(path, env) ?? userTypeNamed(path, env);
      if (row === null) throw sqlError("42P01", `relation "${path.join(".")}" does not exist`);
      return row;
    }
    const known = variable(path);
    if (known !== undefined) return known;
    return typeOfColumn(path, { arrayDimensions: percent[3] === "" ? 0 : 1 }, env);
  }
  if (/^\s*(?:pg_catalog\s*\.\s*)?record\s*$/i.test(text)) return null;
  const node = parseExpression(`NULL::${text}`) as CastNode;
  const binding = new Binding(env, bindQuery, bindData);
  const declared = bindRoutineType({ type: { ...node.type, position: 0 }, columnOf: null }, binding);
  if (declared.polymorphic !== undefined || (declared.name !== undefined && declared.name !== "refcursor")) {
    throw sqlError("0A000", `PL/pgSQL variables cannot be of type ${declared.polymorphic ?? declared.name}`);
  }
  return typeNow(declared, env);
}

/** The parts of a dotted name; quoted ones keep their case. */
function pathOf(text: string): string[] {
  const parts = text.match(/"(?:[^"]|"")+"|[^".\s]+/g) ?? [];
  return parts.map((part) => (part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part.toLowerCase()));
}
