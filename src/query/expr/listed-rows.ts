/**
 * The rows of a long INSERT's VALUES, which stay in the statement's text until it runs: session/long-insert.ts finds
 * where each value stands, and this function reads them while rows are asked for.
 */
import { DbError } from "../../protocol/errors.js";
import { fromText } from "../../values/text-format.js";
import { BOOL, RECORD, type SqlType, type Value } from "../../values/values.js";
import type { EvalContext } from "./expr.js";
import type { ListedColumn, ListedRows } from "./listed-places.js";
import type { TableFunction, TableRows } from "./table-function.js";

/** Its rows have a field of the given type per column that is not all DEFAULT. */
export const LISTED_ROWS: TableFunction = Object.freeze({
  name: "values",
  args: [],
  returns: RECORD,
  strict: false,
  open: (context: EvalContext, _args: readonly Value[], shape: SqlType) => {
    const { listed } = context;
    if (listed == null) throw new DbError("internal_error", "The statement's rows are missing.");
    return new ListedReader(listed, shape, context);
  },
});

/** Characters of values that are read at a stretch. */
const CHARACTERS_AT_ONCE = 64 * 1024;

class ListedReader implements TableRows {
  private row = 0;
  private readonly places: readonly number[];
  private readonly types: readonly SqlType[];

  constructor(
    private readonly listed: ListedRows,
    shape: SqlType,
    private readonly context: EvalContext,
  ) {
    this.types = shape.fields!.map(({ type }) => type);
    this.places = listed.columns.flatMap(({ kind }, place) => (kind === "default" ? [] : [place]));
  }

  next(out: readonly Value[][], at: number, max: number): number {
    const { listed, places, types } = this;
    const width = listed.columns.length;
    const from = this.row;
    const last = Math.min(listed.count, from + max);
    for (let left = CHARACTERS_AT_ONCE; this.row < last && left > 0; this.row++) {
      const cell = this.row * width;
      for (let i = 0; i < places.length; i++) {
        out[i]![at + this.row - from] = this.value(cell + places[i]!, listed.columns[places[i]!]!, types[i]!);
      }
      left -= listed.ends[cell + width - 1]! - listed.starts[cell]!;
    }
    return this.row - from;
  }

  private value(cell: number, { kind, first, step }: ListedColumn, type: SqlType): Value {
    if (kind === "parameter") return this.context.params[first + this.row * step]!;
    const { text, starts, ends } = this.listed;
    const [start, end] = [starts[cell]!, ends[cell]!];
    return constantOf(text.slice(start, end), type);
  }
}

/** A constant as it is written: a string in quotes, a number, NULL, TRUE or FALSE. */
function constantOf(word: string, type: SqlType): Value {
  switch (word[0]) {
    case "'": {
      const inside = word.slice(1, -1);
      return inside.includes("'") ? inside.replaceAll("''", "'") : inside;
    }
    case "n":
    case "N":
      return null;
    case "t":
    case "T":
      return true;
    case "f":
    case "F":
      return false;
  }
  if (type === BOOL) return Number(word) === 1;
  return type.name === "int4" ? Number(word) : fromText(type, word);
}
