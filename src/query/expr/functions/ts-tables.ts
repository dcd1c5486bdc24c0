/**
 * Text search functions that return rows: the words of a tsvector, and what the parser and dictionaries do (chapter
 * 12.8).
 */
import { sqlError } from "../../../protocol/errors.js";
import { analyzeText, dictionaryName } from "../../../text/text-config.js";
import { parseText, TOKEN_TYPES } from "../../../text/text-parser.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { positionOf, tsVectorOf, weightOf } from "../../../values/ts-vector.js";
import { arrayOf, INT2, INT4, OID, REGCONFIG, recordOf, TEXT, TSVECTOR, type Value } from "../../../values/values.js";
import type { EvalContext } from "../expr.js";
import { recordRows, type TableFunction, tableFn } from "../table-function.js";
import { currentConfig } from "./ts-functions.js";

const field = (name: string, type: typeof TEXT) => ({ name, type });

const WORD_ROW = recordOf([field("lexeme", TEXT), field("positions", arrayOf(INT2)), field("weights", arrayOf(TEXT))]);
const TYPE_ROW = recordOf([field("tokid", INT4), field("alias", TEXT), field("description", TEXT)]);
const TOKEN_ROW = recordOf([field("tokid", INT4), field("token", TEXT)]);
const DEBUG_ROW = recordOf([
  field("alias", TEXT),
  field("description", TEXT),
  field("token", TEXT),
  field("dictionaries", arrayOf(TEXT)),
  field("dictionary", TEXT),
  field("lexemes", arrayOf(TEXT)),
]);

const numberOf = new Map(TOKEN_TYPES.map(([type], i) => [type, i + 1]));
const descriptionOf = new Map(TOKEN_TYPES);

/** There is one parser. Throws 42704. */
function checkParser(name: string): void {
  if (name.toLowerCase().replace(/^pg_catalog\./, "") !== "default") {
    throw sqlError("42704", `text search parser "${name}" does not exist`);
  }
}

function* wordRows(text: string): Generator<readonly Value[]> {
  for (const { word, positions } of tsVectorOf(text)) {
    if (positions === null) yield [word, null, null];
    else
      yield [word, sqlArray(positions.map(positionOf)), sqlArray(positions.map((entry) => "DCBA"[weightOf(entry)]!))];
  }
}

function* debugRows(config: string, text: string): Generator<readonly Value[]> {
  for (const { type, start, end, lexeme } of analyzeText(config, text)) {
    const dictionary = dictionaryName(config, type);
    const known = [type, descriptionOf.get(type)!, text.slice(start, end)];
    if (dictionary === null) yield [...known, sqlArray([]), null, null];
    else yield [...known, sqlArray([dictionary]), dictionary, sqlArray(lexeme ? [lexeme] : [])];
  }
}

export const TS_TABLES: readonly TableFunction[] = [
  tableFn("unnest", [TSVECTOR], WORD_ROW, (text: string) => recordRows(wordRows(text))),
  tableFn("ts_token_type", [TEXT], TYPE_ROW, (parser: string) => {
    checkParser(parser);
    return recordRows(TOKEN_TYPES.map(([type, description], i) => [i + 1, type, description]));
  }),
  tableFn("ts_token_type", [OID], TYPE_ROW, () =>
    recordRows(TOKEN_TYPES.map(([type, description], i) => [i + 1, type, description])),
  ),
  tableFn("ts_parse", [TEXT, TEXT], TOKEN_ROW, (parser: string, text: string) => {
    checkParser(parser);
    return recordRows(parseText(text).map(({ type, start, end }) => [numberOf.get(type)!, text.slice(start, end)]));
  }),
  tableFn("ts_debug", [REGCONFIG, TEXT], DEBUG_ROW, (config: string, text: string) =>
    recordRows(debugRows(config, text)),
  ),
  Object.freeze({
    name: "ts_debug",
    args: [TEXT],
    returns: DEBUG_ROW,
    strict: true,
    open: (context: EvalContext, [text]: readonly Value[]) =>
      recordRows(debugRows(currentConfig(context), text as string)),
  }),
];
