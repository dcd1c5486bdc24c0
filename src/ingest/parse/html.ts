/**
 * HTML to text by structure: headings make sections, block elements paragraphs, rows of tables and preformatted text
 * lines. Nothing that is not shown is taken: scripts, styles, templates, drawings. Also writes what others turn into
 * HTML (DOCX, messages, chapters of books).
 */
import { Parser } from "htmlparser2";
import { MARKUP_NESTING_MAX } from "../../protocol/limits.js";
import { decodeText } from "./decode-text.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";
import { tooDeep } from "./read-xml.js";

const HIDDEN = new Set("script style template noscript svg math iframe object canvas select".split(" "));
const BLOCKS = new Set(
  "p div section article header footer main nav aside figure figcaption blockquote address ul ol dl dt dd form fieldset details summary center body html table caption hr li".split(
    " ",
  ),
);
const HEADINGS = /^h([1-6])$/;
const CHARSET = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w:.-]{1,40})/i;
const PIECE_CHARACTERS = 256 * 1024;
const META: Readonly<Record<string, string>> = {
  description: "description",
  author: "author",
  keywords: "keywords",
  "og:description": "description",
};

export function parseHtml({ bytes }: ParserInput, content: ParsedContent): void {
  const declared = CHARSET.exec(bytes.subarray(0, 2048).toString("latin1"))?.[1];
  const { text, encoding } = decodeText(bytes, declared);
  content.mediaType = "text/html";
  content.fact("encoding", encoding);
  writeHtml(text, content);
}

/** Throws DbError `file_corrupt` when its elements nest too deep. */
export function writeHtml(html: string, content: ParsedContent): void {
  const writer = new HtmlWriter(content);
  const parser = new Parser({
    onopentag: (name, attributes) => writer.open(name, attributes),
    onclosetag: (name) => writer.close(name),
    ontext: (text) => writer.text(text),
  });
  for (let at = 0; at < html.length; at += PIECE_CHARACTERS) {
    content.checkTime();
    parser.write(html.slice(at, at + PIECE_CHARACTERS));
  }
  parser.end();
  writer.endBlock();
}

class HtmlWriter {
  /** Of the paragraph, heading or row that is open. */
  private pending = "";
  private depth = 0;
  /** Depth of the outermost hidden element; 0: none. */
  private hiddenFrom = 0;
  private preformatted = 0;
  private inTitle = false;
  private titleText = "";
  private headingLevel = 0;
  private cells: string[] | null = null;
  private itemMark = "";

  constructor(private readonly content: ParsedContent) {}

  open(name: string, attributes: Record<string, string>): void {
    if (++this.depth > MARKUP_NESTING_MAX) throw tooDeep();
    if (name === "title") this.inTitle = true;
    if (name === "meta") this.meta(attributes);
    if (name === "html") this.content.fact("language", attributes.lang);
    if (this.hiddenFrom > 0) return;
    if (HIDDEN.has(name)) {
      this.hiddenFrom = this.depth;
      return;
    }
    const heading = HEADINGS.exec(name);
    if (heading !== null) {
      this.endBlock();
      this.headingLevel = Number(heading[1]);
    } else if (name === "pre" || name === "textarea") {
      this.endBlock();
      this.preformatted++;
      this.content.text.keepWhole("line");
    } else if (name === "tr") {
      this.endBlock();
      this.cells = [];
    } else if (name === "td" || name === "th") this.endCell();
    else if (name === "br") this.pending += "\n";
    else if (name === "img") this.addWords(attributes.alt ?? "");
    else if (BLOCKS.has(name)) this.openBlock(name);
  }

  close(name: string): void {
    if (name === "title") this.endTitle();
    if (this.hiddenFrom === this.depth) this.hiddenFrom = 0;
    else if (this.hiddenFrom === 0) this.closeShown(name);
    this.depth--;
  }

  text(text: string): void {
    if (this.inTitle) this.titleText += text;
    else if (this.hiddenFrom > 0) return;
    else if (this.preformatted > 0) this.pending += text;
    else this.addWords(text);
  }

  /** Writes what is open as a paragraph, heading or line. */
  endBlock(): void {
    if (this.cells !== null) {
      this.endCell();
      return;
    }
    const text = this.pending;
    this.pending = "";
    if (text.trim() === "") return;
    if (this.headingLevel > 0) this.content.text.heading(this.headingLevel, text);
    else if (this.preformatted > 0) this.content.text.block(text);
    else if (this.itemMark !== "") this.content.text.line(this.itemMark + text.trim());
    else this.content.text.block(text.trim());
  }

  private closeShown(name: string): void {
    if (HEADINGS.test(name)) {
      this.endBlock();
      this.headingLevel = 0;
    } else if (name === "pre" || name === "textarea") {
      this.endBlock();
      this.preformatted = Math.max(0, this.preformatted - 1);
      this.content.text.keepWhole("sentence");
    } else if (name === "td" || name === "th") this.endCell();
    else if (name === "tr" || name === "table") this.endRow();
    else if (BLOCKS.has(name)) {
      this.endBlock();
      if (name === "li") this.itemMark = "";
      if (name === "ul" || name === "ol") this.itemMark = "";
    }
  }

  private openBlock(name: string): void {
    this.endBlock();
    if (name === "li") this.itemMark = "- ";
    else if (name === "ul" || name === "ol") this.content.text.gap();
    else if (name !== "p" && name !== "div") this.itemMark = "";
  }

  private addWords(text: string): void {
    const words = text.replace(/[\s\u00a0]+/g, " ");
    const glued = this.pending === "" || /\s$/.test(this.pending) ? words.trimStart() : words;
    this.pending += glued;
  }

  private endCell(): void {
    const text = this.pending.replace(/\s+/g, " ").trim();
    this.pending = "";
    if (text === "") return;
    if (this.cells !== null) this.cells.push(text);
    else this.content.text.block(text);
  }

  private endRow(): void {
    this.endCell();
    if (this.cells !== null && this.cells.length > 0) this.content.text.line(this.cells.join(" | "));
    this.cells = null;
  }

  private endTitle(): void {
    this.inTitle = false;
    this.content.setTitle(this.titleText);
    this.titleText = "";
  }

  private meta({ name, property, content }: Record<string, string>): void {
    const fact = META[(name ?? property ?? "").toLowerCase()];
    if (fact !== undefined && this.content.metadata[fact] === undefined) this.content.fact(fact, content);
  }
}
