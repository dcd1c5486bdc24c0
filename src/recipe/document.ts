/**
 * Reads a recipe's text as a value: YAML 1.2 or JSON, which is YAML. Aliases and custom tags are refused, so that a
 * short text cannot stand for a large value; so are duplicate keys. Errors have a line and a column. Called by
 * read-recipe.ts.
 */
import { isAlias, isNode, LineCounter, parseDocument, Scalar, visit } from "yaml";
import { DbError } from "../protocol/errors.js";
import { RECIPE_BYTES_MAX, RECIPE_DEPTH_MAX } from "../protocol/limits.js";
import { recipeTooLarge } from "../protocol/size-errors.js";
import type { Place } from "./recipe.js";
import { yamlFaultOf } from "./yaml-fault.js";

/** Members and indexes on the way to a value. */
export type Path = readonly (string | number)[];

export interface SourceDocument {
  readonly value: unknown;
  /** The position of the value at that path, or of what surrounds it; null: there was no text. */
  placeOf(path: Path): Place | null;
}

/** `workflow[2].sql` */
export function pathText(path: Path): string {
  return path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );
}

export function invalidRecipe(message: string, field: string, place: Place | null, hint?: string): DbError {
  const where = place === null ? "" : ` (line ${place.line}, column ${place.column})`;
  const subject = field === "" ? "" : `${field}: `;
  return new DbError("invalid_recipe", `${subject}${message}${where}`, {
    ...(field !== "" && { field }),
    ...(place !== null && { line: place.line, column: place.column }),
    ...(hint !== undefined && { hint }),
  });
}

/** Throws `invalid_recipe` and `payload_too_large`. */
export function readText(text: string): SourceDocument {
  if (Buffer.byteLength(text) > RECIPE_BYTES_MAX) throw recipeTooLarge();
  const lineCounter = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const document = parsed(text, lineCounter);
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) {
    throw invalidRecipe(`not valid YAML or JSON: ${yamlFaultOf(error, text)}`, "", placeAt(error.pos[0]));
  }
  visit(document, (_, node) => {
    const fault = isNode(node) ? faultOf(node) : null;
    if (fault !== null) throw invalidRecipe(fault, "", placeAt((node as Scalar).range?.[0] ?? 0));
  });
  const placeOf = (path: Path): Place | null => {
    for (let length = path.length; length >= 0; length--) {
      const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
      if (!isNode(node) || !node.range) continue;
      const start = placeAt(node.range[0]);
      return length === path.length && node instanceof Scalar ? textPlace(node, text, start) : start;
    }
    return { line: 1, column: 1 };
  };
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  requireShallow(value, placeOf);
  return { value, placeOf };
}

/** The same of a value that came as JSON. */
export function readJson(json: string): SourceDocument {
  if (Buffer.byteLength(json) > RECIPE_BYTES_MAX) throw recipeTooLarge();
  const placeOf = () => null;
  const value: unknown = JSON.parse(json);
  requireShallow(value, placeOf);
  return { value, placeOf };
}

function parsed(text: string, lineCounter: LineCounter) {
  try {
    return parseDocument(text, {
      lineCounter,
      schema: "core",
      stringKeys: true,
      prettyErrors: false,
      logLevel: "error",
    });
  } catch (error) {
    // The parser calls itself for nested values.
    if (error instanceof RangeError) throw tooDeep("", null);
    throw error;
  }
}

function faultOf(node: object): string | null {
  if (isAlias(node)) return "aliases (*name) are not allowed in recipes; repeat the value";
  if (!(node instanceof Scalar)) return null;
  const { value } = node;
  if (typeof value === "number" && !Number.isFinite(value)) return "numbers must be finite";
  return typeof value === "string" && value.includes("\0") ? "texts must hold no NUL" : null;
}

function requireShallow(value: unknown, placeOf: SourceDocument["placeOf"]): void {
  const walk = (item: unknown, path: Path): void => {
    if (typeof item !== "object" || item === null) return;
    if (path.length >= RECIPE_DEPTH_MAX) throw tooDeep(pathText(path.slice(0, 3)), placeOf(path));
    if (Array.isArray(item)) for (let i = 0; i < item.length; i++) walk(item[i], [...path, i]);
    else for (const [key, member] of Object.entries(item)) walk(member, [...path, key]);
  };
  walk(value, []);
}

const tooDeep = (field: string, place: Place | null) =>
  invalidRecipe(`nested deeper than ${RECIPE_DEPTH_MAX} levels`, field, place);

/** Where the text of a scalar begins, and whether its lines are the document's. */
function textPlace({ type, value, range }: Scalar, source: string, start: Place): Place {
  if (typeof value !== "string" || !range) return start;
  if (type === "BLOCK_LITERAL") {
    const below = source.indexOf("\n", range[0]) + 1;
    const margin = /^[ \t\r\n]*?( *)\S/.exec(source.slice(below, range[1]))?.[1]?.length ?? 0;
    return { line: start.line + 1, column: margin + 1, margin: margin + 1 };
  }
  const written = source.slice(range[0], range[1]);
  const quote = type === "PLAIN" ? 0 : 1;
  if (written.length !== value.length + 2 * quote) return start;
  return { line: start.line, column: start.column + quote, margin: start.column + quote };
}
