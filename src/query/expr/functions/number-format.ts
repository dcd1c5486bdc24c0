/** Number templates of to_char() and to_number() (chapter 9.8, table 9.30). */
import { sqlError } from "../../../protocol/errors.js";
import { PICTURE_CHARACTERS_MAX } from "../../../protocol/limits.js";
import { Numeric } from "../../../values/numeric.js";

interface Template {
  /** Digits, points, separators, signs and literals in order. */
  readonly tokens: readonly string[];
  readonly integerDigits: number;
  readonly fractionDigits: number;
  /** Index among the integer digits from which zeros are printed; −1: none. */
  readonly zeroFrom: number;
  readonly fill: boolean;
  /** Digits after V: the number is multiplied by that power of ten. */
  readonly shift: number;
}

const TOKEN = /\\"|"(?:[^"\\]|\\[\s\S])*"?|FM|EEEE|MI|PL|SG|PR|RN|TH|[09.,DGLSVB]|[\s\S]/gi;
const QUOTED = /^"((?:[^"\\]|\\[\s\S])*)"?$/;
const KEYWORD = /^(?:FM|EEEE|MI|PL|SG|PR|RN|TH|[09.,DGLSVB])$/i;

/** Pictures are read in one step, so they are bounded. Throws 54000. */
export function checkPicture(format: string): void {
  if (format.length > PICTURE_CHARACTERS_MAX) {
    throw sqlError("54000", `format is longer than ${PICTURE_CHARACTERS_MAX} characters`);
  }
}

function parse(format: string): Template {
  const tokens = (format.match(TOKEN) ?? []).map((token) => {
    const upper = token.toUpperCase();
    // A backslash takes away the meaning of a quote; a quote that is not closed reaches to the end.
    if (token === '\\"') return '"\\"';
    const quoted = QUOTED.exec(token);
    if (quoted !== null) return `"${quoted[1]}`;
    if (!KEYWORD.test(token)) return `"${token}`;
    // "th" keeps its case, which is that of the suffix.
    return upper === "TH" || upper === "RN" ? token : upper;
  });
  let integerDigits = 0;
  let fractionDigits = 0;
  let zeroFrom = -1;
  let shift = 0;
  let part: "integer" | "fraction" | "shift" = "integer";
  for (const token of tokens) {
    if (token === "." || token === "D") {
      if (part === "fraction") throw sqlError("42601", "multiple decimal points");
      part = "fraction";
    } else if (token === "V") part = "shift";
    else if (token === "9" || token === "0") {
      if (part === "fraction") fractionDigits++;
      else {
        if (token === "0" && zeroFrom < 0) zeroFrom = integerDigits;
        integerDigits++;
        if (part === "shift") shift++;
      }
    }
  }
  return { tokens, integerDigits, fractionDigits, zeroFrom, shift, fill: !tokens.includes("FM") };
}

const ROMAN: readonly (readonly [number, string])[] = [
  [1000, "M"],
  [900, "CM"],
  [500, "D"],
  [400, "CD"],
  [100, "C"],
  [90, "XC"],
  [50, "L"],
  [40, "XL"],
  [10, "X"],
  [9, "IX"],
  [5, "V"],
  [4, "IV"],
  [1, "I"],
];

function roman(value: number): string {
  if (!(value >= 1 && value <= 3999)) return "#".repeat(15);
  let rest = value;
  let text = "";
  for (const [size, letters] of ROMAN) {
    while (rest >= size) {
      text += letters;
      rest -= size;
    }
  }
  return text;
}

/** "st", "nd", "rd" or "th" for the last digits of a number. */
export function ordinalSuffix(digits: string): string {
  if (digits.at(-2) === "1") return "th";
  return { "1": "st", "2": "nd", "3": "rd" }[digits.at(-1) as string] ?? "th";
}

/** What to_char has to know of a floating-point number besides its digits (formatting.c, float8_to_char). */
export interface FloatFormat {
  /** Significant digits of the type, beyond which no fraction is printed. */
  readonly precision: number;
  /** Also of −0, and of what is rounded to it. */
  readonly isNegative: boolean;
}

