/** Placeholder shape, replaced by the real implementation. */
export interface Numeric {
  readonly unscaled: bigint;
  readonly scale: number;
}
