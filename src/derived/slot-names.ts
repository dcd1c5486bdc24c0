/**
 * Slots by the names of their rows: what a Map does, in many small ones. A Map that grows copies itself, which takes a
 * good part of a tenth of a second where it has some hundred thousand entries, and nobody else has the thread
 * meanwhile. Owned by derived-index.ts.
 */

const PARTS = 256;
/** Of a name longer than so many characters not all are looked at. */
const HASHED_CHARACTERS = 1024;

export class SlotNames {
  private readonly parts: (Map<string, number> | undefined)[] = Array.from({ length: PARTS });
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(name: string): number | undefined {
    return this.parts[partOf(name)]?.get(name);
  }

  set(name: string, slot: number): void {
    const number = partOf(name);
    let part = this.parts[number];
    if (part === undefined) {
      part = new Map();
      this.parts[number] = part;
    }
    const before = part.size;
    part.set(name, slot);
    this.count += part.size - before;
  }

  delete(name: string): void {
    if (this.parts[partOf(name)]?.delete(name) === true) this.count--;
  }

  /** Of the longest part. */
  get partMax(): number {
    return Math.max(...this.parts.map((part) => part?.size ?? 0));
  }
}

function partOf(name: string): number {
  let hash = name.length;
  const step = Math.ceil(name.length / HASHED_CHARACTERS);
  for (let i = 0; i < name.length; i += step) hash = Math.imul(hash, 31) + name.charCodeAt(i);
  return (hash ^ (hash >>> 8)) & (PARTS - 1);
}
