/**
 * How sure the rules are of their SQL: a logistic regression over `src/ai/nl2sql/traits.ts`, from questions that were
 * answered before the rules were changed for them (`first-asked.json`). Used by `fit-confidence.ts`, which writes the
 * weights, and for the quality page.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { confidenceOf, TOLD_SURE } from "../../src/ai/nl2sql/confidence.js";
import { type NamedSchema, TRAITS, traitsOf } from "../../src/ai/nl2sql/traits.js";
import { ROOT } from "../servers.js";

const DATA = join(ROOT, "bench/quality/first-asked.json");
/** Of the weights, which are those of standardized traits. */
const PENALTY = 12;
const STEPS = 30;
/** Of the answers that are told to be sure. */
export const WRONG_MAX = 0.03;

interface FirstAnswer {
  readonly schema: string;
  readonly question: string;
  readonly sql: string;
  /** What the rules said by themselves. */
  readonly certainty: number;
  readonly right: boolean;
  readonly leftOut?: true;
}

export interface Weights {
  readonly constant: number;
  readonly weights: readonly number[];
}

export interface Example {
  readonly schema: string;
  readonly traits: readonly number[];
  readonly certainty: number;
  readonly right: 0 | 1;
}

/** Names of the tables and columns that the statements make. */
function schemaOf(name: string): NamedSchema {
  const text = readFileSync(join(ROOT, "test/quality/questions", `${name}.sql`), "utf8");
  const unquoted = (word: string) => (word.startsWith('"') ? word.slice(1, -1) : word.toLowerCase());
  const tables = [...text.matchAll(/CREATE TABLE ("[^"]+"|\w+) \(([^;]*)\);/g)].map(([, table, body]) => {
    const parts = body!.replaceAll(/\([^()]*\)/g, "").split(",");
    const columns = parts
      .map((part) => part.trim().split(/\s/)[0]!)
      .filter((word) => !/^(?:PRIMARY|FOREIGN|UNIQUE|CHECK)$/.test(word));
    return { name: unquoted(table!), columns: columns.map((column) => ({ name: unquoted(column) })) };
  });
  return { tables };
}

export function examples(): Example[] {
  const answers = JSON.parse(readFileSync(DATA, "utf8")) as FirstAnswer[];
  const schemas = new Map([...new Set(answers.map(({ schema }) => schema))].map((name) => [name, schemaOf(name)]));
  return answers.map(({ schema, question, sql, certainty, right, leftOut = false }) => {
    const traits = traitsOf(question, { sql, certainty, leftOut }, schemas.get(schema)!);
    return { schema, traits: TRAITS.map((trait) => traits[trait]), certainty, right: right ? 1 : 0 };
  });
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

/** Newton's method, on standardized traits; the weights of the plain ones are answered. */
export function fit(some: readonly Example[]): Weights {
  const size = TRAITS.length;
  const means = TRAITS.map((_, i) => some.reduce((sum, { traits }) => sum + traits[i]!, 0) / some.length);
  const scales = TRAITS.map((_, i) =>
    Math.max(1e-6, Math.sqrt(some.reduce((sum, { traits }) => sum + (traits[i]! - means[i]!) ** 2, 0) / some.length)),
  );
  const rows = some.map(({ traits }) => [1, ...traits.map((value, i) => (value - means[i]!) / scales[i]!)]);
  let weights: number[] = Array.from({ length: size + 1 }, () => 0);
  for (let step = 0; step < STEPS; step++) {
    const slope = weights.map((weight, i) => (i === 0 ? 0 : -PENALTY * weight));
    const curve = weights.map((_, i) => weights.map((_other, j) => (i === j && i > 0 ? PENALTY : i === j ? 1e-6 : 0)));
    rows.forEach((row, r) => {
      const p = sigmoid(dot(row, weights));
      for (let i = 0; i <= size; i++) {
        slope[i]! += row[i]! * (some[r]!.right - p);
        for (let j = 0; j <= size; j++) curve[i]![j]! += row[i]! * row[j]! * p * (1 - p);
      }
    });
    const change = solve(curve, slope);
    weights = weights.map((weight, i) => weight + change[i]!);
  }
  const plain = scales.map((scale, i) => weights[i + 1]! / scale);
  return { constant: weights[0]! - dot(plain, means), weights: plain };
}

/** Gauss's elimination with pivots. */
export function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  const size = rows.length;
  for (let i = 0; i < size; i++) {
    const pivot = rows
      .slice(i)
      .reduce((best, row, at) => (Math.abs(row[i]!) > Math.abs(rows[best]![i]!) ? i + at : best), i);
    [rows[i], rows[pivot]] = [rows[pivot]!, rows[i]!];
    for (let below = 0; below < size; below++) {
      if (below === i) continue;
      const factor = rows[below]![i]! / rows[i]![i]!;
      for (let j = i; j <= size; j++) rows[below]![j]! -= factor * rows[i]![j]!;
    }
  }
  return rows.map((row, i) => row[size]! / row[i]!);
}

export const likely = ({ constant, weights }: Weights, { traits }: Example) => sigmoid(constant + dot(weights, traits));

/** Each schema by weights that were fitted on all others. */
export function heldOut(all: readonly Example[]): { readonly p: number; readonly example: Example }[] {
  return [...new Set(all.map(({ schema }) => schema))].flatMap((schema) => {
    const weights = fit(all.filter((one) => one.schema !== schema));
    return all.filter((one) => one.schema === schema).map((example) => ({ p: likely(weights, example), example }));
  });
}

/**
 * The least from which of what is told above .9 at most that share was wrong, of schemas that the weights were not
 * fitted on. Those that are just sure are told .9.
 */
export function sureFrom(some: readonly { readonly p: number; readonly example: Example }[]): number {
  const fits = some
    .map(({ p }) => Math.ceil(p * 1000) / 1000)
    .filter((from) => {
      const told = from < 1 ? some.filter(({ p }) => confidenceOf(p, from) > TOLD_SURE) : [];
      return told.filter(({ example }) => example.right === 0).length <= WRONG_MAX * told.length;
    });
  return Math.min(1, ...fits);
}
