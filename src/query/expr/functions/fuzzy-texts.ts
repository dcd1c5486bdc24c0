/**
 * Functions of the extension fuzzystrmatch: how many edits make one text of another, and how words sound in English
 * (Soundex; Lawrence Philips's Metaphone of 1990). Double Metaphone is not there.
 */
import { sqlError } from "../../../protocol/errors.js";
import { characterCount } from "../../../values/text-format.js";
import { INT4, type SqlType, TEXT } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { aliases, fn, taking } from "./define.js";

const EDITED_CHARACTERS_MAX = 255;
const METAPHONE_BYTES_MAX = 255;
const SOUNDEX_LENGTH = 4;

// Edits

interface Costs {
  readonly insertion: number;
  readonly deletion: number;
  readonly replacement: number;
}

const ONE_EACH: Costs = { insertion: 1, deletion: 1, replacement: 1 };

/** Throws 22023 for texts that are too long to be compared. */
function editCost(from: string, to: string, { insertion, deletion, replacement }: Costs): number {
  if (from === "") return characterCount(to) * insertion;
  if (to === "") return characterCount(from) * deletion;
  const a = comparable(from);
  const b = comparable(to);
  let row = Array.from({ length: a.length + 1 }, (_, i) => i * deletion);
  for (let j = 1; j <= b.length; j++) {
    const next = [j * insertion];
    for (let i = 1; i <= a.length; i++) {
      const replaced = row[i - 1]! + (a[i - 1] === b[j - 1] ? 0 : replacement);
      next.push(Math.min(row[i]! + insertion, next[i - 1]! + deletion, replaced));
    }
    row = next;
  }
  return row[a.length]!;
}

function comparable(text: string): string[] {
  // A character has two code units at most.
  const characters = text.length > 2 * EDITED_CHARACTERS_MAX ? [] : Array.from(text);
  if (characters.length === 0 || characters.length > EDITED_CHARACTERS_MAX) {
    throw sqlError("22023", `levenshtein argument exceeds maximum length of ${EDITED_CHARACTERS_MAX} characters`);
  }
  return characters;
}

/** The cost if it is within the bound, else a larger number. */
const within = (cost: number, most: number): number => (most >= 0 && cost > most ? most + 1 : cost);

// Soundex

/** By letter, from A on; 0: it is not heard. */
const SOUNDEX_CODES = "01230120022455012623010202";
const LETTER = /[A-Za-z]/;

function soundexCode(character: string): string {
  const upper = character.toUpperCase();
  return LETTER.test(character) ? SOUNDEX_CODES[upper.charCodeAt(0) - 65]! : character;
}

/** "": there is no letter. */
function soundex(text: string): string {
  const first = text.search(LETTER);
  if (first < 0) return "";
  let code = text[first]!.toUpperCase();
  for (let i = first + 1; i < text.length && code.length < SOUNDEX_LENGTH; i++) {
    const character = text[i]!;
    if (!LETTER.test(character)) continue;
    const digit = soundexCode(character);
    if (digit !== "0" && digit !== soundexCode(text[i - 1]!)) code += digit;
  }
  return code.padEnd(SOUNDEX_LENGTH, "0");
}

function alikePlaces(a: string, b: string): number {
  const [x, y] = [soundex(a), soundex(b)];
  let count = 0;
  for (let i = 0; i < SOUNDEX_LENGTH; i++) if (x[i] === y[i]) count++;
  return count;
}

// Metaphone

/** The sounds of "sh" and of "th". */
const SH = "X";
const TH = "0";

const isVowel = (letter: string): boolean => letter !== "" && "AEIOU".includes(letter);
const isSoftening = (letter: string): boolean => letter !== "" && "EIY".includes(letter);

/** What is heard at a place of a word, and how many letters more belong to it. */
type Sound = readonly [sounds: string, more: number];

/** A word in capitals; letters beyond its ends are "". */
interface Place {
  readonly before: (count: number) => string;
  readonly after: (count: number) => string;
}

const isBeforeIaOrIo = ({ after }: Place): boolean => after(1) === "I" && (after(2) === "A" || after(2) === "O");

const always = (sounds: string) => (): Sound => [sounds, 0];
const beforeVowel =
  (sounds: string) =>
  ({ after }: Place): Sound => [isVowel(after(1)) ? sounds : "", 0];

