/**
 * Places of scores, the best first, equal ones in order: a heap that is made at once and taken from as far as somebody
 * reads, so that the best few of many cost little (Floyd's heap construction).
 */
export function* bestFirst(scores: Float64Array): Generator<number> {
  const heap = Uint32Array.from(scores, (_, i) => i);
  const isBetter = (a: number, b: number) => scores[a]! > scores[b]! || (scores[a] === scores[b] && a < b);
  const sift = (from: number, length: number) => {
    const moved = heap[from]!;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && isBetter(heap[child + 1]!, heap[child]!)) child++;
      if (!isBetter(heap[child]!, moved)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = moved;
  };
  for (let at = (heap.length >>> 1) - 1; at >= 0; at--) sift(at, heap.length);
  for (let length = heap.length; length > 0; ) {
    yield heap[0]!;
    heap[0] = heap[--length]!;
    sift(0, length);
  }
}
