/**
 * Whether what a writing clause has not written yet may be what a MERGE of it looks for. As long as it is not, the
 * search need not wait for the writing, and many rows are written together at the clause's end. It may say yes too
 * often, never no too often. Owned by the GraphWriter.
 */
import type { VariantMap } from "../../values/variant.js";
import { variantKey } from "../expr/variant-order.js";
import type { EntityState } from "./entity-table.js";

/** The one node, or the one relationship between known nodes, that a MERGE looks for. */
export type Sought =
  | { readonly of: "node"; readonly properties: VariantMap }
  | {
      readonly of: "relationship";
      readonly src: number;
      readonly dst: number;
      readonly isDirected: boolean;
      readonly byProperties: boolean;
    };

type Key = ReturnType<typeof variantKey>;

export class PendingEntities {
  /** By each property that nodes were looked for by: the values that pending nodes have, or have had. */
  private readonly values = new Map<string, Set<Key>>();
  private hasNodes = false;
  /** The ends of new relationships, and of those that came since somebody looked for one. */
  private readonly pairs = new Set<string>();
  private ends: number[] = [];
  private hasChangedEdges = false;
  /** What is stored may be found though it is not so any more, or not be found. */
  private isMisleading = false;

  addNode(properties: VariantMap): void {
    this.hasNodes = true;
    for (const [name, values] of this.values) {
      const value = properties.get(name) ?? null;
      if (value !== null) values.add(variantKey(value));
    }
  }

  addEdge(src: number, dst: number): void {
    this.ends.push(src, dst);
  }

  /** Before the state has them. */
  setNode(state: EntityState, properties: VariantMap): void {
    this.addNode(properties);
    if (state.stored === null) return;
    for (const name of this.values.keys()) {
      if (keyOf(state.properties, name) !== keyOf(properties, name)) this.isMisleading = true;
    }
  }

  setEdge(): void {
    this.hasChangedEdges = true;
  }

  setLabels(state: EntityState): void {
    // Labels of new nodes are not asked for.
    if (state.stored !== null) this.isMisleading = true;
  }

  remove(): void {
    this.isMisleading = true;
  }

  mayBe(sought: Sought): boolean {
    const mayBe = sought.of === "node" ? this.mayBeNode(sought.properties) : this.mayBeEdge(sought);
    return mayBe || this.isMisleading;
  }

  private mayBeNode(properties: VariantMap): boolean {
    let isOther = false;
    let isFirst = false;
    for (const [name, value] of properties) {
      const values = this.values.get(name);
      if (values === undefined) {
        this.values.set(name, new Set());
        isFirst = true;
      } else if (value !== null && !values.has(variantKey(value))) isOther = true;
    }
    // The values of a property that nobody has looked for before are not known.
    return this.hasNodes && (isFirst || !isOther);
  }

  private mayBeEdge({ src, dst, isDirected, byProperties }: Extract<Sought, { of: "relationship" }>): boolean {
    const { pairs } = this;
    if (byProperties && this.hasChangedEdges) return true;
    for (let i = 0; i < this.ends.length; i += 2) pairs.add(pairOf(this.ends[i]!, this.ends[i + 1]!));
    this.ends = [];
    return pairs.has(pairOf(src, dst)) || (!isDirected && pairs.has(pairOf(dst, src)));
  }

  /** All is written. */
  clear(): void {
    for (const values of this.values.values()) values.clear();
    this.pairs.clear();
    this.ends = [];
    this.hasNodes = false;
    this.hasChangedEdges = false;
    this.isMisleading = false;
  }
}

const pairOf = (src: number, dst: number): string => `${src}:${dst}`;

function keyOf(properties: VariantMap, name: string): Key | null {
  const value = properties.get(name) ?? null;
  return value === null ? null : variantKey(value);
}
