/**
 * What is wrong with a text that is no YAML, in words. The parser finds faults; each sentence about them stands here.
 * No state.
 */
import type { ErrorCode, YAMLError } from "yaml";

type Fault = Pick<YAMLError, "code" | "message" | "pos">;

/** Characters that are shown of what was found. */
const SHOWN_CHARACTERS = 30;

/** "a closing bracket ] or brace } is missing"; `text` is what was parsed. */
export function yamlFaultOf(fault: Fault, text: string): string {
  const words = WORDS[fault.code];
  return typeof words === "string" ? words : words(foundAt(fault, text), fault.message);
}

/** The word at the place of the fault, in quotes. */
function foundAt({ pos: [start] }: Fault, text: string): string {
  const rest = text.slice(start, start + SHOWN_CHARACTERS);
  const word = /^(?:\\.|[^\s,:[\]{}"'\\]+|\S)/u.exec(rest)?.[0];
  if (word !== undefined) return `"${word}"`;
  return text.slice(start).trim() === "" ? "the end" : "the end of the line";
}

const END = /end with a [\]}]/;

type Words = string | ((found: string, message: string) => string);

const WORDS: Readonly<Record<ErrorCode, Words>> = {
  ALIAS_PROPS: "an alias (*name) takes no tag and no anchor",
  BAD_ALIAS: (found) => `an anchor or alias without a proper name at ${found}`,
  BAD_COLLECTION_TYPE: (found) => `the tag ${found} does not fit its value`,
  BAD_DIRECTIVE: (found) => `an unknown directive ${found}`,
  BAD_DQ_ESCAPE: (found) => `an unknown escape ${found} in double quotes; write \\\\ for a backslash`,
  BAD_INDENT: (_found, message) =>
    END.test(message) ? missing(message) : "the indentation does not fit the lines above",
  BAD_PROP_ORDER: "a tag or an anchor stands before the sign that it has to follow",
  BAD_SCALAR_START: (found) => `a text that begins with ${found} has to stand in quotes`,
  BLOCK_AS_IMPLICIT_KEY: "a second colon in one line; a text with a colon has to stand in quotes",
  BLOCK_IN_FLOW: "a comma is missing before it, or lines with - or : stand inside of [ ] or { }",
  DUPLICATE_KEY: (found) => `the key ${found} is there twice`,
  IMPOSSIBLE: "something follows a value that has ended",
  KEY_OVER_1024_CHARS: "a key with more than 1024 characters before its colon",
  MISSING_CHAR: (_found, message) => missing(message),
  MULTILINE_IMPLICIT_KEY: "a key that goes over several lines; perhaps a colon is missing above",
  MULTIPLE_ANCHORS: "a value with several anchors",
  MULTIPLE_DOCS: "several documents with --- between; a recipe is one",
  MULTIPLE_TAGS: "a value with several tags",
  NON_STRING_KEY: (found) => `the key ${found} is no text; put it in quotes`,
  RESOURCE_EXHAUSTION: "values are nested too deeply",
  TAB_AS_INDENT: "a tab indents the line; use spaces",
  TAG_RESOLVE_FAILED: (found) => `the tag ${found} is not known, or does not fit its value`,
  UNEXPECTED_TOKEN: (found) => `${found} cannot stand here`,
};

/** The parser has one code for all that can be missing, and names the sign. */
function missing(message: string): string {
  return MISSING.find(([pattern]) => pattern.test(message))?.[1] ?? "a sign is missing";
}

const MISSING: readonly (readonly [RegExp, string])[] = [
  [/closing '/, "a text without its closing '"],
  [/closing "/, 'a text without its closing "'],
  [END, "a closing bracket ] or brace } is missing, or stands too far left"],
  [/, or :/, "a comma or a colon is missing"],
  [/Missing ,/, "a comma is missing"],
  [/space after :/, "a space is missing after the colon"],
  [/Implicit map keys/, "a colon is missing after the key"],
  [/without -/, "a dash is missing before an item of the list"],
  [/Comments must/, "a space is missing before the comment"],
  [/Tags and anchors/, "a space is missing after the tag or anchor"],
  [/directives-end|doc-start/, "the line --- is missing after the directives"],
  [/Block scalar/, "a block of text (| or >) begins on the next line"],
];
