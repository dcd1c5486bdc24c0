/**
 * The statements of a script as it arrives: cut at the semicolons that end them, as psql does. Quotes, dollar quotes,
 * comments, parentheses and bodies of BEGIN ATOMIC are looked through no further than to find their ends. Rows that
 * follow COPY … FROM stdin come one by one. One per script; the route of scripts drives it.
 */
import { sqlError } from "../../protocol/errors.js";

export type ScriptPart =
  /** Without its semicolon; the text begins on that line. */
  | { readonly kind: "statement"; readonly text: string; readonly line: number }
  /** A command of psql or of cypher-shell: `\connect shop`, `:begin`. */
  | { readonly kind: "command"; readonly text: string; readonly line: number }
  /** A row of the COPY before it, in PostgreSQL's text format. */
  | { readonly kind: "row"; readonly text: string; readonly line: number }
  | { readonly kind: "end of rows"; readonly line: number };

/** Longer statements are refused. */
const STATEMENT_CHARACTERS_MAX = 16 * 1024 * 1024;
/** A token that ends so near to what has arrived may go on in what has not: tags of dollar quotes are the longest. */
const TOKEN_CHARACTERS_MAX = 130;

/** What may end a statement, or keep a semicolon from doing so. */
const TURN_IN_SQL =
  /['"();\\]|--|\/\*|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|\b(?:begin\s+atomic|case|end)\b/gi;
/** The same in Cypher: names have backquotes, and no text is between dollars. */
const TURN_IN_CYPHER = /['"`();]|\/\/|\/\*/g;
/** Of Cypher, as far as the beginning shows it: in its texts a backslash keeps what follows from ending them. */
const CYPHER =
  /^(?:match|optional|unwind|return|detach|foreach|when\b|use\s|(?:merge|create|call)\s*[({]|create\s+(?:constraint\s+(?!trigger)|(?:range|btree|text|point|fulltext|vector|lookup)\s+index)|drop\s+constraint)/i;
/** So much of a statement tells which language it is in. */
const TELLING_CHARACTERS = 64;
/** What a shell of Neo4j reads as a line of its own: `:begin`, and before version 4 `begin` and `schema await`. */
const SHELL_LINE = /^(?::[a-z][^\n]*|begin|commit|rollback|schema await)[ \t\r]*(?:\n|$)/;
/** What makes BEGIN or COMMIT a statement of SQL with further lines. */
const GOES_ON = /^\s*(?:;|(?:transaction|work|isolation|read|not|deferrable|and|prepared|to)\b)/i;
const WORD_BEFORE = /[\w$\u0080-\uffff]$/;
const COPY_FROM_STDIN = /^copy\s[^;]*\sfrom\s+stdin\b/i;

export class ScriptReader {
  private text = "";
  /** How far the statement was looked through. */
  private at = 0;
  /**
   * The text that ends the construct around `at`: a quote, the end of a comment; null: `at` is in the statement itself.
   */
  private closing: string | null = null;
  private escapes = false;
  private commentDepth = 0;
  private parentheses = 0;
  /** BEGIN ATOMIC and CASE that were not ended. */
  private blocks = 0;
  /** Nothing of the statement was looked at. */
  private isFresh = true;
  private isCypher = false;
  private line = 1;
  private inRows = false;

  /** `isOfPsql`: commands of psql and rows after COPY … FROM stdin may come between statements. */
  constructor(private readonly isOfPsql = true) {}

  push(piece: string): void {
    this.text += piece;
  }

  /** The next part, or null when its end has not arrived. Throws 54000, 42601. */
  next(isEnd: boolean): ScriptPart | null {
    if (this.inRows) return this.nextRow(isEnd);
    const begun = this.isFresh ? this.begin(isEnd) : null;
    const end = begun === "later" ? null : (begun ?? this.findEnd(isEnd));
    if (end === null) {
      if (this.text.length > STATEMENT_CHARACTERS_MAX) throw tooLong(this.line);
      if (!isEnd) return null;
      return this.lastStatement();
    }
    const { text, line } = this.take(end.to);
    if (end.isCommand) return { kind: "command", text: text.trim(), line };
    const statement = text.slice(0, -1);
    if (this.isOfPsql && COPY_FROM_STDIN.test(statement.trim())) {
      this.inRows = true;
      this.skipRestOfLine();
    }
    return statement.trim() === "" ? this.next(isEnd) : { kind: "statement", text: statement, line };
  }

  /** The end of a line for a shell of Neo4j; "later": more has to arrive to tell; null: a statement begins. */
  private begin(isEnd: boolean): { readonly to: number; readonly isCommand: boolean } | "later" | null {
    const start = startOf(this.text);
    const text = this.text.slice(start);
    if (!isEnd && (text.length < TELLING_CHARACTERS || text.startsWith("/*"))) return "later";
    const line = this.isOfPsql ? SHELL_LINE.exec(text)?.[0] : undefined;
    const isWhole = isEnd || (line === undefined ? !text.startsWith(":") || text.includes("\n") : line.endsWith("\n"));
    const after = text.slice(line?.length ?? 0);
    if (!isWhole || !(isEnd || /\S/.test(after))) return "later";
    if (line !== undefined && (line.startsWith(":") || !GOES_ON.test(after))) {
      return { to: start + line.length, isCommand: true };
    }
    this.isFresh = false;
    this.isCypher = CYPHER.test(text);
    return null;
  }

  private lastStatement(): ScriptPart | null {
    if (this.closing !== null && this.closing !== "\n") {
      const what = this.closing === "*/" ? "comment" : "quote";
      const line = this.line + linesIn(this.text.slice(0, startOf(this.text)));
      throw sqlError("42601", `the ${what} in the statement that begins on line ${line} is not closed`, { line });
    }
    const { text, line } = this.take(this.text.length);
    return text.trim() === "" ? null : { kind: "statement", text, line };
  }

  /** Takes the given amount of text off, without what precedes its first word, and returns the line of that word. */
  private take(to: number): { readonly text: string; readonly line: number } {
    const whole = this.text.slice(0, to);
    const start = startOf(whole);
    const line = this.line + linesIn(whole.slice(0, start));
    this.line += linesIn(whole);
    this.text = this.text.slice(to);
    this.at = 0;
    this.isFresh = true;
    this.parentheses = 0;
    this.blocks = 0;
    return { text: whole.slice(start), line };
  }

  private findEnd(isEnd: boolean): { readonly to: number; readonly isCommand: boolean } | null {
    for (;;) {
      if (this.closing !== null && !this.close(isEnd)) return null;
      const turn = this.isCypher ? TURN_IN_CYPHER : TURN_IN_SQL;
      turn.lastIndex = this.at;
      const found = turn.exec(this.text);
      const safe = isEnd ? this.text.length : this.text.length - TOKEN_CHARACTERS_MAX;
      if (found === null || found.index >= safe) {
        // Words may be cut at the end of what has arrived.
        this.at = Math.max(this.at, Math.min(found?.index ?? safe, safe));
        return null;
      }
      const [token] = found;
      if (token === "\\" && this.isOfPsql && this.isBlankBefore(found.index)) {
        const lineEnd = this.text.indexOf("\n", found.index);
        if (lineEnd === -1 && !isEnd) return null;
        return { to: lineEnd === -1 ? this.text.length : lineEnd + 1, isCommand: true };
      }
      this.at = found.index + token.length;
      if (token === ";" && this.parentheses === 0 && this.blocks === 0) return { to: this.at, isCommand: false };
      this.enter(token, found.index);
    }
  }

  private isBlankBefore(index: number): boolean {
    return startOf(this.text.slice(0, index)) === index;
  }

  private enter(token: string, index: number): void {
    switch (token) {
      case "'":
        this.closing = "'";
        this.escapes = this.isCypher || /(?:^|[^\w$])e$/i.test(this.text.slice(Math.max(0, index - 2), index));
        return;
      case '"':
      case "`":
        this.closing = token;
        this.escapes = this.isCypher && token === '"';
        return;
      case "//":
      case "--":
        this.closing = "\n";
        return;
      case "/*":
        this.closing = "*/";
        this.commentDepth = 1;
        return;
      case "(":
        this.parentheses++;
        return;
      case ")":
        this.parentheses = Math.max(0, this.parentheses - 1);
        return;
      case ";":
      case "\\":
        return;
      default:
        if (token.startsWith("$")) {
          const before = this.text.slice(Math.max(0, index - 1), index);
          if (!WORD_BEFORE.test(before)) this.closing = token;
        } else this.word(token.toLowerCase());
    }
  }

  private word(word: string): void {
    if (word.startsWith("begin")) this.blocks++;
    else if (this.blocks === 0) return;
    else if (word === "case") this.blocks++;
    else this.blocks--;
  }

  /** Goes behind what closes the quote or comment; false when that has not arrived. */
  private close(isEnd: boolean): boolean {
    if (this.closing === "*/") return this.closeComment();
    const closing = this.closing!;
    for (;;) {
      const found = this.text.indexOf(closing, this.at);
      if (this.escapes) {
        const backslash = this.text.indexOf("\\", this.at);
        if (backslash !== -1 && (found === -1 || backslash < found)) {
          if (backslash + 2 > this.text.length) return false;
          this.at = backslash + 2;
          continue;
        }
      }
      if (found === -1) {
        this.at = Math.max(this.at, this.text.length - (closing.length - 1));
        if (closing === "\n" && isEnd) this.closing = null;
        return this.closing === null;
      }
      this.at = found + closing.length;
      if (closing === "'" || closing === '"' || closing === "`") {
        // A doubled quote stands for itself; whether it is doubled may not have arrived.
        if (this.at === this.text.length && !isEnd) {
          this.at = found;
          return false;
        }
        if (this.text[this.at] === closing) {
          this.at++;
          continue;
        }
      }
      this.closing = null;
      return true;
    }
  }

  /** Comments nest. */
  private closeComment(): boolean {
    const mark = /\/\*|\*\//g;
    for (;;) {
      mark.lastIndex = this.at;
      const found = mark.exec(this.text);
      if (found === null) {
        this.at = Math.max(this.at, this.text.length - 1);
        return false;
      }
      this.at = found.index + 2;
      this.commentDepth += found[0] === "/*" ? 1 : -1;
      if (this.commentDepth > 0) continue;
      this.closing = null;
      return true;
    }
  }

  private skipRestOfLine(): void {
    const end = this.text.indexOf("\n");
    if (end === -1) return;
    this.text = this.text.slice(end + 1);
    this.line++;
  }

  private nextRow(isEnd: boolean): ScriptPart | null {
    const end = this.text.indexOf("\n");
    if (end === -1 && !isEnd) {
      if (this.text.length > STATEMENT_CHARACTERS_MAX) throw tooLong(this.line);
      return null;
    }
    const { line } = this;
    if (end === -1 && this.text.trim() !== "\\.") {
      throw sqlError("42601", "the rows of COPY do not end: a line with \\. alone is missing", { line });
    }
    const text = this.text.slice(0, end === -1 ? undefined : end).replace(/\r$/, "");
    this.text = end === -1 ? "" : this.text.slice(end + 1);
    this.line++;
    if (text !== "\\.") return { kind: "row", text, line };
    this.inRows = false;
    return { kind: "end of rows", line };
  }
}

function tooLong(line: number): Error {
  return sqlError(
    "54000",
    `the statement that begins on line ${line} is longer than ${STATEMENT_CHARACTERS_MAX} characters`,
    {
      line,
      hint: "Is a quote not closed?",
    },
  );
}

/**
 * Where the first word stands: behind blanks and comments, which are closed. Cypher's comments count: no statement
 * begins with them.
 */
function startOf(text: string): number {
  const blank = /\s*/y;
  const mark = /\/\*|\*\//g;
  for (let at = 0; ; ) {
    blank.lastIndex = at;
    blank.test(text);
    at = blank.lastIndex;
    if (text.startsWith("--", at) || text.startsWith("//", at)) {
      const end = text.indexOf("\n", at);
      if (end === -1) return text.length;
      at = end + 1;
    } else if (text.startsWith("/*", at)) {
      mark.lastIndex = at;
      let depth = 0;
      do {
        const found = mark.exec(text);
        if (found === null) return at;
        depth += found[0] === "/*" ? 1 : -1;
      } while (depth > 0);
      at = mark.lastIndex;
    } else return at;
  }
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
