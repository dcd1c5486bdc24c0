/** The place of the first for which `isFrom` is true, as it is for all that follow; the length: for none. */
export function firstPlace<T>(all: readonly T[], isFrom: (one: T) => boolean): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isFrom(all[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
