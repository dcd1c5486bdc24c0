/**
 * Finds the language of a statement. A request may name it; otherwise the parser that accepts the text decides, SQL
 * first, as cypher/parse/parse.ts explains.
 */

import { parseCypher } from "../cypher/parse/parse.js";
import type { Statement as CypherStatement } from "../cypher/parse/statement-ast.js";
import { DbError, sqlError } from "../protocol/errors.js";
import type { StatementNode } from "../sql/parse/ast.js";
import { parseSql } from "../sql/parse/parse.js";
import type { StatementText } from "./statement-run.js";

export type StatementTree =
  | { readonly language: "sql"; readonly node: StatementNode }
  | { readonly language: "cypher"; readonly statement: CypherStatement };

/** Only white space, comments and semicolons, which are nothing in Cypher either. */
const NO_STATEMENT = "The text holds no statement.";

/** Comments of Cypher before a statement, which in SQL would be operators. */
const OTHER_COMMENTS = /^(?:\s*\/\/[^\n]*)+/;

/** The one statement of the text. Throws syntax errors. */
export function treeOf({ sql, language }: Pick<StatementText, "sql" | "language">): StatementTree {
  if (language === "sql") return sqlTree(sql);
  if (language === "cypher") return { language, statement: parseCypher(sql) };
  try {
    const tree = sqlTree(sql.replace(OTHER_COMMENTS, (comments) => comments.replace(/[^\n]/gu, " ")));
    if (isShownByCypher(tree)) return { language: "cypher", statement: parseCypher(sql) };
    return tree;
  } catch (error) {
    if (error instanceof DbError && error.message === NO_STATEMENT) throw error;
    const statement = cypherOf(sql, error);
    return { language: "cypher", statement };
  }
}

/** SHOW PROCEDURES and SHOW FUNCTIONS: SQL has no settings of these names. */
function isShownByCypher(tree: StatementTree): boolean {
  return tree.language === "sql" && tree.node.kind === "show" && /^(?:procedures|functions)$/.test(tree.node.name);
}

function sqlTree(sql: string): StatementTree {
  const statements = parseSql(sql);
  if (statements.length === 0) throw sqlError("42601", NO_STATEMENT, { position: 1 });
  if (statements.length > 1) {
    throw sqlError("42601", "cannot insert multiple commands into a prepared statement", {
      position: statements[1]!.start + 1,
      hint: "Send one statement a call, or several with POST /v1/query/execute/batch.",
    });
  }
  return { language: "sql", node: statements[0]!.node };
}

/** What SQL's parser refused with `error`; of two errors the one that came further is the answer. */
function cypherOf(text: string, error: unknown): CypherStatement {
  if (!isSyntaxError(error)) throw error;
  try {
    return parseCypher(text);
  } catch (other) {
    throw isSyntaxError(other) && positionOf(other) > positionOf(error) ? other : error;
  }
}

function isSyntaxError(error: unknown): error is DbError {
  return error instanceof DbError && (error.code === "syntax_error" || error.details?.sqlstate === "42601");
}

function positionOf({ details }: DbError): number {
  return typeof details?.position === "number" ? details.position : 0;
}
