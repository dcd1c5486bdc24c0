/** Packs what has changed in segments of files, for the thread that makes them again. Called by table-builds.ts. */
import { giveWay, type Turns } from "../../../../protocol/turns.js";
import { MergedCorrections } from "../../../../storage/merged-cursor.js";
import type { NewerWrites } from "../../../../storage/newer-writes.js";
import { type Operation, sizeOf } from "../../../../storage/operation.js";
import type { TableSegments } from "../table-segments.js";
import { CachedPages } from "./page-cache.js";
import { type JobSpan, REMOVED, type SegmentPatch } from "./segment-patch.js";
import type { SpanToMake } from "./what-to-build.js";

/** Entries between two looks at the clock. */
const STEP_ENTRIES = 512;
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
  noted: NewerWrites,
  turns: Turns,
): Promise<readonly JobSpan[]> {
  const made: JobSpan[] = [];
  let bytes = 0;
  for (const span of spans) {
    if (made.length >= count || bytes > BUILD_BYTES_MAX) break;
    const { changed } = span;
    const patch = changed?.stored instanceof CachedPages ? await patchOf(changed.stored, span, noted, turns) : null;
    const part = { from: span.from.slice(start.length), to: span.to.slice(start.length) };
    made.push(patch === null ? part : { ...part, patch });
    bytes += patch?.bytes.length ?? 0;
  }
  return made;
}

/** Null: there is too much. */
async function patchOf(
  { segment: { file, number } }: CachedPages,
  { from, to }: SpanToMake,
  noted: NewerWrites,
  turns: Turns,
): Promise<SegmentPatch | null> {
  const operations: Operation[] = [];
  let size = 0;
  const range = { gte: Buffer.from(from, "latin1"), lt: Buffer.from(to, "latin1") };
  for (const changes = new MergedCorrections(noted.overlays(range)); changes.text !== null; changes.advance()) {
    const operation = { key: changes.key, value: changes.value };
    size += sizeOf(operation);
    if (size > PATCH_BYTES_MAX) return null;
    if (operations.push(operation) % STEP_ENTRIES === 0) await giveWay(turns);
  }
  const lengths = new Uint32Array(new SharedArrayBuffer(8 * operations.length));
  const bytes = new Uint8Array(new SharedArrayBuffer(size));
  let at = 0;
  for (const [i, { key, value }] of operations.entries()) {
    bytes.set(key, at);
    at += key.length;
    if (value !== null) bytes.set(value, at);
    at += value?.length ?? 0;
    lengths[2 * i] = key.length;
    lengths[2 * i + 1] = value?.length ?? REMOVED;
    if (i % STEP_ENTRIES === STEP_ENTRIES - 1) await giveWay(turns);
  }
  await giveWay(turns);
  const changed = noted.changedColumnsIn(from, to);
  return { path: file.path, fileId: file.id, number, changed: changed && [...changed], lengths, bytes };
}
