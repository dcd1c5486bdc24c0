/**
 * Checks documents against their collection's schema. Every fault is reported with its path: "address.zip: must be
 * a string, not a number". Called by document-rows.ts.
 */
import type { FieldType } from "../catalog/document-collection.js";
import { DbError } from "../protocol/errors.js";
import type { Collection, Field } from "./collection.js";
import { isObject, type JsonObject } from "./merge-patch.js";

/** Members inside each other. */
export const DOCUMENT_DEPTH_MAX = 100;
/** Faults of one document that an answer names. */
const FAULTS_MAX = 20;
/** Characters of a document's id. */
const ID_CHARACTERS_MAX = 1024;

/** What text in the database cannot hold: NUL, and halves of surrogate pairs. */
const UNSTORABLE = /[\0\p{Cs}]/u;
const UNSTORABLE_FAULT = "holds a character that cannot be stored (U+0000 or half a surrogate pair)";

const printable = (text: string): string => text.replace(/[\0\p{Cs}]/gu, "\ufffd");

interface Fault {
  readonly path: string;
  readonly message: string;
}

/** Throws invalid_request with all faults, the first in the message. `where`: of a document among several. */
export function checkDocument(collection: Collection, document: JsonObject, where = ""): void {
  const faults: Fault[] = [];
  const tell = (path: string, message: string) => {
    if (faults.length < FAULTS_MAX) faults.push({ path: where === "" ? path : `${where}.${path}`, message });
  };
  const walk: Walk = { trail: [], tell };
  for (const name of Object.keys(document)) {
    if (name === "id" || name === "_id") continue;
    if (UNSTORABLE.test(name)) {
      tell(printable(name), UNSTORABLE_FAULT);
      continue;
    }
    walk.trail.push(name);
    checkJson(document[name], walk);
    walk.trail.pop();
  }
  if (faults.length === 0) {
    for (const field of collection.fields) checkField(field, document, tell);
  }
  if (faults.length === 0) return;
  const [{ path, message }] = faults as [Fault];
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  throw new DbError("invalid_request", `${path}: ${message}${more}`, { field: path, errors: faults });
}

/** On the way through a document. */
interface Walk {
  /** Names and positions that lead to the current value; they are joined into a path only if there is a fault. */
  readonly trail: (string | number)[];
  readonly tell: (path: string, message: string) => void;
}

/** "address.lines[3]" */
function pathOf([first, ...rest]: readonly (string | number)[]): string {
  return rest.reduce<string>(
    (path, part) => path + (typeof part === "number" ? `[${part}]` : `.${part}`),
    String(first),
  );
}

/** MessagePack has values that JSON has not. */
function checkJson(value: unknown, walk: Walk): void {
  const { trail } = walk;
  switch (typeof value) {
    case "string":
      if (UNSTORABLE.test(value)) walk.tell(pathOf(trail), UNSTORABLE_FAULT);
      return;
    case "boolean":
      return;
    case "number":
      if (!Number.isFinite(value)) walk.tell(pathOf(trail), `${value} is not a number of JSON`);
      return;
    case "object":
      break;
    default: {
      const fault = typeof value === "bigint" ? tooLong(value) : `${typeof value} is not a value of JSON`;
      walk.tell(pathOf(trail), fault);
      return;
    }
  }
  if (value !== null) checkMembers(value, walk);
}

function checkMembers(value: object, walk: Walk): void {
  const { trail, tell } = walk;
  if (trail.length > DOCUMENT_DEPTH_MAX) {
    tell(`${pathOf(trail).slice(0, 100)}…`, `nested deeper than ${DOCUMENT_DEPTH_MAX} levels`);
    return;
  }
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      trail.push(i);
      checkJson(value[i], walk);
      trail.pop();
    }
    return;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    tell(pathOf(trail), "is not a value of JSON");
    return;
  }
  for (const name of Object.keys(value)) {
    if (UNSTORABLE.test(name)) tell(`${pathOf(trail)}.${printable(name)}`, UNSTORABLE_FAULT);
    else {
      trail.push(name);
      checkJson((value as JsonObject)[name], walk);
      trail.pop();
    }
  }
}

