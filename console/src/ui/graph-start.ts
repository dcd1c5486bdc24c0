/**
 * Places from which a large graph's layout begins: forces alone need very many steps until what belongs together comes
 * together. Nodes go again and again to the middle of their neighbours, which brings out the two slowest waves of the
 * graph (its spectral layout); then only the order along each of them counts, so that no part is crowded. Pure.
 */

const ROUNDS = 120;
/** Of forces at rest, in the units of the layout. */
const APART = 22;

export interface StartPlaces {
  readonly x: Float32Array;
  readonly y: Float32Array;
}

/** `ends`: two numbers of nodes for each relationship. */
export function startPlaces(count: number, ends: Uint32Array): StartPlaces {
  const degrees = new Float32Array(count).fill(1e-6);
  for (const end of ends) degrees[end]!++;
  const first = wave(count, ends, degrees, null, 1);
  const second = wave(count, ends, degrees, first, 2);
  const size = Math.sqrt(count) * APART;
  return { x: spread(first, size), y: spread(second, size) };
}

/** Slower than all but those that it stands at right angles to: the constant one, and `other`. */
function wave(
  count: number,
  ends: Uint32Array,
  degrees: Float32Array,
  other: Float32Array | null,
  seed: number,
): Float32Array {
  let values: Float32Array = Float32Array.from({ length: count }, (_, i) => Math.sin((i + 1) * 12.9898 * seed) * 0.5);
  for (let round = 0; round < ROUNDS; round++) {
    const sums = new Float32Array(count);
    for (let i = 0; i < ends.length; i += 2) {
      const [a, b] = [ends[i]!, ends[i + 1]!];
      sums[a]! += values[b]!;
      sums[b]! += values[a]!;
    }
    for (let i = 0; i < count; i++) sums[i] = (values[i]! + sums[i]! / degrees[i]!) / 2;
    values = normalized(sums, degrees, other);
  }
  return values;
}

function normalized(values: Float32Array, degrees: Float32Array, other: Float32Array | null): Float32Array {
  let [sum, weight, along, length] = [0, 0, 0, 0];
  for (let i = 0; i < values.length; i++) {
    sum += degrees[i]! * values[i]!;
    weight += degrees[i]!;
  }
  for (let i = 0; i < values.length; i++) {
    values[i]! -= sum / weight;
    if (other === null) continue;
    along += degrees[i]! * values[i]! * other[i]!;
    length += degrees[i]! * other[i]! * other[i]!;
  }
  let most = 1e-30;
  for (let i = 0; i < values.length; i++) {
    if (other !== null) values[i]! -= (along / (length || 1)) * other[i]!;
    most = Math.max(most, Math.abs(values[i]!));
  }
  for (let i = 0; i < values.length; i++) values[i]! /= most;
  return values;
}

/** By the order of the values, evenly, from −size / 2 to size / 2. */
function spread(values: Float32Array, size: number): Float32Array {
  const order = Uint32Array.from(values, (_, i) => i).sort((a, b) => values[a]! - values[b]!);
  const places = new Float32Array(values.length);
  for (let rank = 0; rank < order.length; rank++) places[order[rank]!] = ((rank + 0.5) / order.length - 0.5) * size;
  return places;
}
