/** Plain text: unchanged, in paragraphs. */
import { decodeText } from "./decode-text.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";

export function parseText({ bytes }: ParserInput, content: ParsedContent): void {
  const { text, encoding } = decodeText(bytes);
  content.mediaType = "text/plain";
  content.fact("encoding", encoding);
  content.text.raw(text);
}
