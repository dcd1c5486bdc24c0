/**
 * nextval and currval of one session: the catalog's definition as the transaction sees it, the partition's allocator,
 * and what this session was given last.
 */
import { parseRelationName } from "../catalog/relation-names.js";
import type { SequenceNumber } from "../catalog/sequence.js";
import { type DbError, sqlError } from "../protocol/errors.js";
import { runSubquery } from "../query/exec/subquery.js";
import type { EvalServices } from "../query/expr/expr.js";
import type { Transaction } from "../storage/store.js";
import type { Tenant } from "./tenant.js";

/** For a query on its own, which has no session to remember values in. */
export const NO_SEQUENCES: EvalServices = {
  runSubquery,
  currentSequenceValue: (canonical) => {
    throw currvalUndefined(canonical);
  },
};

function currvalUndefined(canonical: string): DbError {
  return sqlError(
    "55000",
    `currval of sequence "${parseRelationName(canonical).name}" is not yet defined in this session`,
  );
}

export class SequenceValues {
  private readonly last = new Map<string, SequenceNumber>();

  constructor(private readonly tenant: Tenant) {}

  services(tx: Transaction): EvalServices {
    const { catalog, number, partition } = this.tenant;
    return {
      runSubquery,
      nextSequenceValue: (canonical) => {
        const { schema, name } = parseRelationName(canonical);
        const sequence = catalog.view(tx).sequence(schema, name);
        if (sequence === null) throw sqlError("42P01", `relation "${name}" does not exist`);
        const value = partition.sequences.next(number, sequence);
        // The value is not told before the block that it comes from is on disk.
        this.tenant.sawEverything();
        this.last.set(canonical, value);
        return value;
      },
      currentSequenceValue: (canonical) => {
        const value = this.last.get(canonical);
        if (value === undefined) throw currvalUndefined(canonical);
        return value;
      },
    };
  }
}
