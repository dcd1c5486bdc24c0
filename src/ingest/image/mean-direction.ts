/**
 * One vector for several of one space: of the frames of a video, say. Pure; called where features are taken and by the
 * work on media.
 */

/** The mean of vectors, of length 1. */
export function meanDirection(vectors: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(vectors[0]!.length);
  for (const vector of vectors) for (let i = 0; i < mean.length; i++) mean[i] = mean[i]! + vector[i]!;
  const length = Math.hypot(...mean);
  return length === 0 ? mean : mean.map((x) => x / length);
}
