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

/** Texts, quoted names and comments, in which no parameter stands; or a parameter. */
const PARAMETER_USED = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`|\/\/[^\n]*|\/\*.*?\*\/|\$(?:`([^`]+)`|(\w+))/gs;

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

  /** The statement with the parameters that were set. */
  filled(statement: string): string {
    const { parameters } = this;
    if (parameters.size === 0) return statement;
    return statement.replace(PARAMETER_USED, (found, quoted?: string, plain?: string) => {
      const value = parameters.get(quoted ?? plain ?? "");
      return value === undefined ? found : `(${value})`;
    });
  }
}
