/** Source code: unchanged, with lines kept whole; chunks end between top-level declarations if possible. */
import { decodeText } from "./decode-text.js";
import { languageOf } from "./kind-of.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";

export function parseCode({ bytes, job }: ParserInput, content: ParsedContent): void {
  const { text, encoding } = decodeText(bytes);
  content.mediaType = "text/plain";
  content.fact("encoding", encoding);
  content.fact("language", languageOf(job.path));
  content.fact("lines", text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0));
  content.text.keepWhole("line");
  content.text.raw(text);
}
