/**
 * A filter over the rows of one segment. Writes the numbers of the rows that pass into `out`; answers how many. `rows`
 * are ascending, and `out` may be the same array; null: the `count` rows after `from`.
 */
export type Kernel = (rows: Int32Array | null, from: number, count: number, out: Int32Array) => number;
