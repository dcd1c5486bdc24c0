/** Values of types of system catalogs, from text. Called by text-format.ts, which reads the numbers in them. */
import { sqlError } from "../protocol/errors.js";
import type { SystemTypeName } from "./values.js";
import { lsnFromText, snapshotOf, snapshotToText, transactionFromText, wideValue } from "./wide-numbers.js";

/** The first byte of the text, or the byte that three octal digits behind a backslash name. */
function charFromText(text: string): string {
  const octal = /^\\([0-3][0-7]{2})$/.exec(text);
  const byte = octal === null ? Buffer.from(text.slice(0, 2))[0] : Number.parseInt(octal[1] as string, 8);
  return charOfByte(byte ?? 0);
}

/** The value of type "char" of a byte. */
export function charOfByte(byte: number): string {
  return byte === 0 ? "" : String.fromCharCode(byte);
}

/** A byte above 127 is printed as three octal digits. */
export function charToText(value: string): string {
  return value > "\x7f" ? `\\${value.charCodeAt(0).toString(8)}` : value;
}

/** A place in a table, a transaction's number, or numbers between blanks. */
export function systemValueFromText(
  name: SystemTypeName,
  text: string,
  integerIn: (type: "int2" | "oid", text: string) => string,
): string {
  const source = text.trim();
  switch (name) {
    case "tid": {
      const place = /^\(\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(source);
      if (place === null || Number(place[1]) > 0xffffffff || Number(place[2]) > 0xffff)
        throw sqlError("22P02", `invalid input syntax for type tid: "${text}"`);
      return `(${Number(place[1])},${Number(place[2])})`;
    }
    case "xid":
      return String(transactionFromText("xid", text));
    case "xid8":
      return wideValue(transactionFromText("xid8", text));
    case "pg_lsn":
      return lsnFromText(text);
    case "pg_snapshot":
    case "txid_snapshot":
      return snapshotToText(snapshotOf(name, text));
    case "char":
      return charFromText(text);
    default: {
      const member = name === "int2vector" ? "int2" : "oid";
      return source === ""
        ? ""
        : source
            .split(/\s+/)
            .map((part) => integerIn(member, part))
            .join(" ");
    }
  }
}
