/**
 * The prose of a Markdown text, as it stands there: without headings, code, tables, images and marks, and with the
 * lines of a paragraph joined. Text without marks of Markdown stays as it is. Called by summarize.ts; pure.
 */
const MARKS =
  /^(?:#{1,6} |```|~~~|\s{0,3}[-*+] \S|\s{0,3}\d+[.)] \S|> |\|.*\|\s*$)|\[[^\]\n]+\]\([^)\n]+\)|\*\*[^*\n]+\*\*/m;
const FENCE = /^\s{0,3}(```+|~~~+)/;
/** Headings, rules under headings and between parts, tables, comments, definitions of links. */
const NO_PROSE = /^\s{0,3}(?:#{1,6}(?:\s|$)|[=*_-]{3,}\s*$|\||<!--|\[[^\]]+\]:\s)/;
const MARKER = /^\s*(?:>\s?)*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?|^\s*(?:>\s?)+/;

export function plainMarkdown(text: string): string {
  if (!MARKS.test(text)) return text;
  const paragraphs: string[] = [];
  let open: string[] = [];
  let fence: string | null = null;
  const close = () => {
    if (open.length > 0) paragraphs.push(open.join(" "));
    open = [];
  };
  for (const line of withoutFrontMatter(text).split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== null || mark !== undefined) {
      close();
      fence = fence === null ? mark! : mark?.startsWith(fence) === true ? null : fence;
      continue;
    }
    if (line.trim() === "" || NO_PROSE.test(line)) {
      close();
      continue;
    }
    const marker = MARKER.exec(line);
    if (marker !== null) close();
    open.push(withoutMarks(line.slice(marker?.[0].length ?? 0).trim()));
  }
  close();
  return paragraphs.filter((paragraph) => paragraph !== "").join("\n");
}

const withoutFrontMatter = (text: string) => text.replace(/^---\n[\s\S]*?\n---\n/, "");

/** Names with underscores and numbers with stars keep them: a mark stands at a word's edge. */
function withoutMarks(line: string): string {
  return line
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replaceAll(/\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replaceAll(/<(https?:[^>\s]+)>/g, "$1")
    .replaceAll(/(`+)([^`]+)\1/g, "$2")
    .replaceAll(/(\*{1,3}|_{1,3})(?=\S)([^*_]*\S)\1(?![\p{L}\p{N}])/gu, "$2")
    .replaceAll(/\s{2,}/g, " ");
}
