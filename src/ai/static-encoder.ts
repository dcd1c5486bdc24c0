/**
 * Runs an encoder that is a mean of token vectors: a look-up per token and a sum, a few microseconds a text. It runs
 * in the actor's own thread, because a model's session would cost more to reach than to run. Gives what the bundle's
 * ONNX graph gives, but for rounding. Made and owned by models.ts.
 */
import { readBundleFile } from "./bundle.js";
import { BundleError, type Manifest } from "./manifest.js";
import { TextTokenizer } from "./text-tokenizer.js";

export class StaticEncoder {
  /** Tokens read so far. */
  tokens = 0;
  private readonly sum: Float64Array;

  private constructor(
    private readonly tokenizer: TextTokenizer,
    readonly dimensions: number,
    private readonly table: Int8Array,
    private readonly scales: Float32Array,
    /** Stands for a text without tokens. */
    private readonly unknown: number,
  ) {
    this.sum = new Float64Array(dimensions);
  }

  /** Throws BundleError. */
  static load(directory: string, manifest: Manifest): StaticEncoder {
    const { dimensions, static: layout, tokenizer, max_length, unknown = 0 } = manifest;
    if (layout === undefined || dimensions === undefined) throw new BundleError("the model is not a static encoder");
    const bytes = readBundleFile(directory, manifest, layout.table);
    const tableBytes = layout.rows * dimensions;
    if (bytes.length !== tableBytes + 4 * layout.rows || unknown >= layout.rows) {
      throw new BundleError(`${layout.table} does not hold ${layout.rows} rows of ${dimensions} numbers with scales`);
    }
    const json = readBundleFile(directory, manifest, tokenizer).toString();
    const tokens = new TextTokenizer(json, max_length);
    if (tokens.idsEnd > layout.rows)
      throw new BundleError(`${tokenizer} has more tokens than ${layout.table} has rows`);
    const table = new Int8Array(bytes.buffer, bytes.byteOffset, tableBytes);
    const scales = new Float32Array(layout.rows);
    for (let row = 0; row < layout.rows; row++) scales[row] = bytes.readFloatLE(tableBytes + 4 * row);
    return new StaticEncoder(tokens, dimensions, table, scales, unknown);
  }

  /** Length 1, of the same text always the same. */
  encode(text: string): Float32Array {
    const { sum } = this;
    this.addUp(text);
    let square = squareOf(sum);
    if (square === 0) {
      this.add(this.unknown);
      square = squareOf(sum);
    }
    const vector = new Float32Array(sum.length);
    const scale = 1 / Math.sqrt(square);
    for (let i = 0; i < vector.length; i++) vector[i] = sum[i]! * scale;
    return vector;
  }

  /** The sum of the tokens' vectors as it is: its length tells how much the text's words weigh. */
  sumOf(text: string): Float32Array {
    this.addUp(text);
    return Float32Array.from(this.sum);
  }

  private addUp(text: string): void {
    const { sum } = this;
    sum.fill(0);
    const ids = this.tokenizer.ids(text);
    this.tokens += ids.length;
    // Four at a time, which takes little more than half as long as one by one.
    const fours = ids.length & ~3;
    for (let i = 0; i < fours; i += 4) this.addFour(ids[i]!, ids[i + 1]!, ids[i + 2]!, ids[i + 3]!);
    for (let i = fours; i < ids.length; i++) this.add(ids[i]!);
  }

  private addFour(a: number, b: number, c: number, d: number): void {
    const { sum, table, scales, dimensions } = this;
    const [scaleA, scaleB, scaleC, scaleD] = [scales[a]!, scales[b]!, scales[c]!, scales[d]!];
    const [startA, startB, startC, startD] = [a * dimensions, b * dimensions, c * dimensions, d * dimensions];
    for (let i = 0; i < dimensions; i++) {
      const pair = scaleA * table[startA + i]! + scaleB * table[startB + i]!;
      sum[i] = sum[i]! + pair + scaleC * table[startC + i]! + scaleD * table[startD + i]!;
    }
  }

  private add(id: number): void {
    const { sum, table, dimensions } = this;
    const scale = this.scales[id]!;
    const start = id * dimensions;
    for (let i = 0; i < dimensions; i++) sum[i] = sum[i]! + scale * table[start + i]!;
  }
}

function squareOf(vector: Float64Array): number {
  let square = 0;
  for (let i = 0; i < vector.length; i++) square += vector[i]! * vector[i]!;
  return square;
}
