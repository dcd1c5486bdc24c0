/**
 * The line of each row of a file. Most rows take as many lines as the one before, so neighbours share an entry: a list
 * with a number for each of millions of rows is copied whenever it has no more room, and V8 marks all of it.
 */
export class RowLines {
  /** Of each entry: its first row, that row's line, and by how many lines the rows go on. */
  private readonly rows: number[] = [];
  private readonly lines: number[] = [];
  private readonly steps: number[] = [];
  private count = 0;
  private last = 0;

  /** Of the next row. */
  add(line: number): void {
    const { rows, steps, count } = this;
    const entry = rows.length - 1;
    const step = line - this.last;
    if (entry < 0 || (steps[entry] !== step && rows[entry] !== count - 1)) {
      rows.push(count);
      this.lines.push(line);
      steps.push(0);
    } else if (rows[entry] === count - 1) steps[entry] = step;
    this.count++;
    this.last = line;
  }

  /** Rows are counted from 0. */
  lineOf(row: number): number {
    const { rows, lines, steps } = this;
    let low = 0;
    let high = rows.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (rows[middle]! <= row) low = middle;
      else high = middle - 1;
    }
    return lines[low]! + (row - rows[low]!) * steps[low]!;
  }
}
