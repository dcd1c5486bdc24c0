/**
 * The identities that the path method keyvalue() gives objects: PostgreSQL uses the place of the object inside of the
 * stored jsonb value (jsonb.h: four bytes per entry, numbers and containers aligned to four), and so do we, so that
 * answers are the same. One per run of a path.
 */
import { sortedKeys } from "../../../values/json-text.js";
import { Numeric } from "../../../values/numeric.js";

/** Objects of other values than the root lie so far apart. */
const BASE_STEP = 10_000_000_000;

export class JsonIds {
  private readonly ids = new Map<object, number>();

  constructor(root: unknown, vars: unknown) {
    if (typeof vars === "object" && vars !== null && Object.keys(vars).length > 0) this.place(vars, BASE_STEP, 0);
    this.place(root, 0, 0);
    this.generated = typeof vars === "object" && vars !== null && Object.keys(vars).length > 0 ? 2 : 1;
  }

  private generated: number;

  idOf(object: object): number {
    return this.ids.get(object) ?? 0;
  }

  /** Numbers an object that keyvalue() itself has made. */
  generate(object: object): void {
    this.place(object, this.generated++ * BASE_STEP, 0);
  }

  /** Records the containers of a value that starts at `offset`; gives the offset of its end. */
  private place(value: unknown, base: number, start: number): number {
    if (value === null || typeof value === "boolean") return start;
    if (typeof value === "string") return start + Buffer.byteLength(value);
    if (typeof value === "number" || typeof value === "bigint" || value instanceof Numeric) {
      return aligned(start) + numericBytes(value);
    }
    const offset = aligned(start);
    this.ids.set(value as object, base + offset);
    if (Array.isArray(value)) {
      let at = offset + 4 + 4 * value.length;
      for (const member of value) at = this.place(member, base, at);
      return at;
    }
    const object = value as Record<string, unknown>;
    const keys = sortedKeys(object);
    let at = offset + 4 + 8 * keys.length;
    for (const key of keys) at += Buffer.byteLength(key);
    for (const key of keys) at = this.place(object[key], base, at);
    return at;
  }
}

const aligned = (offset: number) => Math.ceil(offset / 4) * 4;

/** Size of a numeric datum: its length word, a header of two or four bytes and two bytes per four digits. */
function numericBytes(value: number | bigint | Numeric): number {
  const text = (value instanceof Numeric ? value : Numeric.parse(String(value))).toString().replace("-", "");
  const [whole, fraction = ""] = text.split(".") as [string, string?];
  const integer = whole.replace(/^0+/, "");
  const digits =
    integer.padStart(Math.ceil(integer.length / 4) * 4, "0") + fraction.padEnd(Math.ceil(fraction.length / 4) * 4, "0");
  const groups = digits.match(/.{4}/g) ?? [];
  let first = 0;
  let last = groups.length;
  while (first < last && groups[first] === "0000") first++;
  while (last > first && groups[last - 1] === "0000") last--;
  const weight = Math.ceil(integer.length / 4) - 1 - first;
  const short = fraction.length <= 63 && weight >= -64 && weight <= 63;
  return 4 + (short ? 2 : 4) + 2 * (last - first);
}
