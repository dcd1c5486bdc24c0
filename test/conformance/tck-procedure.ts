/**
 * A procedure of the TCK: a signature, and a table whose first columns are the inputs and whose others are the outputs.
 */
import { type Procedure, tableProcedure } from "../../src/cypher/bind/procedure.js";
import { ANY, FLOAT, INTEGER, NUMBER, STRING, type StaticType } from "../../src/cypher/bind/static-type.js";
import { recordRows, tableFn } from "../../src/query/expr/table-function.js";
import { recordOf, VARIANT } from "../../src/values/values.js";
import type { Variant } from "../../src/values/variant.js";
import { variantFromJson } from "../../src/values/variant-format.js";

export interface ProcedureTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

const TYPES: Readonly<Record<string, StaticType>> = { INTEGER, FLOAT, NUMBER, STRING };

/** `name :: TYPE?, …` */
function fieldsOf(text: string) {
  return text
    .split(",")
    .filter((field) => field.trim() !== "")
    .map((field) => {
      const [name, type] = field.split("::").map((part) => part.trim().replace("?", ""));
      return { name: name!, type: TYPES[type!] ?? ANY };
    });
}

export function tckProcedure(signature: string, { columns, rows }: ProcedureTable): Procedure {
  const [, name, taken, given] = /^([\w.]+)\((.*?)\)\s*::\s*\((.*)\)/.exec(signature)!;
  const inputs = fieldsOf(taken!).map((field) => ({ ...field, optional: false }));
  const outputs = fieldsOf(given!);
  const place = ({ name }: { readonly name: string }) => columns.indexOf(name);
  const table = rows.map((row) => row.map(variantFromJson));
  const answer = (args: readonly Variant[]) =>
    table
      .filter((row) =>
        inputs.every((input, i) => Number(row[place(input)]) === Number(args[i]) || row[place(input)] === args[i]),
      )
      .map((row) => outputs.map((output) => row[place(output)]!));
  const shape =
    outputs.length === 1 ? VARIANT : recordOf(outputs.map((output) => ({ name: output.name, type: VARIANT })));
  const fn = tableFn(
    name!,
    inputs.map(() => VARIANT),
    shape,
    (...args) => recordRows(answer(args)),
    { strict: false },
  );
  return tableProcedure({ name: name!, description: "Rows of a scenario.", inputs, outputs }, fn);
}
