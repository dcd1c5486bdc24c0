/** A value of a row that was written as JSON ahead of its row, because it is large. Writers of cells take it as it is. */
export class WrittenJson {
  constructor(readonly text: string) {}
}
