/** MATCH (columns) AGAINST (query): the request to a text index. */
import { sqlError } from "../../../protocol/errors.js";
import { FLOAT8, TEXT } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { fn } from "./define.js";

/** How a query's text is read: words of which any or all are required, with signs; or plain words. */
export const TEXT_MODES = ["any", "all", "plain"] as const;
/** The query is a tsquery: rows that may match are wanted, without a score. */
export const TSQUERY_MODE = "tsquery";
/** The query is a text of TrigramRequest; likewise. */
export const TRIGRAM_MODE = "trigrams";
export type TextMode = (typeof TEXT_MODES)[number];

/** The score of a row: columns, then the query and its mode. The optimizer has an index answer it. */
export const TEXT_SCORE: ScalarFunction = fn(
  "text_score",
  [],
  FLOAT8,
  () => {
    throw sqlError(
      "0A000",
      "MATCH is answered by a text index of just these columns, in the query that reads the table",
      {
        hint: "Create one with CREATE INDEX … USING text (columns); of a partitioned table on each of its partitions.",
      },
    );
  },
  { volatility: "stable", variadic: TEXT, strict: false },
);

export const TEXT_SEARCH_FUNCTIONS: readonly ScalarFunction[] = [TEXT_SCORE];
