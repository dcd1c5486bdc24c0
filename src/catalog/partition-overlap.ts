/**
 * Checks that a new partition's bound does not overlap existing ones. After check_new_partition_bound of PostgreSQL.
 */
import { sqlError } from "../protocol/errors.js";
import { at } from "./ddl-outcome.js";
import type { PartitionBounds } from "./partition-bounds.js";
import type { PartitionBoundDef, PartitionRangeDatum } from "./table.js";

interface NewBound {
  readonly name: string;
  readonly bound: PartitionBoundDef;
  /** Of the bound in the statement. */
  readonly position: number;
}

/** Throws 42P17. `nameOf`: a partition's name by its id. */
export function checkNewBound(bounds: PartitionBounds, added: NewBound, nameOf: (id: number) => string): void {
  const { name, bound, position } = added;
  if (bound.kind === "default") {
    if (bounds.fallback === null) return;
    const message = `partition "${name}" conflicts with existing default partition "${nameOf(bounds.fallback)}"`;
    throw sqlError("42P17", message, at(position));
  }
  if (bound.kind === "hash") checkModulus(bounds, bound.modulus, nameOf);
  if (bound.kind === "range") checkNotEmpty(bounds, bound, name, position);
  const other = overlapping(bounds, bound);
  if (other === null) return;
  throw sqlError("42P17", `partition "${name}" would overlap partition "${nameOf(other)}"`, at(position));
}

function checkNotEmpty(
  bounds: PartitionBounds,
  { from, to }: Extract<PartitionBoundDef, { kind: "range" }>,
  name: string,
  position: number,
): void {
  if (bounds.rangeKey(from).compare(bounds.rangeKey(to)) < 0) return;
  throw sqlError("42P17", `empty range bound specified for partition "${name}"`, {
    ...at(position),
    detail: `Specified lower bound ${rangeText(from)} is greater than or equal to upper bound ${rangeText(to)}.`,
  });
}

function rangeText(datums: readonly PartitionRangeDatum[]): string {
  const texts = datums.map((datum) => {
    if (typeof datum === "string") return datum.toUpperCase();
    return /^-?[0-9.]+$/.test(datum.value) ? datum.value : `'${datum.value.replaceAll("'", "''")}'`;
  });
  return `(${texts.join(", ")})`;
}

/** Each modulus is a factor of the next larger one. */
function checkModulus({ hashes }: PartitionBounds, modulus: number, nameOf: (id: number) => string): void {
  const refuse = (detail: string) =>
    sqlError("42P17", "every hash partition modulus must be a factor of the next larger modulus", { detail });
  const before = hashes.findLast((hash) => hash.modulus <= modulus);
  const next = hashes.find((hash) => hash.modulus > modulus);
  if (before !== undefined && modulus % before.modulus !== 0) {
    const whose = `the modulus of existing partition "${nameOf(before.id)}"`;
    throw refuse(`The new modulus ${modulus} is not divisible by ${before.modulus}, ${whose}.`);
  }
  if (next !== undefined && next.modulus % modulus !== 0) {
    const whose = `the modulus of existing partition "${nameOf(next.id)}"`;
    throw refuse(`The new modulus ${modulus} is not a factor of ${next.modulus}, ${whose}.`);
  }
}

/** A partition that has rows in common with the bound. */
function overlapping(bounds: PartitionBounds, bound: PartitionBoundDef): number | null {
  switch (bound.kind) {
    case "default":
      return null;
    case "list":
      for (const value of bound.values) {
        const taken = value === null ? bounds.nulls : bounds.lists.get(bounds.listKey(value));
        if (taken !== undefined && taken !== null) return taken;
      }
      return null;
    case "range": {
      const [from, to] = [bounds.rangeKey(bound.from), bounds.rangeKey(bound.to)];
      return bounds.ranges.find((range) => from.compare(range.to) < 0 && range.from.compare(to) < 0)?.id ?? null;
    }
    case "hash": {
      // Remainders meet where they are equal by the smaller modulus, which divides the larger.
      const { modulus, remainder } = bound;
      const meets = (hash: (typeof bounds.hashes)[number]) => {
        const smaller = Math.min(hash.modulus, modulus);
        return hash.remainder % smaller === remainder % smaller;
      };
      return bounds.hashes.find(meets)?.id ?? null;
    }
  }
}
