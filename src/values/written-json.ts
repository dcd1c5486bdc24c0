/** A value that was written as JSON ahead of its row, because it is large. Writers of cells take it as it is. */
export class WrittenJson {
  constructor(
    readonly pieces: readonly string[],
    readonly length: number,
  ) {}

  /** To put a long one together takes tens of milliseconds. */
  get text(): string {
    return this.pieces.join("");
  }
}
