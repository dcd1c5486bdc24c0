/**
 * Binary forms of types whose values the engine keeps as the text that PostgreSQL prints, and whose bytes say more than
 * the text: tsvector, tsquery, hstore, ltree, jsonpath, tid, int2vector, oidvector (the send and receive functions of
 * PostgreSQL 15).
 */
import { sqlError } from "../../protocol/errors.js";
import type { MessageFields } from "../../protocol/postgres/message-reader.js";
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { pgOidOf } from "../../query/expr/types.js";
import { hstoreText, pairsOf } from "../../values/hstore.js";
import { lqueryFromText } from "../../values/lquery.js";
import { ltreeFromText } from "../../values/ltree.js";
import { ltxtqueryFromText } from "../../values/ltxtquery.js";
import { toText } from "../../values/text-format.js";
import { checkedDistance, checkedQuery, type TsQueryNode, tsQueryOf, tsQueryText } from "../../values/ts-query.js";
import {
  checkedLexeme,
  type Lexeme,
  makeTsVector,
  positionOf,
  tsVectorOf,
  tsVectorText,
} from "../../values/ts-vector.js";
import { INT2, OID, type SqlType, typeOf, type Value } from "../../values/values.js";
import type { ValueWriter } from "./text-values.js";

type TextType =
  | ("tsvector" | "tsquery" | "hstore" | "ltree" | "lquery" | "ltxtquery")
  | ("jsonpath" | "tid" | "int2vector" | "oidvector");

export const TEXT_TYPE_WRITERS: Readonly<Record<TextType, ValueWriter>> = {
  tsvector: (writer, value) => writeTsVector(writer, value as string),
  tsquery: (writer, value) => writeTsQuery(writer, value as string),
  hstore: (writer, value) => writeHstore(writer, value as string),
  ltree: writeVersioned,
  lquery: writeVersioned,
  ltxtquery: writeVersioned,
  jsonpath: (writer, value) => writeVersioned(writer, toText(typeOf("jsonpath"), value)),
  tid: (writer, value) => {
    const [block, item] = (value as string).slice(1, -1).split(",");
    writer.uint32(Number(block));
    writer.uint16(Number(item));
  },
  int2vector: (writer, value) => writeNumbers(writer, value as string, INT2),
  oidvector: (writer, value) => writeNumbers(writer, value as string, OID),
};

const READERS: Readonly<Record<TextType, (fields: MessageFields) => string>> = {
  tsvector: readTsVector,
  tsquery: readTsQuery,
  hstore: readHstore,
  ltree: (fields) => ltreeFromText(readVersioned(fields, "ltree")),
  lquery: (fields) => lqueryFromText(readVersioned(fields, "lquery")),
  ltxtquery: (fields) => ltxtqueryFromText(readVersioned(fields, "ltxtquery")),
  jsonpath: (fields) => readVersioned(fields, "jsonpath"),
  tid: (fields) => `(${fields.uint32()},${fields.uint16()})`,
  int2vector: (fields) => readNumbers(fields, "int2vector", INT2),
  oidvector: (fields) => readNumbers(fields, "oidvector", OID),
};

/** The value's text; null for another type. Throws 22P03. */
export function textFromBinary({ name }: SqlType, fields: MessageFields): string | null {
  return Object.hasOwn(READERS, name) ? READERS[name as TextType](fields) : null;
}

/** Before the text of types that have no other form yet. */
const TEXT_VERSION = 1;

function writeVersioned(writer: MessageWriter, text: Value): void {
  writer.byte(TEXT_VERSION);
  writer.text(text as string);
}

function readVersioned(fields: MessageFields, type: TextType): string {
  if (fields.byte() !== TEXT_VERSION) throw wrong(type);
  return fields.text(fields.left);
}

function wrong(type: TextType): Error {
  return sqlError("22P03", `incorrect binary data format for type ${type}`);
}

function writeTsVector(writer: MessageWriter, text: string): void {
  const lexemes = tsVectorOf(text);
  writer.int32(lexemes.length);
  for (const { word, positions } of lexemes) {
    writer.cstring(word);
    writer.uint16(positions?.length ?? 0);
    for (const position of positions ?? []) writer.uint16(position);
  }
}

function readTsVector(fields: MessageFields): string {
  const count = fields.int32();
  if (count < 0 || count > fields.left) throw wrong("tsvector");
  const lexemes = Array.from({ length: count }, (): Lexeme => {
    const word = lexemeOf(fields, "tsvector");
    const positions = Array.from({ length: fields.uint16() }, () => fields.uint16());
    if (positions.some((entry) => positionOf(entry) === 0)) throw wrong("tsvector");
    return { word, positions: positions.length === 0 ? null : positions };
  });
  return tsVectorText(makeTsVector(lexemes));
}

/** What could not be read again from the text is refused. */
function lexemeOf(fields: MessageFields, type: TextType): string {
  const word = checkedLexeme(fields.cstring());
  if (word === "") throw wrong(type);
  return word;
}

