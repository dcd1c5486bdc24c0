/** Built-in types and functions as PostgreSQL's catalog has them, by OID. Data: data/*.ts. */
import { FUNCTION_FACTS, FUNCTION_OUTPUTS } from "./data/functions.js";
import { TYPE_FACTS } from "./data/types.js";
import { linesOf, recordsOf } from "./shapes.js";
import { toEnd } from "./steps.js";

export interface TypeFacts {
  readonly oid: number;
  readonly name: string;
  readonly length: number;
  readonly byValue: boolean;
  readonly kind: string;
  readonly category: string;
  readonly preferred: boolean;
  readonly delimiter: string;
  readonly element: number;
  readonly array: number;
  /** OIDs of its functions: input, output, receive, send, typmod in, typmod out. */
  readonly io: readonly number[];
  readonly align: string;
  readonly storage: string;
  readonly collation: number;
  readonly subscript: number;
  readonly analyze: number;
}

function typeOfLine(line: string): TypeFacts {
  const cells = line.split("|");
  const number = (i: number) => Number(cells[i]);
  return {
    oid: number(0),
    name: cells[1]!,
    length: number(2),
    byValue: cells[3] === "1",
    kind: cells[4]!,
    category: cells[5]!,
    preferred: cells[6] === "1",
    delimiter: cells[7]!,
    element: number(8),
    array: number(9),
    io: [10, 11, 12, 13, 14, 15].map(number),
    align: cells[16]!,
    storage: cells[17]!,
    collation: number(18),
    subscript: number(19),
    analyze: number(20),
  };
}

export interface FunctionFacts {
  readonly oid: number;
  readonly name: string;
  /** pg_proc.prokind. */
  readonly kind: string;
  readonly strict: boolean;
  readonly set: boolean;
  readonly volatility: string;
  readonly parallel: string;
  readonly leakproof: boolean;
  readonly result: number;
  readonly args: readonly number[];
  readonly defaults: number;
  readonly variadic: number;
  /** With OUT parameters: the types, modes and names of all. */
  readonly all: { readonly types: readonly number[]; readonly modes: string; readonly names: readonly string[] } | null;
}

const numbers = (text: string) => (text === "" ? [] : text.split(" ").map(Number));

function* functionsOfRecord(record: string, outputs: ReadonlyMap<number, FunctionFacts["all"]>) {
  const [name, overloads] = record.split("|") as [string, string];
  for (const overload of overloads.split(";")) {
    const [oid, traits, result, args = "", defaults = 0, variadic = 0] = overload.split(",") as string[];
    yield {
      oid: Number(oid),
      name,
      kind: traits![0]!,
      strict: traits![1] === "t",
      set: traits![2] === "t",
      volatility: traits![3]!,
      parallel: traits![4]!,
      leakproof: traits![5] === "t",
      result: Number(result),
      args: numbers(args),
      defaults: Number(defaults),
      variadic: Number(variadic),
      all: outputs.get(Number(oid)) ?? null,
    };
  }
}

let functions: ReadonlyMap<number, FunctionFacts> | null = null;

/** Reads them, which takes tens of milliseconds the first time; stops after some hundred bytes. */
export function* readFunctionFacts(): Generator<undefined, ReadonlyMap<number, FunctionFacts>> {
  if (functions !== null) return functions;
  const outputs = new Map<number, FunctionFacts["all"]>();
  for (const record of recordsOf(FUNCTION_OUTPUTS)) {
    const [oid, types, modes, names = ""] = record.split(",") as string[];
    outputs.set(Number(oid), { types: numbers(types!), modes: modes!, names: names === "" ? [] : names.split(" ") });
    yield;
  }
  const byOid = new Map<number, FunctionFacts>();
  for (const record of recordsOf(FUNCTION_FACTS)) {
    for (const facts of functionsOfRecord(record, outputs)) byOid.set(facts.oid, facts);
    yield;
  }
  functions = byOid;
  return functions;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** All of PostgreSQL's, whether they exist here or not. */
export const typeFacts = once(
  (): ReadonlyMap<number, TypeFacts> =>
    new Map(linesOf(TYPE_FACTS).map((line) => [Number(line.slice(0, line.indexOf("|"))), typeOfLine(line)])),
);

export const typeFactsByName = once(
  (): ReadonlyMap<string, TypeFacts> => new Map([...typeFacts().values()].map((facts) => [facts.name, facts])),
);

/** All of PostgreSQL's, whether they exist here or not. */
export const functionFacts = (): ReadonlyMap<number, FunctionFacts> => functions ?? toEnd(readFunctionFacts());

export const functionFactsByName = once((): ReadonlyMap<string, readonly FunctionFacts[]> => {
  const byName = new Map<string, FunctionFacts[]>();
  for (const facts of functionFacts().values()) {
    const named = byName.get(facts.name);
    if (named === undefined) byName.set(facts.name, [facts]);
    else named.push(facts);
  }
  return byName;
});
