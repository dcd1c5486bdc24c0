/**
 * Statements of AutoML, which PostgreSQL's grammar does not know, as calls of functions that it does
 * (features/automl/sql-functions.ts). Called by dialect.ts; edits keep the client's positions. Stateless.
 *
 * Parameters are bound where they stand; those of a query that is passed as text go along as a list of values.
 *
 *   CREATE EXPERIMENT [ASYNC] n AS SELECT … WITH (…)   SELECT automl_create_experiment(…) AS automl_result
 *   DROP EXPERIMENT [IF EXISTS] n                      SELECT automl_drop_experiment(…) AS result
 *   DEPLOY MODEL m FROM EXPERIMENT e                   SELECT automl_deploy(…) AS automl_result
 *   SHOW EXPERIMENTS                                   SELECT * FROM automl_experiments()
 *   PREDICT c USING m AS SELECT …                      SELECT q.*, automl_predict('m', to_jsonb(q)) AS c FROM (…) q
 *   PREDICT c USING m WITH PROBABILITY AS SELECT …     the same, and automl_predict_probability(…) AS c_probability
 *   AUTOML.PREDICT_PROBA('m', 'yes', a)                automl_predict_class('m', 'yes', jsonb_build_object('a', a))
 *   AUTOML.PREDICT('m', a, x => b + 1)                 automl_predict('m', jsonb_build_object('a', a, 'x', b + 1))
 *   AUTOML.PREDICT('m', a)::float8                     automl_predict_number('m', …)::float8 (automl-uses.ts)
 */
import { orderedAliases, useOf } from "./automl-uses.js";
import type { Edit } from "./source-map.js";
import { isName, isSymbol, isWord, nameOf, quotedText, syntaxErrorAt, type Token } from "./tokens.js";

interface Statement {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly edits: Edit[];
}

export const AUTOML_SUSPECT =
  /\b(?:create|drop|show)\s+experiments?\b|\bdeploy\s+model\b|\bpredict\s+\S+\s+using\b|\bautoml\s*\.\s*(?:predict|explain)/i;

/** Whose text is an expression as it is. */
const PLAIN: ReadonlySet<Token["kind"]> = new Set(["string", "number", "parameter"]);
/** More are refused where statements are bound. */
const PARAMETERS_MAX = 65_535;

/** True when the statement was one of these; calls inside other statements are rewritten by `automlCalls`. */
export function automlStatement(statement: Statement): boolean {
  const call = callOf(statement);
  if (call === null) return false;
  const { tokens, edits } = statement;
  edits.push({ start: tokens[0]!.start, end: tokens.at(-1)!.end, text: call });
  return true;
}

function callOf(statement: Statement): string | null {
  const { tokens } = statement;
  const [verb, second] = tokens;
  if (isWord(verb, "create") && isWord(second, "experiment")) return createExperiment(statement);
  if (isWord(verb, "drop") && isWord(second, "experiment")) {
    const ifExists = isWord(tokens[2], "if") && isWord(tokens[3], "exists");
    const name = nameAt(statement, ifExists ? 4 : 2, true);
    return `SELECT automl_drop_experiment(${name}, ${ifExists}) AS result`;
  }
  if (isWord(verb, "deploy") && isWord(second, "model")) {
    const name = nameAt(statement, 2, false);
    if (!isWord(tokens[3], "from") || !isWord(tokens[4], "experiment"))
      throw syntaxErrorAt(statement, 3, "FROM EXPERIMENT");
    return `SELECT automl_deploy(${name}, ${nameAt(statement, 5, true)}) AS automl_result`;
  }
  if (isWord(verb, "show") && isWord(second, "experiments") && tokens.length === 2) {
    return "SELECT * FROM automl_experiments()";
  }
  return null;
}

