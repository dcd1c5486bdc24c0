/** Cuts the text of a Query message into its statements. */
import { ScriptReader } from "../../sql/script/script-reader.js";
import { characterCount } from "../../values/text-format.js";

export interface SentStatement {
  readonly sql: string;
  /** Characters before it in the text. */
  readonly start: number;
}

/** Nothing but white space, semicolons and comments. */
export const BLANK = /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*$/;

/**
 * Statements without their semicolons; none of white space and comments alone. Each is looked for when it is asked for:
 * a text may be long. Where a quote is open, what is left is the last one: the parser says what is wrong with it.
 */
export function* statementsIn(text: string): Generator<SentStatement, undefined> {
  const first = text.indexOf(";");
  // Most texts are one statement.
  if (first < 0 || text.slice(first + 1).trim() === "") {
    const sql = first < 0 ? text : text.slice(0, first);
    if (!BLANK.test(sql)) yield { sql, start: 0 };
    return;
  }
  const reader = new ScriptReader(false);
  reader.push(text);
  let from = 0;
  let start = 0;
  for (;;) {
    const found = nextOf(reader);
    if (found === null) return;
    const sql = found === OPEN ? text.slice(from).replace(/^;/, "") : found;
    const at = text.indexOf(sql, from);
    start += characterCount(text.slice(from, at));
    if (!BLANK.test(sql)) yield { sql, start };
    if (found === OPEN) return;
    start += characterCount(sql);
    from = at + sql.length;
  }
}

/** A quote is open. */
const OPEN = Symbol("open");

/** Null: there are no more. */
function nextOf(reader: ScriptReader): string | typeof OPEN | null {
  try {
    const part = reader.next(true);
    return part?.kind === "statement" ? part.text : null;
  } catch {
    return OPEN;
  }
}
