/**
 * random() and setseed(): after setseed the numbers are those that PostgreSQL 15 gives after it. The generator is
 * xoroshiro128** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), started by splitmix64.
 * A session has one.
 */
import { sqlError } from "../../../protocol/errors.js";
import { FLOAT8, VOID } from "../../../values/values.js";
import { Capability } from "../capability.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { aliases, fn } from "./define.js";

const U64 = (value: bigint) => BigInt.asUintN(64, value);
const rotated = (value: bigint, by: bigint) => U64(value << by) | (value >> (64n - by));

export class SeededRandom {
  private low: bigint;
  private high: bigint;

  /** @param seed from −1 to 1. */
  constructor(seed: number) {
    let at = U64(BigInt(Math.trunc((2 ** 52 - 1) * seed)));
    const mixed = (): bigint => {
      at = U64(at + 0x9e3779b97f4a7c15n);
      let value = U64((at ^ (at >> 30n)) * 0xbf58476d1ce4e5b9n);
      value = U64((value ^ (value >> 27n)) * 0x94d049bb133111ebn);
      return value ^ (value >> 31n);
    };
    this.low = mixed();
    this.high = mixed();
  }

  /** From 0 on, below 1. */
  next(): number {
    const { low } = this;
    const mixed = this.high ^ low;
    const value = U64(rotated(U64(low * 5n), 7n) * 9n);
    this.low = rotated(low, 24n) ^ mixed ^ U64(mixed << 16n);
    this.high = rotated(mixed, 37n);
    return Number(value >> 12n) / 2 ** 52;
  }
}

/** Of a session; `generator` null: it has set no seed. */
export interface SessionRandom {
  generator: SeededRandom | null;
}

export const RANDOM = new Capability<SessionRandom>("setseed needs a session; there is none here.");

function setSeed({ services }: EvalContext, seed: number): string {
  if (!(seed >= -1 && seed <= 1)) {
    throw sqlError("22023", `setseed parameter ${seed} is out of allowed range [-1,1]`);
  }
  const random = services.capability(RANDOM);
  if (random !== null) random.generator = new SeededRandom(seed);
  return "";
}

const next = ({ services }: EvalContext): number => services.capability(RANDOM)?.generator?.next() ?? Math.random();

export const RANDOM_FUNCTIONS: readonly ScalarFunction[] = [
  ...aliases(["random", "rand"], fn("random", [], FLOAT8, next, { volatility: "volatile", needsContext: true })),
  fn("setseed", [FLOAT8], VOID, setSeed, { volatility: "volatile", needsContext: true }),
];
