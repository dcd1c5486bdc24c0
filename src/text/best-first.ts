/**
 * Gives the positions of scores, best first; equal scores keep their order. A heap finds the first `expected` in one
 * pass. If the caller reads on, more of them are sorted.
 */
export function* bestFirst(scores: Float64Array, expected: number): Generator<number> {
  let given = 0;
  for (let count = Math.max(1, expected); given < scores.length; count *= GROWTH) {
    const places = count * SORTED_SHARE < scores.length ? best(scores, count) : sorted(scores);
    for (; given < places.length; given++) yield places[given]!;
  }
}

/** How much more are looked for when the expected ones were not enough. */
const GROWTH = 8;
/** If a larger share than one in this many is wanted, all are sorted. */
const SORTED_SHARE = 8;

function sorted(scores: Float64Array): Uint32Array {
  return Uint32Array.from(scores, (_, i) => i).sort((a, b) => scores[b]! - scores[a]! || a - b);
}

/** A heap whose top is the worst of those kept. */
function best(scores: Float64Array, count: number): Uint32Array {
  const heap = Uint32Array.from({ length: count }, (_, i) => i);
  const isWorse = (a: number, b: number) => scores[a]! < scores[b]! || (scores[a] === scores[b] && a > b);
  const sift = (from: number) => {
    const moved = heap[from]!;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= count) break;
      if (child + 1 < count && isWorse(heap[child + 1]!, heap[child]!)) child++;
      if (!isWorse(heap[child]!, moved)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = moved;
  };
  for (let at = (count >>> 1) - 1; at >= 0; at--) sift(at);
  let worst = scores[heap[0]!]!;
  // Of equal ones those that come first stay.
  for (let place = count; place < scores.length; place++) {
    if (scores[place]! <= worst) continue;
    heap[0] = place;
    sift(0);
    worst = scores[heap[0]!]!;
  }
  return heap.sort((a, b) => scores[b]! - scores[a]! || a - b);
}
