/**
 * Statements of this interface's clients that PostgreSQL's grammar does not know, as calls of functions that it does.
 * Called by dialect.ts; edits keep the client's positions. Stateless.
 *
 *   CREATE [OR REPLACE] AGENT [IF NOT EXISTS] a WITH (…)   SELECT create_agent(…) AS result
 *   EXECUTE AGENT a 'task', DROP AGENT [IF EXISTS] a        SELECT execute_agent(…) AS answer, SELECT drop_agent(…)
 *   SHOW AGENTS, DESCRIBE AGENT a                           SELECT … FROM jsonb_to_recordset(list_agents())
 *   DESCRIBE MODEL m, DROP MODEL [IF EXISTS] m              SELECT … FROM jsonb_each(describe_model(…)), drop_model(…)
 *   BACKUP [DATABASE] [TO 'name'] [WITH (…)], SHOW BACKUPS   SELECT create_backup(…) AS result, SELECT … list_backups()
 *   SHOW CONSTRAINTS [FROM t]                               SELECT … FROM pg_constraint
 *   RESTORE [DATABASE] [FROM] 'backup' [WITH (…)]           SELECT restore_backup(…) AS result
 *   EVALUATE …, SHOW EVALUATIONS                            evaluation-statements.ts
 *   RESTORE TABLE …, RESTORE GRAPH …                        restore-statements.ts
 */
import { optionsOf } from "./automl-dialect.js";
import { evaluationStatement } from "./evaluation-statements.js";
import { restoreStatement } from "./restore-statements.js";
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

export const CLIENT_SUSPECT =
  /\b(?:create|drop|describe|desc|execute|replace|show)\s+(?:agents?|model|backups|constraints|evaluations)\b|(?:^|;|\*\/|\n)\s*(?:backup|(?:explain\s+)?restore|evaluate)\b/i;

/** The statement that replaces it; null: it is a different statement. Throws 42601 for invalid forms. */
export function clientStatement(statement: TokenizedStatement): string | null {
  const [verb, second, third] = statement.tokens;
  const evaluation = evaluationStatement(statement);
  if (evaluation !== null) return evaluation;
  const restored = restoreStatement(statement);
  if (restored !== null) return restored;
  if (isWord(verb, "backup")) return backup(statement);
  if (isWord(verb, "restore")) return restore(statement);
  if (isWord(verb, "show") && isWord(second, "constraints")) return constraints(statement);
  if (isWord(verb, "show") && statement.tokens.length === 2) {
    if (isWord(second, "agents")) return agents(null);
    return isWord(second, "backups") ? BACKUPS : null;
  }
  if (isWord(verb, "create")) {
    const replaces = isWord(second, "or") && isWord(third, "replace");
    return isWord(statement.tokens[replaces ? 3 : 1], "agent") ? createAgent(statement, replaces) : null;
  }
  if (third === undefined) return null;
  if (isWord(second, "agent")) return ofAgent(statement);
  return isWord(second, "model") ? ofModel(statement) : null;
}

/** A name, a text or a parameter as an expression. */
function named(statement: TokenizedStatement, at: number, what: string): string {
  const token = statement.tokens[at];
  if (token?.kind === "parameter") return `${token.text}::text`;
  if (token?.kind === "string") return token.text;
  if (isName(token)) return quotedText(nameOf(token));
  throw syntaxErrorAt(statement, at, what);
}

function refuseRest(statement: TokenizedStatement, at: number): void {
  if (statement.tokens.length > at) throw syntaxErrorAt(statement, at, "the end of the statement");
}

/** `WITH (name = value, …)` at the end, as JSON; without it `{}`. */
function options(statement: TokenizedStatement, at: number): string {
  const { tokens } = statement;
  if (tokens[at] === undefined) return "'{}'::jsonb";
  if (!isWord(tokens[at], "with") || !isSymbol(tokens[at + 1], "("))
    throw syntaxErrorAt(statement, at, "WITH (option = value, …)");
  return `jsonb_build_object(${optionsOf({ ...statement, edits: [] }, at + 2).join(", ")})`;
}

function createAgent(statement: TokenizedStatement, replaces: boolean): string {
  const { tokens } = statement;
  const from = replaces ? 4 : 2;
  const ifNotExists =
    isWord(tokens[from], "if") && isWord(tokens[from + 1], "not") && isWord(tokens[from + 2], "exists");
  const at = ifNotExists ? from + 3 : from;
  const mode = replaces ? "replace" : ifNotExists ? "if not exists" : "create";
  return `SELECT create_agent(${named(statement, at, "the name of an agent")}, ${options(statement, at + 1)}, '${mode}') AS result`;
}

const AGENT_COLUMNS =
  "name text, description text, model text, tools jsonb, instructions text, options jsonb, created_at timestamptz, updated_at timestamptz, used_today jsonb";

function agents(name: string | null): string {
  const all = `(SELECT list_agents(${name ?? "NULL"}) AS found) AS list`;
  return `SELECT agent.* FROM ${all}, jsonb_to_recordset(list.found) AS agent (${AGENT_COLUMNS}) ORDER BY agent.name`;
}

