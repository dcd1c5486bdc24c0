/** The types whose fields in a file are read straight from bytes (field-readers.ts), for bulk-insert.ts. */
import { numericModifier } from "../../values/text-format.js";
import type { SqlType } from "../../values/values.js";
import { SCALE_READ_MAX } from "./field-readers.js";

export enum Form {
  Other = 0,
  Integer = 1,
  Float8 = 2,
  Bool = 3,
  Text = 4,
  Timestamp = 5,
  TimestampTz = 6,
  Date = 7,
  Numeric = 8,
  Uuid = 9,
}

/** Forms whose values are numbers, and integral. */
export const INTEGERS: Readonly<Partial<Record<Form, boolean>>> = {
  [Form.Integer]: true,
  [Form.Timestamp]: true,
  [Form.TimestampTz]: true,
  [Form.Date]: true,
};

export function formOf({ name, modifier }: SqlType): Form {
  switch (name) {
    case "float8":
      return Form.Float8;
    case "bool":
      return Form.Bool;
    case "text":
    case "varchar":
      return Form.Text;
    // With a modifier, fractions of seconds are rounded.
    case "timestamp":
      return modifier === null ? Form.Timestamp : Form.Other;
    case "timestamptz":
      return modifier === null ? Form.TimestampTz : Form.Other;
    case "date":
      return Form.Date;
    case "numeric": {
      const scale = modifier === null ? 0 : numericModifier(modifier).scale;
      return scale >= 0 && scale <= SCALE_READ_MAX ? Form.Numeric : Form.Other;
    }
    case "uuid":
      return Form.Uuid;
    default:
      return Form.Other;
  }
}
