/**
 * Markdown, CommonMark with GitHub's tables by marked's lexer. The text keeps its marks, since a model reads them;
 * headings make the sections, and front matter in YAML gives the title and metadata.
 */
import { Lexer, type Token, type Tokens } from "marked";
import { parse as parseYaml } from "yaml";
import { DbError } from "../../protocol/errors.js";
import { MARKDOWN_NESTING_MAX } from "../../protocol/limits.js";
import { decodeText } from "./decode-text.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;
const FRONT_MATTER_CHARACTERS_MAX = 64 * 1024;

export function parseMarkdown({ bytes }: ParserInput, content: ParsedContent): void {
  const { text: decoded, encoding } = decodeText(bytes);
  content.mediaType = "text/markdown";
  content.fact("encoding", encoding);
  writeMarkdown(frontMatter(decoded, content), content);
}

/** What a line has before its words: marks of quotes and lists, and what indents them. */
const MARKS = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)))+/gm;
const MARK = />|[-*+]|\d[.)]/g;
/** Spaces that indent a list inside another, at least. */
const INDENT = 2;

/** Throws file_corrupt where quotes and lists are nested so deeply that reading them would take minutes. */
function checkNesting(markdown: string): void {
  for (const [marks] of markdown.matchAll(MARKS)) {
    if (marks.length <= MARKDOWN_NESTING_MAX) continue;
    const indented = marks.length - marks.trimStart().length;
    const levels = (marks.match(MARK)?.length ?? 0) + Math.floor(indented / INDENT);
    if (levels <= MARKDOWN_NESTING_MAX) continue;
    const message = `More than ${MARKDOWN_NESTING_MAX} quotes and lists stand inside each other.`;
    throw new DbError("file_corrupt", message);
  }
}

/** Also for what other parsers turn into Markdown. */
export function writeMarkdown(markdown: string, content: ParsedContent): void {
  checkNesting(markdown);
  for (const token of new Lexer({ gfm: true }).blockTokens(markdown)) {
    content.checkTime();
    writeToken(token, content);
  }
}

function writeToken(token: Token, content: ParsedContent): void {
  switch (token.type) {
    case "heading": {
      const { depth, text } = token as Tokens.Heading;
      if (depth === 1) content.setTitle(plain(text));
      content.text.keepWhole("sentence");
      content.text.heading(depth, plain(text));
      return;
    }
    case "code":
      content.text.keepWhole("line");
      content.text.block((token as Tokens.Code).text);
      content.text.keepWhole("sentence");
      return;
    case "table":
      content.text.keepWhole("line");
      content.text.block(token.raw);
      content.text.keepWhole("sentence");
      return;
    case "html":
      content.text.block(token.raw.replace(/<!--[\s\S]*?-->|<[^>]*>/g, ""));
      return;
    case "space":
    case "hr":
    case "def":
      return;
    default:
      content.text.block(token.raw);
  }
}

/** A heading without its inline marks. */
function plain(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]+/g, "")
    .trim();
}

/** The text after the front matter, whose plain values become metadata. */
function frontMatter(text: string, content: ParsedContent): string {
  const match = FRONT_MATTER.exec(text.slice(0, FRONT_MATTER_CHARACTERS_MAX));
  if (match === null) return text;
  try {
    const values: unknown = parseYaml(match[1]!, { maxAliasCount: 0, schema: "core" });
    if (typeof values !== "object" || values === null || Array.isArray(values)) return text;
    for (const [name, value] of Object.entries(values)) {
      if (name === "title" && typeof value === "string") content.setTitle(value);
      else if (isPlain(value)) content.fact(name, value);
    }
  } catch {
    content.notes.push("front matter: not read: it is no valid YAML");
  }
  return text.slice(match[0].length);
}

function isPlain(value: unknown): value is string | number | boolean | string[] {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return ["string", "number", "boolean"].includes(typeof value);
}