const WORD = 1;
const OPERATOR = 2;
const OPERATORS = ["not", "and", "or", "phrase"] as const;

/** Operators before their operands, the right one first. */
function writeTsQuery(writer: MessageWriter, text: string): void {
  const query = tsQueryOf(text);
  const open: TsQueryNode[] = query === null ? [] : [query];
  const items: TsQueryNode[] = [];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    items.push(node);
    if (node.kind === "not") open.push(node.part);
    else if (node.kind !== "word") open.push(node.left, node.right);
  }
  writer.int32(items.length);
  for (const node of items) {
    if (node.kind === "word") {
      writer.byte(WORD);
      writer.byte(node.weights);
      writer.byte(node.prefix ? 1 : 0);
      writer.cstring(node.word);
      continue;
    }
    writer.byte(OPERATOR);
    writer.byte(OPERATORS.indexOf(node.kind) + 1);
    if (node.kind === "phrase") writer.uint16(node.distance);
  }
}

interface QueryItem {
  readonly kind: (typeof OPERATORS)[number] | "word";
  readonly distance: number;
  readonly word: TsQueryNode | null;
}

/** Read from the end, the operands stand before their operator: the left one on top. */
function readTsQuery(fields: MessageFields): string {
  const count = fields.int32();
  if (count < 0 || count > fields.left) throw wrong("tsquery");
  const items = Array.from({ length: count }, () => readQueryItem(fields));
  const nodes: TsQueryNode[] = [];
  const operand = (): TsQueryNode => {
    const node = nodes.pop();
    if (node === undefined) throw wrong("tsquery");
    return node;
  };
  for (const { kind, distance, word } of items.reverse()) {
    if (kind === "word") nodes.push(word!);
    else if (kind === "not") nodes.push({ kind, part: operand() });
    else {
      const right = operand();
      const left = operand();
      nodes.push(kind === "phrase" ? { kind, distance, left, right } : { kind, left, right });
    }
  }
  if (nodes.length > 1) throw wrong("tsquery");
  return tsQueryText(checkedQuery(nodes[0] ?? null));
}

function readQueryItem(fields: MessageFields): QueryItem {
  const type = fields.byte();
  if (type === WORD) {
    const weights = fields.byte();
    const prefix = fields.byte() !== 0;
    if (weights > 15) throw wrong("tsquery");
    const word = lexemeOf(fields, "tsquery");
    return { kind: "word", distance: 0, word: { kind: "word", word, weights, prefix } };
  }
  const kind = type === OPERATOR ? OPERATORS[fields.byte() - 1] : undefined;
  if (kind === undefined) throw wrong("tsquery");
  return { kind, distance: kind === "phrase" ? checkedDistance(fields.uint16()) : 0, word: null };
}

/** Pairs lie in the order of the text, which is the one of PostgreSQL. */
function writeHstore(writer: MessageWriter, text: string): void {
  const pairs = pairsOf(text);
  writer.int32(pairs.size);
  for (const [key, value] of pairs) {
    writer.sizedText(key);
    if (value === null) writer.int32(-1);
    else writer.sizedText(value);
  }
}

function readHstore(fields: MessageFields): string {
  const count = fields.int32();
  if (count < 0 || count > fields.left) throw wrong("hstore");
  const pairs = new Map<string, string | null>();
  for (let i = 0; i < count; i++) {
    const key = fields.text(fields.int32());
    const length = fields.int32();
    const value = length < 0 ? null : fields.text(length);
    // The first of equal keys counts, as in the text.
    if (!pairs.has(key)) pairs.set(key, value);
  }
  return hstoreText(pairs);
}

/** An array of one dimension that counts from 0, also where it is empty. */
function writeNumbers(writer: MessageWriter, text: string, element: SqlType): void {
  const numbers = text === "" ? [] : text.split(" ").map(Number);
  writer.int32(1);
  writer.int32(0);
  writer.uint32(pgOidOf(element));
  writer.int32(numbers.length);
  writer.int32(0);
  for (const number of numbers) {
    writer.int32(element === INT2 ? 2 : 4);
    if (element === INT2) writer.int16(number);
    else writer.uint32(number);
  }
}

function readNumbers(fields: MessageFields, type: TextType, element: SqlType): string {
  const [dimensions, hasNulls, oid, length, lowerBound] = [
    fields.int32(),
    fields.int32(),
    fields.uint32(),
    fields.int32(),
    fields.int32(),
  ];
  const isPlain = dimensions === 1 && hasNulls === 0 && oid === pgOidOf(element) && lowerBound === 0;
  if (!isPlain || length < 0 || length > fields.left) throw wrong(type);
  return Array.from({ length }, () => {
    if (fields.int32() !== (element === INT2 ? 2 : 4)) throw wrong(type);
    return element === INT2 ? fields.int16() : fields.uint32();
  }).join(" ");
}
