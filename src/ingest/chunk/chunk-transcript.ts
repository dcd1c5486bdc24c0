/**
 * Passages of a transcript, cut between its segments, each with its time. Like passages of texts they are bounded in
 * size, and repeat whole segments of the one before. Called where a file was transcribed; pure.
 */
import type { Chunk, ChunkSizes } from "./chunk-text.js";

/** Words, and when they are said: seconds from the sound's beginning. */
export interface TimedText {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface TimedChunk extends Chunk {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** Offsets are those in the segments' texts, a blank between each two, behind `from` code units. */
export function chunkTranscript(segments: readonly TimedText[], sizes: ChunkSizes, from: number): TimedChunk[] {
  const { characters, overlap } = sizes;
  const pieces = segments.flatMap((segment) => piecesOf(segment, characters));
  const starts: number[] = [];
  let at = from;
  for (const { text } of pieces) {
    starts.push(at);
    at += text.length + 1;
  }
  const length = (first: number, last: number) => starts[last]! + pieces[last]!.text.length - starts[first]!;
  const chunks: TimedChunk[] = [];
  for (let first = 0; first < pieces.length; ) {
    let last = first;
    while (last + 1 < pieces.length && length(first, last + 1) <= characters) last++;
    const some = pieces.slice(first, last + 1);
    const text = some.map((piece) => piece.text).join(" ");
    const times = { startSeconds: some[0]!.start, endSeconds: some.at(-1)!.end };
    chunks.push({ text, start: starts[first]!, end: starts[first]! + text.length, ...times });
    if (last + 1 >= pieces.length) break;
    let next = last + 1;
    // Repeated segments leave room for new ones.
    while (next - 1 > first && length(next - 1, last) <= overlap && length(next - 1, last + 1) <= characters) next--;
    first = next;
  }
  return chunks;
}

/** A segment that is larger than a chunk, cut between words; its time is shared out by characters. */
function piecesOf(segment: TimedText, characters: number): TimedText[] {
  const { start, end, text } = segment;
  if (text.length <= characters) return [segment];
  const pieces: TimedText[] = [];
  const secondsAt = (place: number) => start + ((end - start) * place) / text.length;
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + characters);
    const space = text.lastIndexOf(" ", to);
    if (to < text.length && space > from) to = space;
    else if (to < text.length && /[\ud800-\udbff]/.test(text[to - 1]!) && to - 1 > from) to--;
    const piece = text.slice(from, to).trim();
    if (piece !== "") pieces.push({ start: secondsAt(from), end: secondsAt(to), text: piece });
    from = text[to] === " " ? to + 1 : to;
  }
  return pieces;
}
