/** Recent versions that nobody needs are dropped in pieces, and what is left meanwhile is not wrong. */
import t from "tap";
import { keyText } from "../../src/storage/ordered-map.js";
import { RecentVersions } from "../../src/storage/versions.js";

const KEYS = 5000;
const write = (name: string, value: string) => {
  const key = Buffer.from(name);
  return { key, text: keyText(key), value: Buffer.from(value) };
};
const textOf = (value: Uint8Array | null | undefined) => (value == null ? value : Buffer.from(value).toString());

function filled(): RecentVersions {
  const versions = new RecentVersions();
  for (let i = 1; i <= KEYS; i++) versions.add(i, [write(`k${i}`, `first ${i}`)]);
  versions.add(KEYS + 1, [write("k1", "second")]);
  versions.applied(KEYS);
  versions.ordered();
  return versions;
}

t.test("very many single versions are dropped in pieces", async (t) => {
  const versions = filled();
  let calls = 0;
  for (let isDone = false; !isDone; calls++) {
    const before = versions.size;
    isDone = versions.prune(KEYS);
    t.ok(before - versions.size <= 256, `${before} to ${versions.size}`);
    t.equal(textOf(versions.valueOf("k1", KEYS + 1)), "second");
    t.equal(textOf(versions.valueOf("k1", KEYS)), "first 1");
    for (const i of [2, 300, KEYS]) {
      const value = textOf(versions.valueOf(`k${i}`, KEYS + 1));
      if (value !== undefined) t.equal(value, `first ${i}`, "as the engine has it");
    }
    t.notOk(versions.isRangeChanged("k2", "k3", KEYS));
    t.ok(versions.isRangeChanged("k1", "k10", KEYS));
  }
  t.ok(calls > 15, `${calls} calls`);
  t.equal(versions.size, 1);
  t.same(
    [...versions.ordered().entries()].map(([text]) => text),
    ["k1"],
  );
  versions.applied(KEYS + 1);
  t.ok(versions.prune(KEYS + 1));
  t.equal(versions.size, 0);
  t.equal(versions.bytes, 0);
});

t.test("a commit of many keys is dropped in pieces, too", async (t) => {
  const versions = new RecentVersions();
  versions.add(
    1,
    Array.from({ length: KEYS }, (_, i) => write(`k${i}`, "1")),
  );
  versions.add(2, [write("z", "2")]);
  versions.applied(1);
  t.notOk(versions.prune(1));
  t.equal(versions.size, KEYS + 1 - 256);
  versions.undo(2);
  t.equal(versions.size, KEYS - 256, "what is undone meanwhile is another one");
  versions.add(2, [write("z", "3")]);
  while (!versions.prune(1)) t.ok(versions.size > 1);
  t.equal(versions.size, 1);
  t.equal(textOf(versions.valueOf("z", 2)), "3");
});

t.test("what is to be dropped does not pile up while much is written", async (t) => {
  const versions = new RecentVersions();
  for (let sequence = 1; sequence <= 40; sequence++) {
    versions.add(
      sequence,
      Array.from({ length: 1000 }, (_, i) => write(`${sequence} ${i}`, "x")),
    );
    versions.applied(sequence - 1);
    versions.prune(sequence - 1);
    t.ok(versions.size <= 2000, `${versions.size} keys`);
  }
});
