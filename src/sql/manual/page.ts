/** One page of the SQL manual. */
export interface ManualPage {
  readonly title: string;
  readonly kind: "statement" | "function" | "operator" | "aggregate" | "window function" | "type" | "topic";
  /** What one writes; a line per form. Brackets are optional parts, `|` separates choices, … repeats. */
  readonly syntax: string;
  readonly description: string;
  /** Statements that run as they stand, after the examples of CREATE TABLE. */
  readonly example: string;
}
