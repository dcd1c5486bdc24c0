/** Ids that documents get. */
import t from "tap";
import { newDocumentId } from "../../src/document/document-id.js";

t.test("ids rise, are of version 7, and have the time", async (t) => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, newDocumentId);
  const after = Date.now();
  t.ok(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)));
  t.ok(
    ids.every((id, i) => i === 0 || id > ids[i - 1]!),
    "in the order of making",
  );
  const msOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  t.ok(msOf(ids[0]!) >= before && msOf(ids.at(-1)!) <= after);
  t.equal(new Set(ids.map((id) => id.slice(-8))).size > 19_900, true, "the rest is random");
});
