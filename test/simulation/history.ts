/** What the clients of a simulation did and saw, for the checker. Times are the loop's. */

export type Operation =
  | { readonly kind: "append"; readonly key: string; readonly value: number }
  | { readonly kind: "read"; readonly key: string; readonly list: readonly number[] };

/** `unknown`: no answer came, so it may have been committed or not. */
export type Ending = "committed" | "aborted" | "unknown";

export interface Transaction {
  readonly id: number;
  readonly client: string;
  readonly began: number;
  ended: number;
  ending: Ending;
  readonly operations: Operation[];
}
