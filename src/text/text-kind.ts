/** Makes a text index from its definition, for the life of indexes in memory (src/derived). */
import type { SearchIndexDef } from "../catalog/table.js";
import type { IndexKind } from "../derived/index-body.js";
import type { TextItem } from "./document-terms.js";
import { TextBody } from "./text-body.js";

/** Grows when analysis changes, so that saved indexes are built again. */
const ANALYSIS_VERSION = 2;

/** `textsOf` reads the index's columns out of a record. A row without any text is not in the index. */
export function textKind(
  { text, columnIds }: SearchIndexDef,
  textsOf: (record: Uint8Array) => TextItem,
): IndexKind<TextItem, TextBody> {
  const { language } = text!;
  return {
    definition: JSON.stringify({ columns: columnIds, language, version: ANALYSIS_VERSION }),
    create: () => new TextBody(language),
    load: (bytes) => TextBody.load(language, bytes),
    isBody: (body) => body instanceof TextBody,
    itemOf: (record) => {
      const texts = textsOf(record);
      return texts.every((one) => one === null) ? null : texts;
    },
  };
}
