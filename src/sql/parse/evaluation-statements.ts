/**
 * EVALUATE and SHOW EVALUATIONS as calls of functions (features/evaluation/evaluation-functions.ts). Called by
 * client-statements.ts. Stateless.
 *
 *   EVALUATE RETRIEVAL ON c FROM t [WITH (…)]    SELECT … FROM evaluate_retrieval('c', 't', …)
 *   EVALUATE MODEL m ON t [WITH (…)]             SELECT … FROM evaluate_model('m', 't', …)
 *   EVALUATE ANSWERS [ON c] FROM t [WITH (…)]    SELECT … FROM evaluate_answers('c', 't', …)
 *   SHOW EVALUATIONS                             SELECT … FROM list_evaluations()
 */
import { optionsOf } from "./automl-dialect.js";
import {
  isName,
  isSymbol,
  isWord,
  nameOf,
  quotedText,
  syntaxErrorAt,
  type TokenizedStatement,
  tableName,
} from "./tokens.js";

/** Null: it is a different statement. Throws 42601 for invalid forms. */
export function evaluationStatement(statement: TokenizedStatement): string | null {
  const { tokens } = statement;
  const [verb, what] = tokens;
  if (isWord(verb, "show")) return isWord(what, "evaluations") && tokens.length === 2 ? EVALUATIONS : null;
  if (!isWord(verb, "evaluate")) return null;
  if (isWord(what, "retrieval")) {
    const collection = relation(statement, 2, "on", "a collection");
    const table = relation(statement, collection.next, "from", "a table");
    return call(statement, "evaluate_retrieval", collection.sql, table);
  }
  if (isWord(what, "model")) {
    const model = tokens[2];
    if (model?.kind !== "parameter" && !isName(model)) throw syntaxErrorAt(statement, 2, "the name of a model");
    const table = relation(statement, 3, "on", "a table");
    const name = model.kind === "parameter" ? `${model.text}::text` : quotedText(nameOf(model));
    return call(statement, "evaluate_model", name, table);
  }
  if (!isWord(what, "answers")) throw syntaxErrorAt(statement, 1, "RETRIEVAL, MODEL or ANSWERS");
  const collection = isWord(tokens[2], "on") ? relation(statement, 2, "on", "a collection") : null;
  const table = relation(statement, collection?.next ?? 2, "from", "a table");
  return call(statement, "evaluate_answers", collection?.sql ?? "NULL", table);
}

interface Named {
  /** An expression. */
  readonly sql: string;
  /** The token behind it. */
  readonly next: number;
}

/** `word t`, where t is a name, a name in a schema, or a parameter. */
function relation(statement: TokenizedStatement, at: number, word: string, what: string): Named {
  const { tokens } = statement;
  if (!isWord(tokens[at], word)) throw syntaxErrorAt(statement, at, word.toUpperCase());
  const token = tokens[at + 1];
  if (token?.kind === "parameter") return { sql: `${token.text}::text`, next: at + 2 };
  const found = tableName(tokens, at + 1);
  if (found === null) throw syntaxErrorAt(statement, at + 1, `the name of ${what}`);
  return { sql: quotedText(found.name.path.join(".")), next: found.next };
}

function call(statement: TokenizedStatement, fn: string, subject: string, { sql: table, next }: Named): string {
  const { tokens } = statement;
  let options = "'{}'::jsonb";
  if (tokens[next] !== undefined) {
    if (!isWord(tokens[next], "with") || !isSymbol(tokens[next + 1], "(")) {
      throw syntaxErrorAt(statement, next, "WITH (option = value, …)");
    }
    options = `jsonb_build_object(${optionsOf({ ...statement, edits: [] }, next + 2).join(", ")})`;
  }
  return `SELECT line.* FROM (SELECT ${fn}(${subject}, ${table}, ${options}) AS found) AS list,
    jsonb_to_recordset(list.found) AS line (subject text, metric text, value float8, low float8, high float8, note text)`;
}

const EVALUATIONS = `SELECT evaluation.* FROM (SELECT list_evaluations() AS found) AS list,
  jsonb_to_recordset(list.found) AS evaluation (id text, kind text, name text, about text, created_at timestamptz, questions bigint)`;