/** to_char(number, format). Throws 54000. */
export function formatNumber(value: Numeric, format: string, float: FloatFormat | null = null): string {
  if (format === "") return "";
  checkPicture(format);
  const template = parse(format);
  const rn = template.tokens.find((token) => token.toUpperCase() === "RN");
  if (rn !== undefined) {
    const text = value.isFinite() ? roman(value.round().toNumber()) : "#".repeat(15);
    const padded = template.fill ? text.padStart(15) : text;
    return rn === "rn" ? padded.toLowerCase() : padded;
  }
  if (template.tokens.includes("EEEE")) return scientific(value, template);
  const shifted =
    template.shift > 0 && value.isFinite() ? value.mul(Numeric.of(10n ** BigInt(template.shift), 0)) : value;
  const most = float === null ? template.fractionDigits : Math.max(float.precision - wholeDigits(shifted), 0);
  const places = Math.min(template.fractionDigits, most);
  const rounded = float === null ? shifted.round(places) : roundHalfEven(shifted, places);
  const [whole, fraction = ""] = rounded.abs().toString().split(".") as [string, string?];
  const overflow = (whole === "0" ? 0 : whole.length) > template.integerDigits;
  const digits = {
    whole: overflow ? "#".repeat(template.integerDigits) : whole === "0" ? "" : whole,
    fraction: overflow ? "#".repeat(places) : fraction,
    hasPoint: overflow || (value.isFinite() && places > 0),
  };
  const negative = float?.isNegative ?? (value.signum() < 0 && !(rounded.isZero() && value.isFinite()));
  return new NumberPrinter(template, digits, negative, rounded.isZero()).print();
}

/** As printf rounds. */
function roundHalfEven(value: Numeric, places: number): Numeric {
  const rounded = value.round(places);
  if (!value.isFinite() || value.scale <= places) return rounded;
  const unit = 10n ** BigInt(value.scale - places);
  const isHalf = (value.unscaled % unit) * 2n === (value.unscaled < 0n ? -unit : unit);
  const kept = value.unscaled / unit;
  return isHalf && kept % 2n === 0n ? Numeric.of(kept, places) : rounded;
}

/** Characters before the point when it is written out; also of "Infinity" and "NaN". */
const wholeDigits = (value: Numeric) => value.abs().round().toString().length;

interface Digits {
  readonly whole: string;
  readonly fraction: string;
  /** False: the point of the template is not printed. */
  readonly hasPoint: boolean;
}

function scientific(value: Numeric, template: Template): string {
  const places = template.fractionDigits;
  if (!value.isFinite())
    return ` ${"#".repeat(template.integerDigits)}${places > 0 ? `.${"#".repeat(places)}` : ""}####`;
  const { mantissa, exponent } = scientificParts(value, places);
  const size = String(Math.abs(exponent)).padStart(2, "0");
  const text = `${mantissa}e${exponent < 0 ? "-" : "+"}${size}`;
  return text.startsWith("-") || !template.fill ? text : ` ${text}`;
}

/** One digit before the point and `places` behind it, rounded half away from zero; of numbers of any size. */
function scientificParts(value: Numeric, places: number): { mantissa: string; exponent: number } {
  const { unscaled, scale } = value;
  let digits = (unscaled < 0n ? -unscaled : unscaled).toString();
  let exponent = value.isZero() ? 0 : digits.length - 1 - scale;
  if (digits.length > places + 1) {
    const rounded = Numeric.of(BigInt(digits), digits.length - 1 - places)
      .round()
      .toString();
    if (rounded.length > places + 1) exponent++;
    digits = rounded;
  }
  const fraction = digits.slice(1, places + 1).padEnd(places, "0");
  const sign = unscaled < 0n ? "-" : "";
  return { mantissa: `${sign}${digits[0]}${places > 0 ? `.${fraction}` : ""}`, exponent };
}

const MINUS: ReadonlySet<string> = new Set(["S", "MI", "SG", "PR"]);

class NumberPrinter {
  private out = "";
  private position = 0;
  private fractionPosition = 0;
  private started = false;
  private readonly explicitSign: boolean;

  constructor(
    private readonly template: Template,
    private readonly digits: Digits,
    private readonly negative: boolean,
    private readonly zero: boolean,
  ) {
    this.explicitSign = template.tokens.some((token) => ["S", "MI", "PL", "SG", "PR"].includes(token));
  }

  print(): string {
    const { tokens } = this.template;
    const leadingSign =
      tokens.indexOf("S") >= 0 && tokens.indexOf("S") < tokens.findIndex((token) => /^[09]$/.test(token));
    this.signBefore = leadingSign ? (this.negative ? "-" : "+") : this.defaultSign();
    for (const token of tokens) this.token(token, leadingSign);
    if (!this.started) this.start();
    if (tokens.includes("PR") && !this.negative && this.template.fill) this.out += " ";
    return this.out;
  }

  private signBefore = "";