function createExperiment(statement: Statement): string {
  const { tokens, text } = statement;
  const isAsync = isWord(tokens[2], "async") && isName(tokens[3]);
  const at = isAsync ? 3 : 2;
  const name = nameAt(statement, at, false);
  if (!isWord(tokens[at + 1], "as")) throw syntaxErrorAt(statement, at + 1, "AS SELECT …");
  const first = tokens[at + 2];
  const last = tokens.findLastIndex(
    (token, i) => i > at + 2 && token.depth === 0 && isWord(token, "with") && isSymbol(tokens[i + 1], "("),
  );
  if (first === undefined || last < 0) throw syntaxErrorAt(statement, tokens.length, "WITH (target_column = …)");
  const select = text.slice(first.start, tokens[last - 1]!.end);
  const options = `jsonb_build_object(${optionsOf(statement, last + 2).join(", ")})`;
  const values = `jsonb_build_array(${parametersOf(tokens.slice(at + 2, last)).join(", ")})`;
  const args = [name, String(isAsync), quotedText(select), values, options, String(first.start)];
  return `SELECT automl_create_experiment(${args.join(", ")}) AS automl_result`;
}

/** All up to the highest that is there, since the query counts them so. */
function parametersOf(tokens: readonly Token[]): string[] {
  const numbers = tokens.map(({ kind, text }) => (kind === "parameter" ? Number(text.slice(1)) : 0));
  return Array.from(
    {
      length: Math.min(
        numbers.reduce((most, each) => Math.max(most, each), 0),
        PARAMETERS_MAX,
      ),
    },
    (_, i) => open(`$${i + 1}`),
  );
}

/** A parameter of the type that the client's value has: a query's column takes that, an argument becomes text. */
const open = (parameter: string) => `(SELECT ${parameter})`;

/** `name = value, …)` as names and values in turn: texts, numbers, words, parameters, lists in brackets, options. */
export function optionsOf(statement: Statement, from: number): string[] {
  const { options, next } = optionsAt(statement, from);
  if (next !== statement.tokens.length) throw syntaxErrorAt(statement, next, "the end of the statement");
  return options;
}

/** `next`: after the closing parenthesis. */
function optionsAt(statement: Statement, from: number): { readonly options: string[]; readonly next: number } {
  const { tokens } = statement;
  const options: string[] = [];
  let at = from;
  while (!isSymbol(tokens[at], ")")) {
    const name = tokens[at];
    if (!isName(name)) throw syntaxErrorAt(statement, at, "the name of an option");
    if (!isSymbol(tokens[at + 1], "=")) throw syntaxErrorAt(statement, at + 1, '"="');
    const { value, next } = valueAt(statement, at + 2);
    options.push(quotedText(nameOf(name)), value);
    at = next;
    if (isSymbol(tokens[at], ",")) at++;
    else if (!isSymbol(tokens[at], ")")) throw syntaxErrorAt(statement, at, '"," or ")"');
  }
  return { options, next: at + 1 };
}

/** As an expression. */
function valueAt(statement: Statement, from: number): { readonly value: string; readonly next: number } {
  const { tokens } = statement;
  if (isSymbol(tokens[from], "(")) {
    const { options, next } = optionsAt(statement, from + 1);
    return { value: `jsonb_build_object(${options.join(", ")})`, next };
  }
  const start = isWord(tokens[from], "array") ? from + 1 : from;
  if (!isSymbol(tokens[start], "[")) return scalarAt(statement, from);
  const list: string[] = [];
  let at = start + 1;
  while (!isSymbol(tokens[at], "]")) {
    const { value, next } = scalarAt(statement, at);
    list.push(value);
    at = isSymbol(tokens[next], ",") ? next + 1 : next;
    if (at === next && !isSymbol(tokens[at], "]")) throw syntaxErrorAt(statement, at, '"," or "]"');
  }
  return { value: `jsonb_build_array(${list.join(", ")})`, next: at + 1 };
}

