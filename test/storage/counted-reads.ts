import type { CommitLog } from "../../src/storage/commit-log.js";
import type { Operation } from "../../src/storage/operation.js";

/** How many operations are read of a log, at most, between two turns of whoever reads it. */
export class CountedReads {
  most = 0;
  private count = 0;

  constructor(log: CommitLog) {
    const replay = log.replay.bind(log);
    const counted = (operations: Iterable<Operation>): Iterable<Operation> => this.each(operations);
    log.replay = function* (from) {
      for (const entry of replay(from)) yield { ...entry, operations: counted(entry.operations) };
    };
  }

  turn(): void {
    this.count = 0;
  }

  private *each(operations: Iterable<Operation>): Generator<Operation> {
    for (const operation of operations) {
      this.most = Math.max(this.most, ++this.count);
      yield operation;
    }
  }
}
