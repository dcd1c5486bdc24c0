/** Rows as RECORD messages. */
import { TELL } from "../../protocol/bolt/message-tags.js";
import type { PackWriter } from "../../protocol/bolt/pack-writer.js";
import type { Batch } from "../../query/expr/expr.js";
import { toVariant } from "../../query/expr/variant-cast.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import type { Value } from "../../values/values.js";
import type { Variant } from "../../values/variant.js";
import { type Dialect, writeVariant } from "./value-writer.js";

export type WriteRow = (writer: PackWriter, columns: Batch["columns"], row: number) => void;

/** For rows with these columns. */
export function rowWriter(outputs: readonly OutputColumn[], dialect: Dialect): WriteRow {
  const converters = outputs.map(({ type }) => toVariant(type) ?? String);
  const { length } = converters;
  return (writer, columns, row) => {
    writer.begin(TELL.record, 1);
    writer.list(length);
    for (let c = 0; c < length; c++) {
      const value = columns[c]![row] as Value;
      if (value === null) writer.null();
      else writeVariant(writer, converters[c]!(value) as Variant, dialect);
    }
    writer.end();
  };
}
