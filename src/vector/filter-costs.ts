/** What a search among some of a graph's vectors costs by each way: measured with 50,000 vectors of 384 dimensions. */

/** From this share of matches on, a walk that heeds no filter and is longer by as much costs least. */
const WIDE_SHARE = 0.2;
/** Below it too few nodes have a match among their neighbours' neighbours for a walk to hold together. */
const SCAN_SHARE = 0.04;
/** Up to this many matches per unit of `ef`, measuring all of them is as fast as a walk. */
const SCAN_PER_EF = 24;

/** How long the list of a walk without the filter must be, of `matches` among `count`; 0: the walk heeds the filter. */
export function wideWalk(ef: number, matches: number, count: number): number {
  const share = matches / count;
  return share >= WIDE_SHARE ? Math.ceil(ef / share) : 0;
}

/** Measuring all that match is cheaper than a walk, or the only way to find them. */
export function isScanCheaper(ef: number, matches: number, count: number): boolean {
  return matches / count < SCAN_SHARE || matches <= ef * SCAN_PER_EF;
}
