/**
 * XML as events, by htmlparser2, which expands no entities but the five of XML and character references, and loads
 * nothing. Used by the parsers of office documents and books.
 */
import { Parser } from "htmlparser2";
import { DbError } from "../../protocol/errors.js";
import { MARKUP_NESTING_MAX } from "../../protocol/limits.js";

export type XmlAttributes = Readonly<Record<string, string>>;

export interface XmlHandler {
  open?(name: string, attributes: XmlAttributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

const PIECE_CHARACTERS = 256 * 1024;

/**
 * Names keep their prefixes. `between` is called from time to time. Throws DbError `file_corrupt` for too deep nesting.
 */
export function readXml(xml: string, handler: XmlHandler, between: () => void = () => undefined): void {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > MARKUP_NESTING_MAX) throw tooDeep();
        handler.open?.(name, attributes);
      },
      onclosetag(name) {
        depth--;
        handler.close?.(name);
      },
      ontext(text) {
        handler.text?.(text);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  for (let at = 0; at < xml.length; at += PIECE_CHARACTERS) {
    between();
    parser.write(xml.slice(at, at + PIECE_CHARACTERS));
  }
  parser.end();
}

export function tooDeep(): DbError {
  return new DbError("file_corrupt", `More than ${MARKUP_NESTING_MAX} elements stand inside each other.`);
}
