/** Functions that give rows about the catalog: options of foreign objects, key words of the grammar. */
import { registerTableFunction } from "../../../query/expr/functions/table-registry.js";
import { recordRows, type TableFunction } from "../../../query/expr/table-function.js";
import { arrayOf, BOOL, CHAR, recordOf, type SqlArray, TEXT } from "../../../values/values.js";
import { KEYWORDS } from "./data/keywords.js";
import { recordsOf } from "./shapes.js";

/** `name=value` as two columns. */
const OPTIONS: TableFunction = {
  name: "pg_options_to_table",
  args: [arrayOf(TEXT)],
  strict: true,
  returns: recordOf([
    { name: "option_name", type: TEXT },
    { name: "option_value", type: TEXT },
  ]),
  open: (_context, [options]) =>
    recordRows(
      (options as SqlArray).elements.map((option) => {
        const text = String(option);
        const at = text.indexOf("=");
        return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
      }),
    ),
};

const CATEGORIES: Readonly<Record<string, string>> = {
  U: "unreserved",
  C: "unreserved (cannot be function or type name)",
  T: "reserved (can be function or type name)",
  R: "reserved",
};

const WORDS: TableFunction = {
  name: "pg_get_keywords",
  args: [],
  strict: true,
  returns: recordOf([
    { name: "word", type: TEXT },
    { name: "catcode", type: CHAR },
    { name: "barelabel", type: BOOL },
    { name: "catdesc", type: TEXT },
    { name: "baredesc", type: TEXT },
  ]),
  open: () =>
    recordRows(
      Array.from(recordsOf(KEYWORDS), (record) => {
        const [word, category, bare] = record.split(",") as [string, string, string];
        return [
          word,
          category,
          bare === "1",
          CATEGORIES[category]!,
          bare === "1" ? "can be bare label" : "requires AS",
        ];
      }),
    ),
};

for (const fn of [OPTIONS, WORDS]) registerTableFunction(Object.freeze(fn));
