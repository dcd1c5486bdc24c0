/**
 * JSON as lines "path: value" in blocks, one for each element of a list, so that a value is found with the names above
 * it. JSON Lines have a document per line.
 */
import { DbError } from "../../protocol/errors.js";
import { FILE_NESTING_MAX } from "../../protocol/limits.js";
import { decodeText } from "./decode-text.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";

const LINES = /\.(jsonl|ndjson)$/i;

export function parseJson({ bytes, job }: ParserInput, content: ParsedContent): void {
  const { text, encoding } = decodeText(bytes);
  content.fact("encoding", encoding);
  content.text.keepWhole("line");
  if (LINES.test(job.path)) parseLines(text, content);
  else parseDocument(text, content);
}

function parseDocument(text: string, content: ParsedContent): void {
  content.mediaType = "application/json";
  const value = read(text, "The document");
  if (!Array.isArray(value)) {
    content.fact("fields", isObject(value) ? Object.keys(value).slice(0, 100) : null);
    writeValue("", value, content);
    return;
  }
  content.fact("items", value.length);
  for (const item of value) writeDocument(item, content);
}

function parseLines(text: string, content: ParsedContent): void {
  content.mediaType = "application/x-ndjson";
  let number = 0;
  let items = 0;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end).trim();
    at = end < 0 ? text.length : end + 1;
    number++;
    if (line === "") continue;
    writeDocument(read(line, `Line ${number}`), content);
    items++;
  }
  content.fact("items", items);
}

function writeDocument(value: unknown, content: ParsedContent): void {
  content.checkTime();
  content.text.gap();
  writeValue("", value, content);
}

/** Depth is bounded before the text is parsed, so that neither the parser nor this runs out of stack. */
function read(text: string, what: string): unknown {
  checkNesting(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DbError("file_corrupt", `${what} is no valid JSON: ${(error as Error).message}.`);
  }
}

function writeValue(path: string, value: unknown, content: ParsedContent): void {
  if (Array.isArray(value)) {
    if (value.every((item) => !isObject(item) && !Array.isArray(item))) {
      if (value.length > 0) writeLine(path, value.map(shown).join(", "), content);
      return;
    }
    for (const [index, item] of value.entries()) writeValue(`${path}[${index}]`, item, content);
  } else if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      writeValue(path === "" ? name : `${path}.${name}`, item, content);
    }
  } else if (value !== null && value !== "") {
    writeLine(path, shown(value), content);
  }
}

function writeLine(path: string, value: string, content: ParsedContent): void {
  content.text.line(path === "" ? value : `${path}: ${value}`);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkNesting(text: string): void {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > FILE_NESTING_MAX) {
        throw new DbError("file_corrupt", `The JSON is nested deeper than ${FILE_NESTING_MAX} levels.`);
      }
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
}
