/** Geometric values in PostgreSQL's binary format (src/backend/utils/adt/geo_ops.c of PostgreSQL 15). */
import { sqlError } from "../../protocol/errors.js";
import type { MessageFields } from "../../protocol/postgres/message-reader.js";
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import type { SqlType } from "../../values/values.js";
import type { ValueWriter } from "./text-values.js";

/** How many numbers a value consists of. */
const NUMBERS = { point: 2, lseg: 4, box: 4, line: 3, circle: 3 } as const;
type FixedType = keyof typeof NUMBERS;

const fixed: ValueWriter = (writer, value) => writeAll(writer, numbersIn(value as string));

export const GEOMETRIC_WRITERS: Readonly<Record<FixedType | "path" | "polygon", ValueWriter>> = {
  point: fixed,
  lseg: fixed,
  box: fixed,
  line: fixed,
  circle: fixed,
  path: (writer, value) => {
    writer.byte((value as string).startsWith("[") ? 0 : 1);
    writePoints(writer, value as string);
  },
  polygon: (writer, value) => writePoints(writer, value as string),
};

function numbersIn(text: string): number[] {
  return (text.match(/[-+]?(?:Infinity|NaN|\d[\d.]*(?:e[-+]?\d+)?)/gi) ?? []).map(Number);
}

function writePoints(writer: MessageWriter, text: string): void {
  const numbers = numbersIn(text);
  writer.int32(numbers.length / 2);
  writeAll(writer, numbers);
}

function writeAll(writer: MessageWriter, numbers: readonly number[]): void {
  for (const number of numbers) writer.float64(number);
}

/** The value's text; null for another type. Throws 22P03. */
export function geometricText({ name }: SqlType, fields: MessageFields): string | null {
  if (name === "path") {
    const [open, close] = fields.byte() === 0 ? "[]" : "()";
    return `${open}${readPoints(name, fields)}${close}`;
  }
  if (name === "polygon") return `(${readPoints(name, fields)})`;
  if (!Object.hasOwn(NUMBERS, name)) return null;
  const [a, b, c, d] = Array.from({ length: NUMBERS[name as FixedType] }, () => fields.float64());
  if (name === "point") return `(${a},${b})`;
  if (name === "line") return `{${a},${b},${c}}`;
  if (name === "circle") return `<(${a},${b}),${c}>`;
  return name === "lseg" ? `[(${a},${b}),(${c},${d})]` : `(${a},${b}),(${c},${d})`;
}

const POINT_BYTES = 16;

function readPoints(name: string, fields: MessageFields): string {
  const length = fields.int32();
  if (length <= 0 || length > fields.left / POINT_BYTES) {
    throw sqlError("22P03", `invalid number of points in external "${name}" value`);
  }
  return Array.from({ length }, () => `(${fields.float64()},${fields.float64()})`).join(",");
}
