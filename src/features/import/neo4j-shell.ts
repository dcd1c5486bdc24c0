/**
 * Lines for Neo4j's shells in a script, such as `apoc.export.cypher` writes: `:begin`, `:commit`, `:param rows => […]`,
 * and of Neo4j's first shell `begin`, `commit`, `schema await`. Parameters are expressions; each later statement that
 * names one gets the expression in its place. One per script.
 */
import { sqlError } from "../../protocol/errors.js";

const TRANSACTIONS = /^:?(begin|commit|rollback)\s*;?$/;
/** Indexes are always complete. */
const NOTHING_TO_DO = /^(?:schema await|:(?:clear|history|help|params)\b.*);?$/;
const PARAMETER = /^:params?\s+(?:`([^`]+)`|(\w+))\s*(?:=>|:)\s*(.+?);?$/s;

/** What begins a text, a quoted name or a comment, in which no parameter stands; or a parameter. */
const MARK = /["'`]|\/\/|\/\*|\$(?:`([^`]+)`|(\w+))/g;
/** Of a statement with its parameters. */
const FILLED_CHARACTERS_MAX = 16 * 1024 * 1024;

export class Neo4jShell {
  private readonly parameters = new Map<string, string>();

  /** The statement that the line stands for; null: none. Throws 42601 for a line that means nothing here. */
  statementOf(line: string): string | null {
    const transaction = TRANSACTIONS.exec(line)?.[1];
    if (transaction !== undefined) return transaction.toUpperCase();
    const parameter = PARAMETER.exec(line);
    if (parameter !== null) this.parameters.set(parameter[1] ?? parameter[2]!, parameter[3]!);
    else if (!NOTHING_TO_DO.test(line)) {
      throw sqlError("42601", `"${line}" is a command of a shell of Neo4j that means nothing here`, {
        hint: "Known are :begin, :commit, :rollback and :param name => value. Remove the line from the script.",
      });
    }
    return null;
  }

  /** The statement with the parameters that were set. Throws 54000 where it gets too long. */
  filled(statement: string): string {
    if (![...this.parameters.keys()].some((name) => statement.includes(name))) return statement;
    let result = "";
    let done = 0;
    MARK.lastIndex = 0;
    for (let found = MARK.exec(statement); found !== null; found = MARK.exec(statement)) {
      const [mark, quoted, plain] = found;
      const value = this.parameters.get(quoted ?? plain ?? "");
      if (!mark.startsWith("$")) MARK.lastIndex = behind(statement, found.index, mark);
      else if (value !== undefined) {
        result += `${statement.slice(done, found.index)}(${value})`;
        done = MARK.lastIndex;
        if (result.length > FILLED_CHARACTERS_MAX) {
          throw sqlError("54000", "a statement with its parameters is too long", {
            hint: `It may have ${FILLED_CHARACTERS_MAX} characters.`,
          });
        }
      }
    }
    return result + statement.slice(done);
  }
}

/** The end of what the mark begins. */
function behind(text: string, start: number, mark: string): number {
  const end = (at: number, length: number): number => (at < 0 ? text.length : at + length);
  if (mark === "/*") return end(text.indexOf("*/", start + 2), 2);
  if (mark === "//") return end(text.indexOf("\n", start), 1);
  if (mark === "`") return end(text.indexOf("`", start + 1), 1);
  const next = mark === '"' ? /["\\]/g : /['\\]/g;
  next.lastIndex = start + 1;
  for (;;) {
    const found = next.exec(text)?.[0];
    if (found === undefined) return text.length;
    if (found === mark) return next.lastIndex;
    next.lastIndex++;
  }
}
