/**
 * Memories in SQL: MEMORY_STORE, MEMORY_UPSERT and MEMORY_FORGET. They write in the transaction of the statement that
 * calls them, as its caller. A rollback undoes them as well, including the namespace's table.
 */

import { sqlError } from "../../protocol/errors.js";
import {
  MEMORY_CHARACTERS_MAX,
  MEMORY_ID_CHARACTERS_MAX,
  MEMORY_METADATA_CHARACTERS_MAX,
} from "../../protocol/limits.js";
import type { DeferredEvaluation, ScalarFunction } from "../../query/expr/expr.js";
import { deferredFn } from "../../query/expr/functions/define.js";
import { BOOL, JSONB, Json, TEXT, type Value } from "../../values/values.js";
import { type MemoryContext, namespaceOf } from "./memory-namespace.js";
import { objectOf, timeOption } from "./memory-options.js";
import { forgetMemory, type NewMemory, replaceMemory, type StoreOptions, storeMemory } from "./write-memory.js";

const writer = (name: string, args: ScalarFunction["args"], returns: ScalarFunction["returns"], each: EachCall) =>
  Object.freeze({ ...deferredFn(name, args, returns, oneByOne(each), { strict: false }), writes: true as const });

/** Metadata and options are JSON, or texts that read as JSON. With options the answer is JSON, too. */
export const MEMORY_FUNCTIONS: readonly ScalarFunction[] = [
  writer("memory_store", [TEXT, TEXT], TEXT, store),
  writer("memory_store", [TEXT, TEXT, JSONB], TEXT, store),
  writer("memory_store", [TEXT, TEXT, TEXT], TEXT, store),
  writer("memory_store", [TEXT, TEXT, JSONB, JSONB], JSONB, store),
  writer("memory_store", [TEXT, TEXT, TEXT, TEXT], JSONB, store),
  writer("memory_upsert", [TEXT, TEXT, TEXT], TEXT, upsert),
  writer("memory_upsert", [TEXT, TEXT, TEXT, JSONB], TEXT, upsert),
  writer("memory_upsert", [TEXT, TEXT, TEXT, TEXT], TEXT, upsert),
  writer("memory_upsert", [TEXT, TEXT, TEXT, JSONB, JSONB], JSONB, upsert),
  writer("memory_upsert", [TEXT, TEXT, TEXT, TEXT, TEXT], JSONB, upsert),
  writer("memory_forget", [TEXT, TEXT], BOOL, forget),
];

type EachCall = (args: readonly Value[], context: MemoryContext) => Promise<Value>;

/** Calls write, so each sees what those before it wrote. */
function oneByOne(each: EachCall): DeferredEvaluation["evaluate"] {
  return async (columns, count, context) => {
    const values: Value[] = [];
    for (let i = 0; i < count; i++) {
      const args = columns.map((column) => column[i]!);
      values.push(await each(args, context as MemoryContext));
      if (context.shouldYield()) await context.yieldTurn();
    }
    return values;
  };
}

async function store(args: readonly Value[], context: MemoryContext) {
  const [namespace, content, metadata, given] = args;
  const isAsked = args.length > 3;
  const options = storeOptions(isAsked ? (given ?? null) : null, ["supersede", "valid_from"]);
  const stored = await storeMemory(context, namespaceText(namespace!), memoryOf(content!, metadata), options);
  return isAsked ? new Json({ ...stored }) : stored.id;
}

async function upsert(args: readonly Value[], context: MemoryContext) {
  const [namespace, id, content, metadata, given] = args;
  const name = textOf(id!, "id", MEMORY_ID_CHARACTERS_MAX);
  const isAsked = args.length > 4;
  const { validFrom } = storeOptions(isAsked ? (given ?? null) : null, ["valid_from"]);
  const memory = memoryOf(content!, metadata);
  const superseded = await replaceMemory(context, namespaceText(namespace!), name, memory, validFrom);
  return isAsked ? new Json({ id: name, superseded }) : name;
}

/** Whether there was one. It goes with all that it superseded and that superseded it. */
async function forget([namespace, id]: readonly Value[], context: MemoryContext) {
  if (id === null) return null;
  return forgetMemory(context, namespaceText(namespace!), id as string);
}

const namespaceText = (value: Value): string => namespaceOf(textOf(value, "namespace", Number.MAX_SAFE_INTEGER));

const memoryOf = (content: Value, metadata: Value | undefined): NewMemory => ({
  content: textOf(content, "content", MEMORY_CHARACTERS_MAX),
  metadata: metadataOf(metadata ?? null),
});

function storeOptions(value: Value, known: readonly string[]): StoreOptions {
  const text = value === null ? "{}" : typeof value === "string" ? value : JSON.stringify((value as Json).value);
  const given = objectOf(text, "the options of a memory");
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw sqlError("22023", `a memory has no option "${unknown}" here`, {
      hint: `Options are ${known.join(" and ")}.`,
    });
  }
  const { supersede = false } = given;
  if (typeof supersede !== "boolean") throw sqlError("22023", 'the option "supersede" must be true or false');
  return { supersede, validFrom: pastTime(given.valid_from ?? null) };
}

/** Throws 22023 and, for what is still to come, 22008. */
function pastTime(value: unknown): string | null {
  const time = timeOption(value, "valid_from");
  if (time === null || Date.parse(time) <= Date.now()) return time;
  throw sqlError("22008", `valid_from is ${time}, which is still to come`, {
    hint: "A memory holds from now on, or since a time in the past. Write a date to come into its content.",
  });
}

/** Throws 22004 and 22023. */
function textOf(value: Value, what: string, charactersMax: number): string {
  if (value === null) throw sqlError("22004", `the ${what} of a memory must not be null`);
  const text = value as string;
  if (text.trim() === "") throw sqlError("22023", `the ${what} of a memory must not be empty`);
  if (text.length <= charactersMax) return text;
  throw sqlError("22023", `the ${what} of a memory has ${text.length} characters; ${charactersMax} are allowed`);
}

function metadataOf(value: Value): object | null {
  if (value === null) return null;
  const text = typeof value === "string" ? value : JSON.stringify((value as Json).value);
  if (text.length > MEMORY_METADATA_CHARACTERS_MAX) {
    throw sqlError("22023", `the metadata of a memory is larger than ${MEMORY_METADATA_CHARACTERS_MAX} characters`);
  }
  return objectOf(text, "the metadata of a memory");
}
