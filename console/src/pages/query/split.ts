/** Finds the statements in a text, and the parameters in a statement. Pure. */

export type Language = "sql" | "cypher";

export interface Statement {
  readonly text: string;
  /** Place of its first character. */
  readonly from: number;
  readonly to: number;
}

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly kind: "code" | "quoted" | "end";
}

/** Quoted texts and comments, semicolons, and single characters of code. */
function* piecesOf(text: string, language: Language): Generator<Piece> {
  for (let at = 0; at < text.length; ) {
    const end = endOfQuoted(text, at, language);
    if (end > at) yield { from: at, to: end, kind: "quoted" };
    else yield { from: at, to: at + 1, kind: text[at] === ";" ? "end" : "code" };
    at = Math.max(end, at + 1);
  }
}

/** Where the quoted text or comment that begins there ends; the same place if none begins. */
function endOfQuoted(text: string, at: number, language: Language): number {
  const after = (mark: string, from: number): number => {
    const found = text.indexOf(mark, from);
    return found < 0 ? text.length : found + mark.length;
  };
  const letter = text[at]!;
  const pair = text.slice(at, at + 2);
  if (pair === "/*") return language === "sql" ? endOfComment(text, at) : after("*/", at + 2);
  if (pair === "--" && language === "sql") return after("\n", at + 2);
  if (pair === "//" && language === "cypher") return after("\n", at + 2);
  if (letter === "`" && language === "cypher") return after("`", at + 1);
  if (letter === "'" || letter === '"') return endOfString(text, at, letter, language);
  if (letter === "$" && language === "sql") {
    const tag = /^\$(?:[A-Za-z_]\w*)?\$/.exec(text.slice(at, at + 66))?.[0];
    if (tag !== undefined) return after(tag, at + tag.length);
  }
  return at;
}

/** Comments of SQL nest. */
function endOfComment(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const pair = text.slice(i, i + 2);
    if (pair === "/*") depth++;
    else if (pair === "*/") depth--;
    else continue;
    i++;
    if (depth === 0) return i + 1;
  }
  return text.length;
}

function endOfString(text: string, at: number, quote: string, language: Language): number {
  const hasEscapes = language === "cypher" || (quote === "'" && /(?:^|[^\w$])[eE]$/.test(text.slice(0, at).slice(-2)));
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === "\\" && hasEscapes) i++;
    else if (text[i] === quote) return i + 1;
  }
  return text.length;
}

export function statementsOf(text: string, language: Language): readonly Statement[] {
  const found: Statement[] = [];
  let from = 0;
  let hasCode = false;
  const end = (to: number): void => {
    const raw = text.slice(from, to);
    const begin = from + raw.length - raw.trimStart().length;
    if (hasCode) found.push({ from: begin, to: from + raw.trimEnd().length, text: raw.trim() });
    hasCode = false;
  };
  for (const piece of piecesOf(text, language)) {
    if (piece.kind === "end") {
      end(piece.from);
      from = piece.to;
    } else if (piece.kind === "code") hasCode ||= text[piece.from]!.trim() !== "";
    else hasCode ||= /^['"`$]/.test(text[piece.from]!);
  }
  end(text.length);
  return found;
}

/** The statement that the cursor is in, or the one before it. */
export function statementAt(text: string, place: number, language: Language): Statement | undefined {
  const all = statementsOf(text, language);
  return all.find(({ to }) => place <= to + 1) ?? all.at(-1);
}

/** The names of a statement's parameters: "1", "2" … in SQL, names in Cypher. */
export function parametersOf(text: string, language: Language): readonly string[] {
  let code = "";
  for (const piece of piecesOf(text, language)) code += piece.kind === "code" ? text.slice(piece.from, piece.to) : " ";
  const pattern = language === "sql" ? /(?<![\w$])\$(\d+)/g : /\$(\w+)/g;
  const names = [...new Set([...code.matchAll(pattern)].map(([, name]) => name!))];
  return language === "sql" ? names.sort((a, b) => Number(a) - Number(b)) : names;
}

/** The value that somebody has typed: JSON, or else the text itself. */
export function typedValue(typed: string): unknown {
  const text = typed.trim();
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return typed;
  }
}
