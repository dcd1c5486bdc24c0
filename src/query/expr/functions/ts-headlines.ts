/** ts_headline of texts, and of the texts within JSON values. */

import { headline, headlineOptions } from "../../../text/ts-headline.js";
import { tsQueryOf } from "../../../values/ts-query.js";
import { JSON_TYPE, JSONB, Json, REGCONFIG, type SqlType, TEXT, TSQUERY, type Value } from "../../../values/values.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { contextFn } from "./define.js";
import { mapJsonTexts } from "./json-texts.js";
import { currentConfig } from "./ts-functions.js";

function textHeadline(context: EvalContext, config: string, text: string, query: string, options = ""): string {
  return headline(config, text, tsQueryOf(query), headlineOptions(options), () => context.checkpoint());
}

function jsonHeadline(context: EvalContext, config: string, json: Json, query: string, options = ""): Json {
  const value = mapJsonTexts(json.value, (text) => textHeadline(context, config, text, query, options));
  return json.text === undefined ? new Json(value) : new Json(value, JSON.stringify(value));
}

type Apply = (context: EvalContext, config: string, ...args: never[]) => Value;

function overloads(document: SqlType, apply: Apply): ScalarFunction[] {
  const call = apply as (context: EvalContext, config: string, ...args: unknown[]) => Value;
  return [[], [TEXT]].flatMap((more) => [
    contextFn("ts_headline", [REGCONFIG, document, TSQUERY, ...more], document, call, { volatility: "immutable" }),
    contextFn("ts_headline", [document, TSQUERY, ...more], document, (context: EvalContext, ...args: never[]) =>
      call(context, currentConfig(context), ...args),
    ),
  ]);
}

export const TS_HEADLINES: readonly ScalarFunction[] = [
  ...overloads(TEXT, textHeadline),
  ...overloads(JSON_TYPE, jsonHeadline),
  ...overloads(JSONB, jsonHeadline),
];