const SOUNDS: Readonly<Record<string, (place: Place) => Sound>> = {
  B: ({ before }) => [before(1) === "M" ? "" : "B", 0],
  C: soundOfC,
  D: ({ after }) => (after(1) === "G" && isSoftening(after(2)) ? ["J", 1] : ["T", 0]),
  F: always("F"),
  G: soundOfG,
  H: ({ before, after }) => [isVowel(after(1)) && !"CGPST".includes(before(1) || " ") ? "H" : "", 0],
  J: always("J"),
  K: ({ before }) => [before(1) === "C" ? "" : "K", 0],
  L: always("L"),
  M: always("M"),
  N: always("N"),
  P: ({ after }) => [after(1) === "H" ? "F" : "P", 0],
  Q: always("K"),
  R: always("R"),
  S: (place) => {
    const { after } = place;
    if (isBeforeIaOrIo(place)) return [SH, 0];
    if (after(1) === "H") return [SH, 1];
    return after(1) === "C" && after(2) === "H" && after(3) === "W" ? [SH, 2] : ["S", 0];
  },
  T: (place) => (isBeforeIaOrIo(place) ? [SH, 0] : place.after(1) === "H" ? [TH, 1] : ["T", 0]),
  V: always("F"),
  W: beforeVowel("W"),
  X: always("KS"),
  Y: beforeVowel("Y"),
  Z: always("S"),
};

function soundOfC({ before, after }: Place): Sound {
  if (isSoftening(after(1))) {
    if (after(1) === "I" && after(2) === "A") return [SH, 0];
    return [before(1) === "S" ? "" : "S", 0];
  }
  if (after(1) !== "H") return ["K", 0];
  return [after(2) === "R" || before(1) === "S" ? "K" : SH, 1];
}

function soundOfG({ before, after }: Place): Sound {
  if (after(1) === "H") {
    const isSilent = "BDH".includes(before(3) || " ") || before(4) === "H";
    return isSilent ? ["", 0] : ["F", 1];
  }
  if (after(1) === "N") {
    const isDropped = !LETTER.test(after(2)) || (after(2) === "E" && after(3) === "D");
    return [isDropped ? "" : "K", 0];
  }
  return [isSoftening(after(1)) && before(1) !== "G" ? "J" : "K", 0];
}

/** Of the beginning of a word: what is heard, and of how many letters. */
function beginning({ after }: Place): Sound {
  const [first, second] = [after(0), after(1)];
  if (first === "A" && second === "E") return ["E", 2];
  if (isVowel(first)) return [first, 1];
  if ("GKP".includes(first) && second === "N") return ["N", 2];
  if (first === "X") return ["S", 1];
  if (first !== "W") return ["", 0];
  if (second === "H" || second === "R") return [second, 2];
  return isVowel(second) ? ["W", 2] : ["", 0];
}

function metaphone(text: string, length: number): string {
  if (text === "") return "";
  if (text.length > METAPHONE_BYTES_MAX || Buffer.byteLength(text) > METAPHONE_BYTES_MAX) {
    throw sqlError("22023", `argument exceeds the maximum length of ${METAPHONE_BYTES_MAX} bytes`);
  }
  if (length > METAPHONE_BYTES_MAX) {
    throw sqlError("22023", `output exceeds the maximum length of ${METAPHONE_BYTES_MAX} bytes`);
  }
  if (length <= 0) throw sqlError("2200F", "output cannot be empty string");
  // A character for each byte, because that is how far apart letters are.
  const bytes = Buffer.from(text).toString("latin1");
  const word = bytes.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
  let at = word.search(LETTER);
  if (at < 0) return "";
  const place: Place = { before: (count) => word[at - count] ?? "", after: (count) => word[at + count] ?? "" };
  const [first, taken] = beginning(place);
  let sounds = first;
  for (at += taken; at < word.length && sounds.length < length; at++) {
    const letter = word[at]!;
    const isRepeated = letter === word[at - 1] && letter !== "C";
    const [heard, more] = isRepeated ? ["", 0] : (SOUNDS[letter]?.(place) ?? ["", 0]);
    sounds += heard;
    at += more;
  }
  return sounds.slice(0, length);
}

const counts = (count: number): SqlType[] => Array.from({ length: count }, () => INT4);

export const FUZZY_FUNCTIONS: readonly ScalarFunction[] = taking(2, [
  fn("levenshtein", [TEXT, TEXT], INT4, (a: string, b: string) => editCost(a, b, ONE_EACH)),
  fn(
    "levenshtein",
    [TEXT, TEXT, ...counts(3)],
    INT4,
    (a: string, b: string, insertion: number, deletion: number, replacement: number) =>
      editCost(a, b, { insertion, deletion, replacement }),
  ),
  fn("levenshtein_less_equal", [TEXT, TEXT, INT4], INT4, (a: string, b: string, most: number) =>
    within(editCost(a, b, ONE_EACH), most),
  ),
  fn(
    "levenshtein_less_equal",
    [TEXT, TEXT, ...counts(4)],
    INT4,
    (a: string, b: string, insertion: number, deletion: number, replacement: number, most: number) =>
      within(editCost(a, b, { insertion, deletion, replacement }), most),
  ),
  ...aliases(["soundex", "text_soundex"], fn("soundex", [TEXT], TEXT, soundex)),
  fn("difference", [TEXT, TEXT], INT4, alikePlaces),
  fn("metaphone", [TEXT, INT4], TEXT, metaphone),
]);
