/** The `k` smallest distances of those offered: a binary heap with the largest of them at the root. */

export class NearestHeap {
  private readonly slots: number[] = [];
  private readonly distances: number[] = [];

  constructor(private readonly k: number) {}

  offer(slot: number, distance: number): void {
    const { slots, distances, k } = this;
    if (slots.length < k) {
      slots.push(slot);
      distances.push(distance);
      this.up(slots.length - 1);
    } else if (k > 0 && distance < distances[0]!) {
      slots[0] = slot;
      distances[0] = distance;
      this.down();
    }
  }

  /** Those that were kept, the nearest first. */
  take(): { readonly slots: number[]; readonly distances: number[] } {
    const order = this.slots.map((_, i) => i).sort((a, b) => this.distances[a]! - this.distances[b]!);
    return { slots: order.map((i) => this.slots[i]!), distances: order.map((i) => this.distances[i]!) };
  }

  private up(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >>> 1;
      if (this.distances[parent]! >= this.distances[at]!) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  private down(): void {
    const { distances } = this;
    for (let at = 0; ; ) {
      let largest = at;
      for (let child = 2 * at + 1; child <= 2 * at + 2 && child < distances.length; child++) {
        if (distances[child]! > distances[largest]!) largest = child;
      }
      if (largest === at) return;
      this.swap(at, largest);
      at = largest;
    }
  }

  private swap(a: number, b: number): void {
    const { slots, distances } = this;
    const slot = slots[a]!;
    slots[a] = slots[b]!;
    slots[b] = slot;
    const distance = distances[a]!;
    distances[a] = distances[b]!;
    distances[b] = distance;
  }
}
