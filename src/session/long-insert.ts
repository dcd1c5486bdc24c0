/**
 * Reads an INSERT whose list of rows is long: the rows stay where they are, as places in the text, and a short
 * statement with one row of placeholders goes to the grammar, which would need a millisecond for each 10 KB. The
 * session asks for it (long-statements.ts).
 */
import type { Turns } from "../protocol/turns.js";
import type { ListedColumn, ListedKind, ListedRows } from "../query/expr/listed-places.js";
import { numberConstant } from "../sql/bind/number-constant.js";
import { CONSTANT, endOfString, SPACE } from "../sql/parse/constants.js";
import { isWord, skipBlank, tokenize } from "../sql/parse/tokens.js";

export interface LongInsert {
  /** The statement with `($1, $2, …)` in place of its rows; the parameters of the client are in the rows alone. */
  readonly sql: string;
  readonly rows: ListedRows;
  /** UTF-16 indexes: behind the placeholders in `sql`, and what the list of rows was in the text. */
  readonly cut: { readonly at: number; readonly from: number; readonly to: number };
}

/** What comes before the rows is no longer than this. */
const HEAD_CHARACTERS_MAX = 16 * 1024;
/** Cells that are read at a stretch. */
const CELLS_AT_ONCE = 4096;

/**
 * Null: it is another statement, or one of its values is more than a constant, a parameter or DEFAULT. Numbers that
 * take long to read and comments between the rows are left to the grammar, too.
 */
