/** The numbers inside a field of a date or a time, and the faults that a reading ends with. */

import { roundHalfEven, SECOND_MICROS } from "./datetime.js";

/** Why a text is refused. `month or day`: perhaps the fields are of another order. */
export type Fault = "syntax" | "range" | "month or day" | "zone range" | "no such zone";

export class ReadingFault extends Error {
  constructor(
    readonly fault: Fault,
    /** Of `no such zone`. */
    readonly zone = "",
  ) {
    super(fault);
  }
}

const INTEGER_MAX = 2 ** 31 - 1;

export function fail(fault: Fault = "syntax"): never {
  throw new ReadingFault(fault);
}

/** A whole number at the start of `text`, 0 where there is none, and what follows it. */
export function leadingInteger(text: string, fault: Fault = "range"): [number, string] {
  const digits = /^\d*/.exec(text)?.[0] ?? "";
  const value = Number(digits);
  if (value > INTEGER_MAX) fail(fault);
  return [value, text.slice(digits.length)];
}

/** Microseconds of ".25"; a point alone is none. */
export function fractionMicros(text: string): number {
  if (!/^\.\d*$/.test(text)) fail();
  return text === "." ? 0 : roundHalfEven(Number(`0${text}`) * SECOND_MICROS);
}

export function offsetSeconds(text: string): number {
  if (!/^[+-]/.test(text)) fail();
  let [hours, rest] = leadingInteger(text.slice(1), "zone range");
  let minutes = 0;
  let seconds = 0;
  if (rest.startsWith(":")) {
    [minutes, rest] = leadingInteger(rest.slice(1), "zone range");
    if (rest.startsWith(":")) [seconds, rest] = leadingInteger(rest.slice(1), "zone range");
  } else if (rest === "" && text.length > 3) {
    minutes = hours % 100;
    hours = Math.floor(hours / 100);
  }
  if (hours > 15 || minutes > 59 || seconds > 59) fail("zone range");
  if (rest !== "") fail();
  const east = hours * 3600 + minutes * 60 + seconds;
  return text.startsWith("-") ? -east : east;
}