function scalarAt(statement: Statement, at: number): { readonly value: string; readonly next: number } {
  const token = statement.tokens[at];
  if (token !== undefined && (PLAIN.has(token.kind) || isWord(token, "true", "false"))) {
    return { value: token.kind === "parameter" ? open(token.text) : token.text, next: at + 1 };
  }
  if (isName(token)) return { value: quotedText(nameOf(token)), next: at + 1 };
  throw syntaxErrorAt(statement, at, "a value");
}

/** A name or parameter as an expression. */
function nameAt(statement: Statement, at: number, isLast: boolean): string {
  const token = statement.tokens[at];
  if (token?.kind !== "parameter" && !isName(token)) throw syntaxErrorAt(statement, at, "a name");
  if (isLast && statement.tokens.length > at + 1) throw syntaxErrorAt(statement, at + 1, "the end of the statement");
  return nameText(token);
}

function nameText(token: Token): string {
  return token.kind === "parameter" ? `${token.text}::text` : quotedText(nameOf(token));
}

/** `PREDICT c USING m AS SELECT …`, whose query stays where it is. */
export function predictStatement(statement: Statement): void {
  const { tokens, edits } = statement;
  const at = predictAt(tokens);
  const [verb, column, using, model] = tokens.slice(at);
  if (!isWord(verb, "predict") || !isName(column) || !isWord(using, "using")) return;
  if (model?.kind !== "parameter" && !isName(model)) throw syntaxErrorAt(statement, at + 3, "the name of a model");
  const withProbability = hasProbability(tokens, at + 4);
  const asAt = withProbability ? at + 6 : at + 4;
  if (!isWord(tokens[asAt], "as")) throw syntaxErrorAt(statement, asAt, "AS SELECT …");
  const query = tokens[asAt + 1];
  if (query === undefined) throw syntaxErrorAt(statement, asAt + 1, "SELECT …");
  const calls = [`automl_predict(${nameText(model)}, to_jsonb(q)) AS ${quoted(nameOf(column))}`];
  if (withProbability) {
    calls.push(
      `automl_predict_probability(${nameText(model)}, to_jsonb(q)) AS ${quoted(`${nameOf(column)}_probability`)}`,
    );
  }
  edits.push({ start: verb!.start, end: query.start, text: `SELECT q.*, ${calls.join(", ")} FROM (` });
  edits.push({ start: tokens.at(-1)!.end, end: tokens.at(-1)!.end, text: ") AS q" });
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

const hasProbability = (tokens: readonly Token[], at: number) =>
  isWord(tokens[at], "with") && isWord(tokens[at + 1], "probability");

/** Where PREDICT begins: the statement, or the query of CREATE VIEW, CREATE TABLE, INSERT or EXPLAIN. */
function predictAt(tokens: readonly Token[]): number {
  if (!isWord(tokens[0], "create", "insert", "explain")) return 0;
  const at = tokens.findIndex(
    (token, i) =>
      i > 0 &&
      token.depth === 0 &&
      isWord(token, "predict") &&
      isName(tokens[i + 1]) &&
      isWord(tokens[i + 2], "using") &&
      (isWord(tokens[i + 4], "as") || hasProbability(tokens, i + 4)),
  );
  return Math.max(at, 0);
}

const CALLS: Readonly<Record<string, string>> = {
  predict: "automl_predict",
  predict_proba: "automl_predict_proba",
  predict_score: "automl_predict_score",
  explain: "automl_explain",
};

/** `AUTOML.PREDICT(model, …)`: columns are features by their names, others by `name => value` or their place. */
export function automlCalls(statement: Statement): void {
  const { tokens, edits } = statement;
  for (let i = 0; i + 3 < tokens.length; i++) {
    const fn = CALLS[tokens[i + 2]!.text];
    const open = tokens[i + 3]!;
    if (!isWord(tokens[i], "automl") || !isSymbol(tokens[i + 1], ".") || fn === undefined || !isSymbol(open, "("))
      continue;
    const close = tokens.findIndex((token, j) => j > i + 3 && isSymbol(token, ")") && token.depth === open.depth);
    const args: Edit[] = [];
    const classEnd =
      fn === "automl_predict_proba" && close > 0 ? classArgument(tokens, i + 4, close, open.depth) : null;
    if (close > 0) namedArguments({ ...statement, edits: args }, classEnd ?? i + 4, close, open.depth);
    edits.push(...args);
    if (classEnd !== null) {
      edits.push({ start: tokens[i]!.start, end: tokens[i + 2]!.end, text: "automl_predict_class" });
      continue;
    }
    const use = fn === "automl_predict" && close > 0 ? useOf(tokens, i, close) : "value";
    edits.push({ start: tokens[i]!.start, end: tokens[i + 2]!.end, text: USES[use] ?? fn });
    if (fn !== "automl_predict" || close < 0) continue;
    for (const key of orderedAliases(tokens, i, close)) {
      const call = `automl_predict_order${edited(statement.text, open.start, tokens[close]!.end, args)}`;
      edits.push({ start: key.start, end: key.end, text: call });
    }
  }
}

/**
 * Where the class in `PREDICT_PROBA('m', 'yes', …)` stands; null: none is named. A parameter is one before columns and
 * names.
 */
function classArgument(tokens: readonly Token[], from: number, close: number, depth: number): number | null {
  const commas = commasOf(tokens, from, close, depth);
  const [first, second] = commas;
  if (first === undefined || second !== first + 2) return null;
  const label = tokens[first + 1]!;
  if (label.kind === "string") return first + 1;
  const next = tokens.slice(second + 1, commas[2] ?? close);
  return label.kind === "parameter" && (isNamed(next) || columnName(next) !== null) ? first + 1 : null;
}

const USES: Readonly<Record<string, string>> = { number: "automl_predict_number", order: "automl_predict_order" };

/** A part of the text with edits made. */
function edited(text: string, start: number, end: number, edits: readonly Edit[]): string {
  let at = start;
  let result = "";
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at, end);
}

