/** XML of any vocabulary, SVG among them: the text of its elements, one per line where they hold text alone. */
import { decodeText } from "./decode-text.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";
import { readXml } from "./read-xml.js";

const DECLARED = /^\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.-]{1,40})/;
/** Elements whose text is the document's title, in DocBook, Atom, RSS and SVG. */
const TITLES = new Set(["title", "dc:title"]);
const HIDDEN = new Set(["script", "style"]);

export function parseXml({ bytes }: ParserInput, content: ParsedContent): void {
  const declared = DECLARED.exec(bytes.subarray(0, 200).toString("latin1"))?.[1];
  const { text, encoding } = decodeText(bytes, declared);
  content.fact("encoding", encoding);
  content.mediaType = "application/xml";
  let pending = "";
  let hidden = 0;
  let elements = 0;
  const flush = (): string => {
    const line = pending.replace(/\s+/g, " ").trim();
    pending = "";
    if (line !== "") content.text.line(line);
    return line;
  };
  content.text.keepWhole("line");
  const between = (): void => content.checkTime();
  readXml(
    text,
    {
      open(name) {
        if (elements++ === 0) content.fact("root", name);
        if (elements === 1 && name === "svg") content.mediaType = "image/svg+xml";
        if (HIDDEN.has(name)) hidden++;
        flush();
      },
      text(piece) {
        if (hidden === 0) pending += piece;
      },
      close(name) {
        if (HIDDEN.has(name)) hidden = Math.max(0, hidden - 1);
        const line = flush();
        if (TITLES.has(name)) content.setTitle(line);
      },
    },
    between,
  );
  content.fact("elements", elements);
}
