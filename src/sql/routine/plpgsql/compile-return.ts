/** RETURN, RETURN NEXT and RETURN QUERY. Throws 42804 for a form that the function's result does not allow. */
import { sqlError } from "../../../protocol/errors.js";
import { after } from "../../../query/exec/operator.js";
import { displayName } from "../../../query/expr/types.js";
import { type SqlType, type Value, VOID } from "../../../values/values.js";
import type { PlStatement } from "../../parse/plpgsql-ast.js";
import type { Compiler } from "./compiler.js";
import { PlExpression } from "./expression.js";
import { type Frame, NORMAL, RETURN, type Run, type Signal } from "./frame.js";
import type { Namespace } from "./namespace.js";
import { preparable, runReady } from "./statement.js";
import type { Column } from "./targets.js";

const refused = (message: string, hint?: string) => sqlError("42804", message, hint === undefined ? {} : { hint });

export function compileReturn(value: string | null, names: Namespace, compiler: Compiler): Run {
  const { form, type } = compiler.result;
  if (value === null) {
    if (form === "value" || form === "trigger") throw sqlError("42601", 'missing expression at or near ";"');
    return () => RETURN;
  }
  if (form === "set") {
    throw refused("RETURN cannot have a parameter in function returning set", "Use RETURN NEXT or RETURN QUERY.");
  }
  if (form === "outputs") throw refused("RETURN cannot have a parameter in function with OUT parameters");
  if (form === "procedure") throw refused("RETURN cannot have a parameter in a procedure");
  if (form === "void" && !/^\s*null\s*$/i.test(value)) {
    throw refused("RETURN cannot have a parameter in function returning void");
  }
  // Rows have to be of the function's type as they are; plain values are converted.
  const wanted = form === "void" || type?.user?.kind === "composite" ? null : type;
  const expression = new PlExpression(value, names, wanted);
  const store = (result: Value, frame: Frame): Signal => {
    frame.resultType = expression.type(frame);
    if (type !== null && wanted === null && form !== "void" && result !== null) checkRow(frame.resultType, type);
    frame.result = result;
    if (type === null && frame.resultType.name !== "record" && result !== null) {
      throw refused("cannot return non-composite value from function returning composite type");
    }
    return RETURN;
  };
  return (frame) => {
    const result = expression.evaluate(frame);
    return result instanceof Promise ? result.then((arrived) => store(arrived, frame)) : store(result, frame);
  };
}

/** Throws 42804 for a row whose fields are of other types than the result's, as PostgreSQL does. */
function checkRow(given: SqlType, wanted: SqlType): void {
  if (given.fields === undefined) {
    throw refused("cannot return non-composite value from function returning composite type");
  }
  const message = "returned record type does not match expected record type";
  const [fields, expected] = [given.fields, wanted.fields!];
  if (fields.length !== expected.length) {
    const detail = `Number of returned columns (${fields.length}) does not match expected column count (${expected.length}).`;
    throw sqlError("42804", message, { detail });
  }
  fields.forEach(({ type }, i) => {
    if (sameButModifier(type, expected[i]!.type)) return;
    const detail = `Returned type ${displayName(type)} does not match expected type ${displayName(expected[i]!.type)} in column "${expected[i]!.name}" (position ${i + 1}).`;
    throw sqlError("42804", message, { detail });
  });
}

export function compileReturnNext(value: string | null, names: Namespace, compiler: Compiler): Run {
  const { form, outputs } = compiler.result;
  if (form !== "set") throw refused("cannot use RETURN NEXT in a non-SETOF function");
  if (outputs.length > 0) {
    if (value !== null) throw refused("RETURN NEXT cannot have a parameter in function with OUT parameters");
    return (frame) => {
      frame.addRow(outputs.map(({ slot }) => frame.values[slot]!));
      return NORMAL;
    };
  }
  if (value === null) throw sqlError("42601", 'missing expression at or near ";"');
  // Rows are fitted field by field; a plain value is converted by itself.
  const expression = new PlExpression(value, names, null);
  const add = (result: Value, frame: Frame): Signal => {
    frame.addRow(fitted(result, expression.type(frame), frame, compiler));
    return NORMAL;
  };
  return (frame) => {
    const result = expression.evaluate(frame);
    return result instanceof Promise ? result.then((arrived) => add(arrived, frame)) : add(result, frame);
  };
}

/** A value as a row of the function's result. */
function fitted(value: Value, type: SqlType, frame: Frame, { conversions }: Compiler): readonly Value[] {
  const { shape } = frame;
  if (shape.fields === undefined) return [conversions.convert(value, type, shape, frame)];
  if (type.fields === undefined) {
    if (value === null) return shape.fields.map(() => null);
    throw refused("cannot return non-composite value from function returning composite type");
  }
  if (type.fields.length !== shape.fields.length) throw refused("wrong record type supplied in RETURN NEXT");
  const row = value as readonly Value[] | null;
  return shape.fields.map((field, i) =>
    conversions.convert(row?.[i] ?? null, type.fields![i]!.type, field.type, frame),
  );
}

export function compileReturnQuery(
  node: Extract<PlStatement, { kind: "return query" }>,
  names: Namespace,
  compiler: Compiler,
): Run {
  if (compiler.result.form !== "set") throw refused("cannot use RETURN QUERY in a non-SETOF function");
  const query = preparable(node.query, names);
  return (frame) =>
    after(query.prepare(frame), (ready) =>
      after(runReady(ready, frame), ({ columns, rows, count }) => {
        checkColumns(columns, frame.shape);
        for (const row of rows) frame.addRow(converted(row, columns, frame, compiler));
        frame.rowCount = count;
        frame.values[compiler.found.slot] = rows.length > 0;
        return NORMAL;
      }),
    );
}

const rowTypes = (shape: SqlType) => shape.fields?.map(({ type }) => type) ?? [shape];

function converted(row: readonly Value[], columns: readonly Column[], frame: Frame, { conversions }: Compiler) {
  const types = rowTypes(frame.shape);
  if (types.every((type, i) => type === columns[i]!.type)) return row;
  return types.map((type, i) => conversions.convert(row[i]!, columns[i]!.type, type, frame));
}

/** Throws 42804 as PostgreSQL does: types have to be the same but for their modifiers. */
function checkColumns(columns: readonly Column[], shape: SqlType): void {
  const types = rowTypes(shape);
  const message = "structure of query does not match function result type";
  if (columns.length !== types.length) {
    const detail = `Number of returned columns (${columns.length}) does not match expected column count (${types.length}).`;
    throw sqlError("42804", message, { detail });
  }
  types.forEach((type, i) => {
    const given = columns[i]!.type;
    if (given === type || type === VOID || sameButModifier(given, type)) return;
    const detail = `Returned type ${displayName(given)} does not match expected type ${displayName(type)} in column ${i + 1}.`;
    throw sqlError("42804", message, { detail });
  });
}

function sameButModifier(a: SqlType, b: SqlType): boolean {
  if (a.element !== null && b.element !== null) return sameButModifier(a.element, b.element);
  return a.name === b.name && (a.name !== "enum" || a.user?.id === b.user?.id);
}
