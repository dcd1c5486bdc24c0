/**
 * The first step of reading a date or a time: the text in fields, each of a kind that its letters alone tell. What a
 * field means depends on those before it, which datetime-reading.ts knows.
 */

/** `word` and `signed` are letters; `signed` has a sign before them. `offset` is a sign and digits. */
export type FieldKind = "number" | "date" | "time" | "offset" | "word" | "signed";

export interface Field {
  readonly kind: FieldKind;
  /** In lower case. */
  readonly text: string;
}

const FIELDS_MAX = 25;
/** Of the letters of all fields. */
const LETTERS_MAX = 128;

const SPACE = /[ \t\n\v\f\r]+/y;
/** Stands for nothing between fields. */
const PUNCTUATION = /[!-*,/:-@[-`{-~]/y;

/** The first that fits is taken. */
const SHAPES: readonly (readonly [FieldKind, RegExp])[] = [
  ["time", /\d+:[\d:.]*/y],
  ["date", /\d+([-/.])\d+\1(?:\d|\1)*/y],
  ["date", /\d+[-/]\d+/y],
  ["number", /\d+\.\d+/y],
  ["date", /\d+([-/.])(?:[a-z0-9]|\1)*/y],
  ["number", /\d+|\.\d*/y],
  ["offset", /[+-][ \t\n\v\f\r]*\d[\d:.-]*/y],
  ["signed", /[+-][ \t\n\v\f\r]*[a-z]+/y],
  ["word", /[a-z]+/y],
];
/** What goes on after the letters of a word that is no whole field: the name of a zone, or a date. */
const NAME_TAIL = /[-+/_.:a-z0-9]+/y;

function matchAt(shape: RegExp, text: string, at: number): string | null {
  shape.lastIndex = at;
  return shape.exec(text)?.[0] ?? null;
}

/** The fields of a text, or null when it cannot be of dates and times. `isToken`: a word that digits may follow. */
export function splitFields(source: string, isToken: (word: string) => boolean): Field[] | null {
  const text = source.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const fields: Field[] = [];
  let letters = 0;
  let at = 0;
  while (at < text.length) {
    const skipped = matchAt(SPACE, text, at);
    if (skipped !== null) {
      at += skipped.length;
      continue;
    }
    const found = fieldAt(text, at, isToken);
    if (found === null) {
      if (matchAt(PUNCTUATION, text, at) === null) return null;
      at++;
      continue;
    }
    at += found.text.length;
    const field = { kind: found.kind, text: found.text.replace(/[ \t\n\v\f\r]+/, "") };
    letters += field.text.length;
    if (fields.push(field) > FIELDS_MAX || letters > LETTERS_MAX) return null;
  }
  return fields;
}

function fieldAt(text: string, at: number, isToken: (word: string) => boolean): Field | null {
  for (const [kind, shape] of SHAPES) {
    const found = matchAt(shape, text, at);
    if (found === null) continue;
    if (kind !== "word") return { kind, text: found };
    const next = text[at + found.length] ?? "";
    const goesOn = /[-/.]/.test(next) || (/[+0-9]/.test(next) && !isToken(found));
    if (!goesOn) return { kind, text: found };
    return { kind: "date", text: found + (matchAt(NAME_TAIL, text, at + found.length) ?? "") };
  }
  return null;
}
