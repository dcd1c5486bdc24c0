/**
 * Types and ends of relationships by their ids, in chunks: growing never copies what is there. Who has taken `frozen`
 * keeps the state of that moment: a chunk that others may read is copied before it changes.
 */

const CHUNK_BITS = 12;
export const CHUNK_EDGES = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_EDGES - 1;
/** Of an id that has no relationship; else its type's number plus one. */
export const NO_TYPE = 0;

export interface EdgeChunk {
  readonly type: Uint16Array;
  readonly src: Uint32Array;
  readonly dst: Uint32Array;
}

/** By the upper bits of ids; null: it has none. */
export type FrozenEdges = readonly (EdgeChunk | null)[];

export class EdgeChunks {
  private readonly chunks: (EdgeChunk | null)[] = [];
  /** Those that only this one reads. */
  private own = new Set<EdgeChunk>();
  private used = 0;

  get bytes(): number {
    return this.used * CHUNK_EDGES * BYTES_PER_EDGE;
  }

  typeAt(id: number): number {
    return this.chunks[id >>> CHUNK_BITS]?.type[id & CHUNK_MASK] ?? NO_TYPE;
  }

  /** Of a relationship that is or was there. */
  srcAt(id: number): number {
    return this.chunks[id >>> CHUNK_BITS]!.src[id & CHUNK_MASK]!;
  }

  dstAt(id: number): number {
    return this.chunks[id >>> CHUNK_BITS]!.dst[id & CHUNK_MASK]!;
  }

  set(id: number, type: number, src: number, dst: number): void {
    const chunk = this.changeable(id >>> CHUNK_BITS);
    chunk.type[id & CHUNK_MASK] = type;
    chunk.src[id & CHUNK_MASK] = src;
    chunk.dst[id & CHUNK_MASK] = dst;
  }

  /** Its ends can still be read. */
  remove(id: number): void {
    this.changeable(id >>> CHUNK_BITS).type[id & CHUNK_MASK] = NO_TYPE;
  }

  frozen(): FrozenEdges {
    this.own = new Set();
    return [...this.chunks];
  }

  private changeable(at: number): EdgeChunk {
    const found = this.chunks[at];
    if (found != null && this.own.has(found)) return found;
    while (this.chunks.length <= at) this.chunks.push(null);
    if (found == null) this.used++;
    const made = found == null ? emptyChunk() : copyOf(found);
    this.chunks[at] = made;
    this.own.add(made);
    return made;
  }
}

const BYTES_PER_EDGE = 10;

function emptyChunk(): EdgeChunk {
  const [type, src, dst] = [new Uint16Array(CHUNK_EDGES), new Uint32Array(CHUNK_EDGES), new Uint32Array(CHUNK_EDGES)];
  return { type, src, dst };
}

const copyOf = ({ type, src, dst }: EdgeChunk): EdgeChunk => ({
  type: type.slice(),
  src: src.slice(),
  dst: dst.slice(),
});
