/** Which ranges of a table are made into column files. */
import t from "tap";
import { Segment, SegmentKeys } from "../../src/query/exec/segments/segment.js";
import { SEGMENT_SIZES, SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { isDue, spansToMake } from "../../src/query/exec/segments/stored/what-to-build.js";
import { TableSegments } from "../../src/query/exec/segments/table-segments.js";
import { rowPrefix } from "../../src/storage/keys.js";

const PREFIX = rowPrefix(7, 1);

/** Segments of 1,000 rows each: from the start to "b", from "b" to "c", and so on. */
function tableOf(count: number): TableSegments {
  const table = new TableSegments(7, 1, PREFIX);
  const name = (i: number) => table.start + String.fromCharCode(97 + i);
  const keys = new SegmentKeys(
    new Uint8Array(1000),
    Uint32Array.from({ length: 1001 }, (_, i) => i),
    PREFIX.length,
  );
  table.segments = Array.from(
    { length: count },
    (_, i) => new Segment(i === 0 ? table.start : name(i), name(i + 1), keys),
  );
  return table;
}

t.test("a table whose columns nobody reads is made again for more writes each time", async (t) => {
  const table = tableOf(4);
  const sizes = { ...SEGMENT_SIZES, storedRowsMin: 1000, fileRowsMin: 1000 };
  const isDueAt = (writes: number): boolean => {
    table.writesInGaps = writes;
    return isDue(table, writes, sizes, 1e6);
  };
  const leastWrites = (): number => {
    for (let writes = 250; ; writes *= 2) if (isDueAt(writes)) return writes;
  };
  t.notOk(isDueAt(249));
  const least = [leastWrites()];
  for (let i = 0; i < 4; i++) {
    table.noteBuild(false);
    least.push(leastWrites());
  }
  t.same(least, [250, 1000, 4000, 4000, 4000]);
  table.noteBuild(true);
  t.equal(leastWrites(), 250, "the rest of a build does not wait");
  table.noteBuild(false);
  t.equal(leastWrites(), 4000, "it was for nobody either");

  const cache = new SegmentCache(1e6, sizes);
  cache.adopt(table);
  const layout = { table: { id: 1, columns: [] }, types: [] } as unknown as Parameters<SegmentCache["find"]>[1];
  t.equal(cache.find(7, layout, []), table);
  t.equal(leastWrites(), 250, "a statement reads it");
  table.noteBuild(false);
  t.equal(leastWrites(), 250, "it was read between the builds");
  table.noteBuild(false);
  t.equal(leastWrites(), 1000);
});

t.test("a few changes in every segment are built in once they take much memory", async (t) => {
  const table = tableOf(4);
  const sizes = { ...SEGMENT_SIZES, segmentRows: 1000 };
  const greatest = `${table.start}dz`;
  for (const letter of ["b", "c", "d"]) {
    table.applied({ key: Buffer.from(`${table.start}${letter}x`, "latin1"), value: Buffer.alloc(1000) });
  }
  t.same(
    table.segments.map(({ changes }) => changes),
    [0, 1, 1, 1],
  );
  t.notOk(isDue(table, 0, sizes, 1e6));
  t.same(spansToMake(table, greatest, { sizes, bytesMax: 1e6 }, false), [], "one of a thousand rows is not worth it");
  const bytesMax = 10_000;
  t.ok(isDue(table, 0, sizes, bytesMax));
  const spans = spansToMake(table, greatest, { sizes, bytesMax }, false);
  t.same(spans, [{ from: `${table.start}b`, to: `${greatest}\0` }]);
});
