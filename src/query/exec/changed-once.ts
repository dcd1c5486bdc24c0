/**
 * UPDATE and DELETE change a row once, also where their input gives it several times, as joins do. Each run of such a
 * statement owns one RowsChangedOnce.
 */
import { keyText } from "../../storage/ordered-map.js";
import type { Plan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { isChangedMeanwhile } from "./statement-snapshot.js";

export class RowsChangedOnce {
  /** Keys of rows that were met; null: each is met once. */
  private readonly seen: Set<string> | null;

  constructor(
    input: Plan,
    private readonly context: ExecContext,
  ) {
    this.seen = givesRowsOnce(input) ? null : new Set();
  }

  /** Whether `takes` says yes whatever it is asked. */
  get takesAll(): boolean {
    return this.seen === null && this.context.live === undefined;
  }

  /** False: the row was met before, or another part of the statement has changed it. */
  takes(key: Uint8Array): boolean {
    if (this.seen !== null) {
      const text = keyText(key);
      if (this.seen.has(text)) return false;
      this.seen.add(text);
    }
    return !isChangedMeanwhile(this.context, key);
  }
}

function givesRowsOnce(input: Plan): boolean {
  switch (input.kind) {
    case "scan":
    case "pointget":
    case "indexscan":
      return true;
    case "filter":
    case "project":
      return givesRowsOnce(input.input);
    default:
      return false;
  }
}
