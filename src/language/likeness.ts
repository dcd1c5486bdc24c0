/** Measures how alike texts are, for the helpers of this room. */

/** Texts' vectors of length 1, by the configured model; gives way between texts. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** Of vectors of length 1. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