function checkField(field: Field, document: JsonObject, tell: (path: string, message: string) => void): void {
  let parent: unknown = document;
  for (const name of field.path.slice(0, -1)) {
    parent = isObject(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined;
  }
  // Where the object around it is missing, or another fault, nothing is missing in it.
  if (!isObject(parent)) return;
  const last = field.path.at(-1)!;
  const value = Object.hasOwn(parent, last) ? parent[last] : undefined;
  if (value === undefined || value === null) {
    if (field.required) tell(field.name, value === null ? mustBe(field.type, value) : "is required");
    return;
  }
  const fault = faultOf(field.type, value, field.dimensions);
  if (fault !== null) tell(field.name, fault);
  else if (field.items !== null && Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const inner = faultOf(field.items, value[i], null);
      if (inner !== null) tell(`${field.name}[${i}]`, inner);
    }
  }
}

/** Null: the value is of the type. */
export function faultOf(type: FieldType, value: unknown, dimensions: number | null): string | null {
  switch (type) {
    case "string":
    case "number":
    case "boolean":
      return typeof value === type ? null : mustBe(type, value);
    case "integer":
      return Number.isSafeInteger(value) ? null : mustBe("integer", value);
    case "date":
      return dateMsOf(value) === null ? mustBe("date", value) : null;
    case "object":
      return isObject(value) ? null : mustBe("object", value);
    case "array":
      return Array.isArray(value) ? null : mustBe("array", value);
    case "vector":
      return vectorFault(value, dimensions);
  }
}

function vectorFault(value: unknown, dimensions: number | null): string | null {
  if (!Array.isArray(value)) return mustBe("vector", value);
  if (dimensions !== null && value.length !== dimensions) {
    return `must have ${dimensions} dimensions, not ${value.length}`;
  }
  const wrong = value.findIndex((number) => typeof number !== "number" || !Number.isFinite(Math.fround(number)));
  return wrong < 0 ? null : `must hold numbers only; item ${wrong} is ${kindOf(value[wrong])}`;
}

const TYPES_IN_WORDS: Readonly<Record<FieldType, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  integer: "a whole number",
  date: "a date (RFC 3339 text or milliseconds)",
  object: "an object",
  array: "an array",
  vector: "a list of numbers",
};

function mustBe(type: FieldType, value: unknown): string {
  const sent = type === "integer" && typeof value === "number" ? String(value) : kindOf(value);
  return `must be ${TYPES_IN_WORDS[type]}, not ${sent}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "boolean") return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Documents have numbers as JSON's: doubles. */
export function tooLong(value: bigint): string {
  return `${value} is too large to be stored exactly as a number of a document; send it as a string`;
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;
/** The last instant of the year 9999. */
const DATE_MS_MAX = 253_402_300_799_999;
/** The first of the year 1. */
const DATE_MS_MIN = -62_135_596_800_000;

/** Milliseconds since the epoch of a date's JSON; times without a zone are UTC. Null: it is no date. */
export function dateMsOf(value: unknown): number | null {
  if (typeof value === "number") {
    return Number.isInteger(value) && value >= DATE_MS_MIN && value <= DATE_MS_MAX ? value : null;
  }
  if (typeof value !== "string") return null;
  const parts = DATE.exec(value);
  if (parts === null) return null;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", zone = "Z"] = parts;
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // The engine takes the 31st of any month.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return null;
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${offset}`);
  return ms >= DATE_MS_MIN && ms <= DATE_MS_MAX ? ms : null;
}

/** The document's id as the table has it; null: it brings none. Throws invalid_request. */
export function idOf(id: unknown, where = "id"): string | null {
  if (id === undefined || id === null) return null;
  if (typeof id === "number" && Number.isSafeInteger(id)) return String(id);
  const fits = typeof id === "string" && id !== "" && id.length <= ID_CHARACTERS_MAX && !UNSTORABLE.test(id);
  if (fits) return id;
  throw new DbError("invalid_request", `${where}: must be a string of 1 to ${ID_CHARACTERS_MAX} characters`, {
    field: where,
  });
}
