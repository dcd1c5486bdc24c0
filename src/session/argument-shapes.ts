/**
 * Rows of functions whose constant arguments tell what columns they have (TableFunction.shapeOf): a file is looked at
 * on another thread. Planning stops at such a call; the session waits, and plans again. One per session.
 */
import { DbError } from "../protocol/errors.js";
import type { TableFunction } from "../query/expr/table-function.js";
import type { SqlType, Value } from "../values/values.js";
import type { Client } from "./statement-run.js";

/** Planning has to wait. To a client whose statement cannot wait it is an error. */
export class ShapeWanted extends DbError {
  constructor(
    name: string,
    readonly find: (client: Client) => Promise<void>,
  ) {
    super("not_supported", `The columns of ${name} have to be named here: ${name}(…) AS t(a integer, b text).`);
  }
}

export class ArgumentShapes {
  private known: Map<string, SqlType> | null = null;

  /** The statement that is planned has such a call: what it reads may be another file the next time. */
  get isUsed(): boolean {
    return this.known !== null;
  }

  /** Throws ShapeWanted. */
  readonly shapeOf = (fn: TableFunction, args: readonly Value[]): SqlType => {
    const key = JSON.stringify([fn.name, args]);
    const known = this.known?.get(key);
    if (known !== undefined) return known;
    throw new ShapeWanted(fn.name, async (client) => {
      const shape = await fn.shapeOf!(client, args);
      this.known ??= new Map();
      this.known.set(key, shape);
    });
  };

  /** Before each statement. */
  forget(): void {
    this.known = null;
  }
}

/** The wait for what the error wants, on the statement's behalf; null: it is another error. */
export function afterShape(error: unknown, client: Client): Promise<void> | null {
  return error instanceof ShapeWanted && client.hasActed !== true ? error.find(client) : null;
}
