/** Passages of transcripts. */
import fc from "fast-check";
import t from "tap";
import { chunkTranscript } from "../../src/ingest/chunk/chunk-transcript.js";

const said = (start: number, end: number, text: string) => ({ start, end, text });

t.test("whole segments, some of them repeated, and when they are said", async (t) => {
  const segments = [said(0, 2, "One two three."), said(2, 5, "Four."), said(6, 9, "Five six."), said(9, 10, "Seven.")];
  t.same(chunkTranscript(segments, { characters: 22, overlap: 6 }, 100), [
    { text: "One two three. Four.", start: 100, end: 120, startSeconds: 0, endSeconds: 5 },
    { text: "Four. Five six. Seven.", start: 115, end: 137, startSeconds: 2, endSeconds: 10 },
  ]);
  t.same(chunkTranscript([], { characters: 100, overlap: 0 }, 0), []);
  const [first, second] = chunkTranscript([said(0, 10, "ab cd ef gh")], { characters: 6, overlap: 0 }, 0);
  t.match(first, { text: "ab cd", startSeconds: 0 });
  t.match(second, { text: "ef gh", start: 6, endSeconds: 10 });
  t.ok(second!.startSeconds > 4 && second!.startSeconds < 7);
});

t.test("nothing is lost, and no passage is too large", async () => {
  const text = fc.stringMatching(/^[a-z]{1,12}( [a-z]{1,12}){0,8}$/);
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), fc.integer({ min: 20, max: 200 }), fc.nat(), (texts, size, n) => {
      const segments = texts.map((one, i) => said(i, i + 1, one));
      const chunks = chunkTranscript(segments, { characters: size, overlap: n % (size >> 1) }, 0);
      const whole = texts.join(" ");
      let end = 0;
      let before = -1;
      for (const chunk of chunks) {
        if (chunk.text.length > size || whole.slice(chunk.start, chunk.end) !== chunk.text) return false;
        if (chunk.start > end + 1 || chunk.end <= end || chunk.start <= before) return false;
        if (chunk.startSeconds > chunk.endSeconds) return false;
        [end, before] = [chunk.end, chunk.start];
      }
      return end === whole.length;
    }),
  );
});