function ofAgent(statement: TokenizedStatement): string | null {
  const { tokens } = statement;
  const [verb] = tokens;
  if (isWord(verb, "drop")) return `SELECT drop_agent(${dropped(statement, "an agent")}) AS result`;
  if (isWord(verb, "describe", "desc")) {
    refuseRest(statement, 3);
    return agents(named(statement, 2, "the name of an agent"));
  }
  // A prepared statement may have this name: EXECUTE agent (1).
  if (!isWord(verb, "execute") || isSymbol(tokens[2], "(")) return null;
  const name = named(statement, 2, "the name of an agent");
  let at = isWord(tokens[3], "using", "with", "on", "task", "for") ? 4 : 3;
  if (isWord(tokens[3], "with", "using") && isWord(tokens[4], "task")) at = 5;
  const inBrackets = isSymbol(tokens[at], "(");
  if (inBrackets) at++;
  if (inBrackets && isWord(tokens[at], "task") && isSymbol(tokens[at + 1], "=")) at += 2;
  else if (isSymbol(tokens[at], "=")) at++;
  const task = tokens[at];
  if (task?.kind !== "string" && task?.kind !== "parameter") throw syntaxErrorAt(statement, at, "the task as a text");
  if (inBrackets && !isSymbol(tokens[at + 1], ")")) throw syntaxErrorAt(statement, at + 1, '")"');
  refuseRest(statement, inBrackets ? at + 2 : at + 1);
  return `SELECT execute_agent(${name}, ${named(statement, at, "the task")}) AS answer`;
}

/** `[IF EXISTS] name` of DROP, as arguments. */
function dropped(statement: TokenizedStatement, what: string): string {
  const { tokens } = statement;
  const ifExists = isWord(tokens[2], "if") && isWord(tokens[3], "exists");
  const at = ifExists ? 4 : 2;
  const written = modelName(statement, at);
  if (written === null) refuseRest(statement, at + 1);
  const name = written ?? named(statement, at, `the name of ${what}`);
  return `${name}, ${ifExists}`;
}

/** `all-minilm:latest`, which is several tokens without a blank between them. */
function modelName({ text, tokens }: TokenizedStatement, at: number): string | null {
  const [first, last] = [tokens[at], tokens.at(-1)];
  if (first?.kind !== "word" || last === undefined || first === last) return null;
  const written = text.slice(first.start, last.end);
  return /^[\w./:-]+$/.test(written) ? quotedText(written) : null;
}

function ofModel(statement: TokenizedStatement): string | null {
  const [verb] = statement.tokens;
  if (isWord(verb, "drop")) return `SELECT drop_model(${dropped(statement, "a model")}) AS result`;
  if (!isWord(verb, "describe", "desc")) return null;
  const written = modelName(statement, 2);
  if (written === null) refuseRest(statement, 3);
  const name = written ?? named(statement, 2, "the name of a model");
  return `SELECT fact.key AS property, fact.value FROM (SELECT describe_model(${name}) AS facts) AS model, jsonb_each(model.facts) AS fact`;
}

const BACKUPS = `SELECT backup.* FROM (SELECT list_backups() AS found) AS list,
  jsonb_to_recordset(list.found) AS backup (id text, status text, kind text, base text, encrypted boolean, entries bigint, bytes bigint, started_at timestamptz, finished_at timestamptz, holds_until timestamptz, note text, error jsonb, name text)`;

/** Of tables. Null: it goes on as only Cypher's statement of that name does. */
function constraints({ text, tokens }: TokenizedStatement): string | null {
  const isOfOne = isWord(tokens[2], "from", "in", "on");
  const table = isOfOne ? tableName(tokens, 3) : null;
  if (isOfOne ? table === null || table.next < tokens.length : tokens.length > 2) return null;
  const one = isOfOne
    ? ` AND held.conrelid = ${quotedText(text.slice(tokens[3]!.start, tokens.at(-1)!.end))}::regclass`
    : "";
  return `${CONSTRAINTS}${one} ORDER BY table_name, constraint_name`;
}

const CONSTRAINTS = `SELECT held.conname AS constraint_name, held.conrelid::regclass::text AS table_name,
  CASE held.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' WHEN 'f' THEN 'FOREIGN KEY' WHEN 'c' THEN 'CHECK' WHEN 'n' THEN 'NOT NULL' ELSE 'OTHER' END AS constraint_type,
  pg_get_constraintdef(held.oid) AS definition
  FROM pg_constraint held JOIN pg_namespace space ON space.oid = held.connamespace WHERE held.conrelid <> 0 AND held.contype <> 'n' AND space.nspname NOT LIKE 'graph:%'`;

function backup(statement: TokenizedStatement): string | null {
  const { tokens } = statement;
  let at = 1;
  if (isWord(tokens[at], "incremental")) return backupWith(statement, at + 1, true);
  if (isWord(tokens[at], "database")) at++;
  return backupWith(statement, at, false);
}

function backupWith(statement: TokenizedStatement, from: number, incremental: boolean): string {
  const { tokens } = statement;
  let at = from;
  if (incremental && isWord(tokens[at], "database")) at++;
  // There is one database, whatever a client calls it.
  if (isName(tokens[at]) && !isWord(tokens[at], "to", "with")) at++;
  let name = "";
  if (isWord(tokens[at], "to")) {
    const written = named(statement, at + 1, "the name of the backup");
    name = ` || jsonb_build_object('name', ${written})`;
    at += 2;
  }
  return `SELECT create_backup(${options(statement, at)}${name}, ${incremental}) AS result`;
}

/** `RESTORE [DATABASE [name]] [FROM] 'backup' [WITH (…)]`. */
function restore(statement: TokenizedStatement): string {
  const { tokens } = statement;
  let at = 1;
  if (isWord(tokens[at], "database")) {
    at++;
    if (isName(tokens[at]) && !isWord(tokens[at], "from", "with")) at++;
  }
  if (isWord(tokens[at], "from")) at++;
  const backup = named(statement, at, "the id of a backup, as SHOW BACKUPS tells it, or its name");
  return `SELECT restore_backup(${backup}, ${options(statement, at + 1)}) AS result`;
}