const commasOf = (tokens: readonly Token[], from: number, close: number, depth: number): number[] =>
  tokens.flatMap((token, j) => (j > from && j < close && token.depth === depth && isSymbol(token, ",") ? [j] : []));

function namedArguments({ tokens, edits }: Statement, from: number, close: number, depth: number): void {
  const commas = commasOf(tokens, from, close, depth);
  if (commas.length === 0) return;
  const first = tokens.slice(commas[0]! + 1, commas[1] ?? close);
  // One that is no column is the whole row, as JSON; a number is a feature.
  const isNumber = first.length === 1 && first[0]!.kind === "number";
  if (commas.length === 1 && columnName(first) === null && !isNamed(first) && !isNumber) return;
  for (const [n, comma] of commas.entries()) {
    const arg = tokens.slice(comma + 1, commas[n + 1] ?? close);
    if (arg.length === 0) return;
    const opening = n === 0 ? "jsonb_build_object(" : "";
    const named = isNamed(arg);
    const name = named ? nameOf(arg[0]!) : (columnName(arg) ?? `$${n + 1}`);
    const end = named ? arg[3]?.start : arg[0]!.start;
    edits.push({ start: arg[0]!.start, end: end ?? arg[0]!.start, text: `${opening}${quotedText(name)}, ` });
  }
  edits.push({ start: tokens[close]!.start, end: tokens[close]!.start, text: ")" });
}

/** `a`, `t.a` */
function columnName(arg: readonly Token[]): string | null {
  const isPath = arg.every((token, i) => (i % 2 === 0 ? isName(token) : isSymbol(token, ".")));
  return isPath && arg.length % 2 === 1 && !isWord(arg[0], "null", "true", "false") ? nameOf(arg.at(-1)!) : null;
}

/** `name => …` */
function isNamed([name, equals, greater]: readonly Token[]): boolean {
  return isName(name) && isSymbol(equals, "=") && isSymbol(greater, ">");
}
