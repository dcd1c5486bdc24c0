/** Packs what has changed in segments of files, for the thread that makes them again. Called by table-builds.ts. */
import { giveWay, type Turns } from "../../../../protocol/turns.js";
import type { Operation } from "../../../../storage/operation.js";
import type { OrderedMap } from "../../../../storage/ordered-map.js";
import type { TableSegments } from "../table-segments.js";
import { CachedPages } from "./page-cache.js";
import { type JobSpan, REMOVED, type SegmentPatch } from "./segment-patch.js";
import type { SpanToMake } from "./what-to-build.js";

/** Of one segment: more is read from the engine. */
const PATCH_BYTES_MAX = 4 * 1024 * 1024;
/** Of one build: the others are left to the next one. */
const BUILD_BYTES_MAX = 32 * 1024 * 1024;

/**
 * The first of the spans, at most `count`, with what was changed in them. `noted`: the newer entries when the spans
 * were chosen.
 */
export async function patchedSpans(
  { start }: TableSegments,
  spans: readonly SpanToMake[],
  count: number,
  noted: OrderedMap<Operation>,
  turns: Turns,
): Promise<readonly JobSpan[]> {
  const made: JobSpan[] = [];
  let bytes = 0;
  for (const span of spans) {
    if (made.length >= count || bytes > BUILD_BYTES_MAX) break;
    const { changed } = span;
    const patch = changed?.stored instanceof CachedPages ? patchOf(changed.stored, span, noted) : null;
    const part = { from: span.from.slice(start.length), to: span.to.slice(start.length) };
    made.push(patch === null ? part : { ...part, patch });
    bytes += patch?.bytes.length ?? 0;
    await giveWay(turns);
  }
  return made;
}

function patchOf(
  { segment: { file, number } }: CachedPages,
  { from, to }: SpanToMake,
  noted: OrderedMap<Operation>,
): SegmentPatch | null {
  const operations: Operation[] = [];
  let size = 0;
  noted.forRange(from, to, false, (_, operation) => {
    operations.push(operation);
    size += operation.key.length + (operation.value?.length ?? 0);
  });
  if (size > PATCH_BYTES_MAX) return null;
  const lengths = new Uint32Array(new SharedArrayBuffer(8 * operations.length));
  const bytes = new Uint8Array(new SharedArrayBuffer(size));
  let at = 0;
  operations.forEach(({ key, value }, i) => {
    bytes.set(key, at);
    at += key.length;
    if (value !== null) bytes.set(value, at);
    at += value?.length ?? 0;
    lengths[2 * i] = key.length;
    lengths[2 * i + 1] = value?.length ?? REMOVED;
  });
  return { path: file.path, fileId: file.id, number, lengths, bytes };
}
