/** Writes column values in PostgreSQL's text format, each with its length before it. */
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { toText } from "../../values/text-format.js";
import type { TextStyle } from "../../values/text-style.js";
import type { SqlType, Value } from "../../values/values.js";

/** Writes one value that is not null. */
export type ValueWriter = (writer: MessageWriter, value: Value) => void;

/** What the session says about texts of values. */
export interface TextSettings {
  readonly timeZone: string;
  readonly style: TextStyle | undefined;
}

export function textWriter(type: SqlType, { timeZone, style }: TextSettings): ValueWriter {
  switch (type.name) {
    case "bool":
      return (writer, value) => writer.sizedAscii(value === true ? "t" : "f");
    case "int2":
    case "int4":
    case "int8":
    case "oid":
      return (writer, value) => {
        const from = writer.beginSized();
        writer.integer(value as number | bigint);
        writer.endSized(from);
      };
    case "numeric":
      return (writer, value) => writer.sizedAscii(String(value));
    case "text":
    case "varchar":
    case "bpchar":
    case "name":
      return (writer, value) => writer.sizedText(value as string);
    case "uuid":
      return (writer, value) => writer.sizedAscii(value as string);
    default:
      return (writer, value) => writer.sizedText(toText(type, value, timeZone, style));
  }
}

/** Whether a value's text is what is sent: of UUIDs only as text. */
export function isText({ name }: SqlType, isBinary = false): boolean {
  return TEXTS.has(name) || (name === "uuid" && !isBinary);
}

const TEXTS: ReadonlySet<SqlType["name"]> = new Set(["text", "varchar", "bpchar", "name"]);