export async function readLongInsert(text: string, turns: Turns): Promise<LongInsert | null> {
  const from = beginningOfRows(text);
  if (from === null) return null;
  const reader = new RowsReader(text, from);
  while (!reader.isDone) {
    if (!reader.read(CELLS_AT_ONCE)) return null;
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  const rows = reader.rows();
  if (rows === null || text.includes("\0")) return null;
  const short = `(${rows.columns.map((_, i) => `$${i + 1}`).join(", ")})`;
  const at = from + short.length;
  const sql = text.slice(0, from) + short + text.slice(reader.end);
  return { sql, rows, cut: { at, from, to: reader.end } };
}

/** Behind VALUES. Null: the text does not begin with INSERT INTO … VALUES. */
function beginningOfRows(text: string): number | null {
  if (!/^(?:\s|--|\/\*|insert\b)/i.test(text)) return null;
  const tokens = tokenize(text.slice(0, HEAD_CHARACTERS_MAX));
  if (!isWord(tokens[0], "insert") || !isWord(tokens[1], "into")) return null;
  const values = tokens.find((token) => isWord(token, "values") && token.depth === 0);
  const before = tokens.find(({ kind }) => kind === "parameter");
  if (values === undefined || (before !== undefined && before.start < values.start)) return null;
  return skipBlank(text, values.end);
}

/** What is known of a column so far. */
class Column {
  hasNulls = false;
  hasStrings = false;
  hasBooleans = false;
  defaults = 0;
  parameters = 0;
  first = 0;
  step = 0;
  isZeroOrOne = true;
  /** The widest type of its numbers. */
  number: ListedKind | null = null;

  noteNumber(text: string): void {
    if (text !== "0" && text !== "1") this.isZeroOrOne = false;
    // Up to nine digits: the usual case, and never beyond int4.
    const name = /^-?\d{1,9}$/.test(text) ? "int4" : (numberConstant(text).type.name as ListedKind);
    if (this.number === null || WIDTHS.indexOf(name) > WIDTHS.indexOf(this.number)) this.number = name;
  }

  /** False: the numbers do not go up evenly. */
  noteParameter(index: number, row: number): boolean {
    this.parameters++;
    if (row === 0) this.first = index;
    else if (row === 1) this.step = index - this.first;
    return index === this.first + row * this.step;
  }

  /** Null: it has values that have nothing in common. */
  listed(rows: number): ListedColumn | null {
    const { hasNulls, hasStrings, hasBooleans, number, isZeroOrOne, first, step } = this;
    const hasConstants = hasNulls || hasStrings || hasBooleans || number !== null;
    const common = { hasNulls, isZeroOrOne: isZeroOrOne && number !== null, first, step };
    if (this.parameters > 0) {
      return this.parameters === rows ? { ...common, hasNulls: true, kind: "parameter" } : null;
    }
    if (this.defaults > 0) return this.defaults === rows && !hasConstants ? { ...common, kind: "default" } : null;
    if (Number(hasStrings) + Number(hasBooleans) + Number(number !== null) > 1) return null;
    return { ...common, kind: hasBooleans ? "bool" : (number ?? "text") };
  }
}

const WIDTHS: readonly ListedKind[] = ["int4", "int8", "numeric"];

class RowsReader {
  /** UTF-16 index, when it is done. */
  end = 0;
  isDone = false;
  private at: number;
  private readonly columns: Column[] = [];
  private starts = new Uint32Array(1024);
  private ends = new Uint32Array(1024);
  private cells = 0;
  /** The place of the next value in its row; -1: the row is not open yet. */
  private place = -1;
  private row = 0;

  constructor(
    private readonly text: string,
    from: number,
  ) {
    this.at = from;
  }

  /** Reads further. False: there is something that is not read here. */
  read(cells: number): boolean {
    for (let left = cells; left > 0 && !this.isDone; left--) {
      if (this.place < 0 && !this.openRow()) return false;
      if (!this.cell() || !this.afterCell()) return false;
    }
    return true;
  }

  /** Null: a column has values that have nothing in common. */
  rows(): ListedRows | null {
    const columns = this.columns.map((column) => column.listed(this.row));
    if (columns.some((column) => column === null) || columns.every((column) => column!.kind === "default")) return null;
    const known = columns as ListedColumn[];
    const { text, starts, ends, row: count } = this;
    const key = `${JSON.stringify(known)}${known.some(({ kind }) => kind === "parameter") ? count : ""}`;
    return {
      text,
      starts: starts.subarray(0, this.cells),
      ends: ends.subarray(0, this.cells),
      count,
      columns: known,
      key,
    };
  }

  private openRow(): boolean {
    if (this.text[this.at] !== "(") return false;
    this.at++;
    this.place = 0;
    return true;
  }

  private cell(): boolean {
    this.skipSpace();
    const { text, at: start } = this;
    const column = this.columnAt(this.place);
    if (column === null) return false;
    if (text[start] === "'") {
      column.hasStrings = true;
      this.at = endOfString(text, start);
      if (this.at < 0) return false;
    } else {
      CONSTANT.lastIndex = start;
      const found = CONSTANT.exec(text);
      if (found === null) return false;
      this.at = CONSTANT.lastIndex;
      if (!this.note(column, found.groups as Found)) return false;
    }
    this.keep(start, this.at);
    return true;
  }

  private note(column: Column, { number, word, parameter }: Found): boolean {
    if (number !== undefined) column.noteNumber(number);
    else if (parameter !== undefined) return column.noteParameter(Number(parameter) - 1, this.row);
    else {
      const name = word!.toLowerCase();
      if (name === "null") column.hasNulls = true;
      else if (name === "default") column.defaults++;
      else column.hasBooleans = true;
    }
    return true;
  }

  /** A comma or the end of the row; behind that, a comma or the end of the rows. */
  private afterCell(): boolean {
    this.skipSpace();
    const { text } = this;
    this.place++;
    const sign = text[this.at++];
    if (sign === ",") return true;
    if (sign !== ")" || this.place !== this.columns.length) return false;
    this.row++;
    this.place = -1;
    this.end = this.at;
    this.skipSpace();
    if (text[this.at] === ",") {
      this.at++;
      this.skipSpace();
      return true;
    }
    this.isDone = true;
    return true;
  }

  /** Null: the row is longer than the first one. */
  private columnAt(place: number): Column | null {
    if (place < this.columns.length) return this.columns[place]!;
    if (this.row > 0) return null;
    const column = new Column();
    this.columns.push(column);
    return column;
  }

  private keep(start: number, end: number): void {
    if (this.cells === this.starts.length) {
      this.starts = grown(this.starts);
      this.ends = grown(this.ends);
    }
    this.starts[this.cells] = start;
    this.ends[this.cells++] = end;
  }

  private skipSpace(): void {
    SPACE.lastIndex = this.at;
    SPACE.test(this.text);
    this.at = SPACE.lastIndex;
  }
}

interface Found {
  readonly number?: string;
  readonly word?: string;
  readonly parameter?: string;
}

function grown(list: Uint32Array): Uint32Array<ArrayBuffer> {
  const next = new Uint32Array(list.length * 2);
  next.set(list);
  return next;
}
