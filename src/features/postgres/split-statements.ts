/** Cuts the text of a Query message into its statements. */
import { ScriptReader } from "../../sql/script/script-reader.js";

export interface SentStatement {
  readonly sql: string;
  /** Characters before it in the text. */
  readonly start: number;
}

/** Nothing but white space and comments. */
const BLANK = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*$/;

/** Statements without their semicolons; none of white space and comments alone. Throws 42601 where a quote is open. */
export function splitStatements(text: string): readonly SentStatement[] {
  const first = text.indexOf(";");
  // Most texts are one statement.
  if (first < 0 || text.slice(first + 1).trim() === "") {
    const sql = first < 0 ? text : text.slice(0, first);
    return BLANK.test(sql) ? [] : [{ sql, start: 0 }];
  }
  const reader = new ScriptReader(false);
  reader.push(text);
  const statements: SentStatement[] = [];
  let from = 0;
  for (;;) {
    const part = nextOf(reader, text.slice(from).replace(/^;/, ""));
    if (part === null) return statements;
    const at = text.indexOf(part.text, from);
    from = at + part.text.length;
    if (!BLANK.test(part.text)) statements.push({ sql: part.text, start: [...text.slice(0, at)].length });
    if (part.isLast) return statements;
  }
}

interface Part {
  readonly text: string;
  readonly isLast?: true;
}

/** Null at the end. Where a quote is open, `rest` is the last statement: the parser says what is wrong with it. */
function nextOf(reader: ScriptReader, rest: string): Part | null {
  try {
    return reader.next(true) as Part | null;
  } catch {
    return { text: rest, isLast: true };
  }
}
