/** The variables that may be named at a place in a Cypher query. Made and filled by the checker (check*.ts). */
import type { StaticType } from "./static-type.js";

export class Scope {
  private readonly types = new Map<string, StaticType>();

  /**
   * `outer`: what is seen besides: around a subquery, a comprehension, a FOREACH. `keepsOuter`: of a subquery whose
   * WITHs hide none of it, and give none of its names to something else.
   */
  constructor(
    readonly outer: Scope | null = null,
    readonly keepsOuter = false,
  ) {}

  find(name: string): StaticType | null {
    return this.types.get(name) ?? this.outer?.find(name) ?? null;
  }

  has(name: string): boolean {
    return this.find(name) !== null;
  }

  /** A variable of this name outside is hidden. */
  define(name: string, type: StaticType): void {
    this.types.set(name, type);
  }

  /** The variables of this scope itself, in the order of their definition. */
  get own(): ReadonlyMap<string, StaticType> {
    return this.types;
  }

  /** One inside of this that has a variable of its own. */
  with(name: string, type: StaticType): Scope {
    const inner = new Scope(this);
    inner.define(name, type);
    return inner;
  }
}
