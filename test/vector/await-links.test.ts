/** Who stores many vectors waits while too many are to be linked, and no longer than the number of its own allows. */
import t from "tap";
import { awaitLinks, WAITING_MAX } from "../../src/features/vectors/await-links.js";

/** How long it waits, and how often it looks. */
async function waited(
  progress: (looks: number) => { hasWork: boolean; waiting: number } | null,
  vectors: number,
  isOver = () => false,
): Promise<{ ms: number; looks: number }> {
  let looks = 0;
  const began = performance.now();
  await awaitLinks(() => progress(looks++), vectors, isOver);
  return { ms: performance.now() - began, looks };
}

t.test("until few wait", async (t) => {
  const { looks } = await waited((look) => ({ hasWork: true, waiting: WAITING_MAX + 3 - look }), 500);
  t.equal(looks, 4);
});

t.test("not where few wait, nobody links, or there is no index", async (t) => {
  t.equal((await waited(() => ({ hasWork: true, waiting: WAITING_MAX }), 500)).looks, 1);
  t.equal((await waited(() => ({ hasWork: false, waiting: 2 * WAITING_MAX }), 500)).looks, 1);
  t.equal((await waited(() => null, 500)).looks, 1);
});

t.test("as long as its own vectors count for, and not after its end", async (t) => {
  const behind = () => ({ hasWork: true, waiting: 2 * WAITING_MAX });
  const { ms } = await waited(behind, 20);
  t.ok(ms >= 40 - 1, `${ms} ms`);
  t.ok((await waited(behind, 1)).looks <= 2, "a single one hardly waits");
  let ends = 0;
  t.equal((await waited(behind, 1e6, () => ++ends > 2)).looks, 3);
});
