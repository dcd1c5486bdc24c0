/** Pages that a scan comes to next are fetched where the disk is slow and the scan goes on in order, and only there. */
import t from "tap";
import { ReadAhead } from "../../src/query/exec/segments/stored/read-ahead.js";

const KILOBYTES = 64 * 1024;

function fetching(segments: number) {
  const fetched: string[] = [];
  const ahead = new ReadAhead(segments, (segment, column) => fetched.push(`${segment}/${column}`));
  return {
    /** What was fetched after the read of the page. */
    read: (segment: number, column: number, tookMs: number, bytes = KILOBYTES) => {
      ahead.noteRead(segment, column, bytes, tookMs);
      return fetched.splice(0).join(" ");
    },
  };
}

t.test("a scan in order is one or two segments ahead of itself, column by column", async (t) => {
  const { read } = fetching(7);
  t.equal(read(0, 3, 5), "", "one read is no scan");
  t.equal(read(1, 3, 5), "2/3 3/3");
  t.equal(read(2, 3, 0.01), "4/3", "it goes on when the pages come from the cache");
  t.equal(read(1, 9, 5), "", "of another column");
  t.equal(read(3, 3, 0.01), "5/3");
  t.equal(read(4, 3, 0.01), "6/3");
  t.equal(read(5, 3, 5), "", "there are no more");
  t.equal(read(6, 3, 5), "");
});

t.test("nothing is fetched of what is cached, nor where segments are read here and there", async (t) => {
  const { read } = fetching(100);
  for (let segment = 0; segment < 10; segment++) t.equal(read(segment, 1, 0.05), "");
  t.equal(read(10, 1, 1, 4 * 1024 * 1024), "", "so many bytes take as long in the cache");
  for (const segment of [50, 20, 70, 72, 71, 30]) t.equal(read(segment, 1, 5), "");
  t.equal(read(31, 1, 5), "32/1 33/1", "until the next scan");
  t.equal(read(80, 1, 5), "");
  t.equal(read(81, 1, 0.05), "", "each scan begins anew");
});