  /** Without a sign in the template: a minus or a blank before the first digit; PR opens its bracket there. */
  private defaultSign(): string {
    if (this.template.tokens.includes("PR")) return this.negative ? "<" : this.template.fill ? " " : "";
    // PL writes the sign of positive numbers alone.
    if (this.explicitSign && !(this.negative && this.template.tokens.every((token) => !MINUS.has(token)))) return "";
    if (this.negative) return "-";
    return this.template.fill ? " " : "";
  }

  private start(): void {
    if (this.started) return;
    this.started = true;
    this.out += this.signBefore;
  }

  private token(token: string, leadingSign: boolean): void {
    switch (token) {
      case "9":
      case "0":
        if (this.inFraction) this.fractionDigit();
        else this.wholeDigit();
        return;
      case ".":
      case "D":
        this.start();
        this.inFraction = true;
        if (this.digits.hasPoint && (this.template.fill || this.template.fractionDigits > 0)) this.out += ".";
        return;
      case ",":
      case "G":
        if (this.started) this.out += ",";
        else if (this.template.fill) this.out += " ";
        return;
      case "S":
        if (!leadingSign) this.out += this.negative ? "-" : "+";
        return;
      case "MI":
        this.out += this.negative ? "-" : this.template.fill ? " " : "";
        return;
      case "PL":
        this.out += this.negative ? (this.template.fill ? " " : "") : "+";
        // The blank of a positive number stands behind its plus.
        if (!this.negative && !this.started && this.template.fill) this.out += " ";
        return;
      case "SG":
        this.out += this.negative ? "-" : "+";
        return;
      case "PR":
        if (this.negative) this.out += ">";
        return;
      case "L":
        this.out += this.template.fill ? " " : "";
        return;
      case "FM":
      case "V":
      case "B":
        return;
      default:
        this.other(token);
    }
  }

  private inFraction = false;

  private other(token: string): void {
    if (token.startsWith('"')) {
      this.out += token.slice(1).replace(/\\(.)/g, "$1");
      return;
    }
    if (this.negative || this.digits.fraction !== "") return;
    const suffix = ordinalSuffix(this.digits.whole === "" ? "0" : this.digits.whole);
    this.out += token === "th" ? suffix : suffix.toUpperCase();
  }

  private wholeDigit(): void {
    const { integerDigits, zeroFrom, fill } = this.template;
    const missing = integerDigits - this.digits.whole.length;
    const index = this.position++;
    if (index >= missing) {
      this.start();
      this.out += this.digits.whole[index - missing];
    } else if (zeroFrom >= 0 && index >= zeroFrom) {
      this.start();
      this.out += "0";
    } else if (index === integerDigits - 1 && this.zero && !this.hasVisibleFraction()) {
      this.start();
      this.out += "0";
    } else if (fill) this.out += " ";
  }

  /** Whether digits will stand behind the point; if not, a lone zero stands before it. */
  private hasVisibleFraction(): boolean {
    const { fill, fractionDigits } = this.template;
    return fill ? fractionDigits > 0 : this.visibleFraction() > 0;
  }

  /** With FM trailing zeros are left out where the template has a 9. */
  private visibleFraction(): number {
    if (this.template.fill) return this.digits.fraction.length;
    let last = this.digits.fraction.length;
    const marks = this.fractionMarks();
    while (last > 0 && this.digits.fraction[last - 1] === "0" && marks[last - 1] !== "0") last--;
    return last;
  }

  private fractionMarks(): string[] {
    const { tokens } = this.template;
    const point = tokens.findIndex((token) => token === "." || token === "D");
    return tokens.slice(point + 1).filter((token) => token === "9" || token === "0");
  }

  private fractionDigit(): void {
    const index = this.fractionPosition++;
    if (index < this.visibleFraction()) this.out += this.digits.fraction[index] ?? "0";
  }
}

/** to_number(text, format): the digits, sign and point that the template leads one to expect. Throws 22P02. */
export function parseNumber(text: string, format: string): Numeric {
  checkPicture(format);
  const template = parse(format);
  const negative = /-|<.*>/.test(text);
  let digits = "";
  let places = template.integerDigits;
  let fraction = false;
  for (const character of text) {
    if (/\d/.test(character)) {
      if (!fraction && places-- <= 0) break;
      if (fraction && digits.length - digits.indexOf(".") - 1 >= template.fractionDigits) break;
      digits += character;
    } else if (character === "." && !fraction && template.fractionDigits > 0) {
      fraction = true;
      digits += ".";
    }
  }
  if (!/\d/.test(digits)) throw sqlError("22P02", 'invalid input syntax for type numeric: " "');
  const value = Numeric.parse(digits.replace(/\.$/, ""));
  return negative ? value.negate() : value;
}
