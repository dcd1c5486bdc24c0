/**
 * Restores when nothing is broken any more: they must succeed. A copy must have all that the tenant has, with its
 * indexes; the tenant itself is taken back to a moment, also with a crash on the way, and from there forward again.
 */
import { BackupWork, type Content, textOf, type View } from "./backup-work.js";
import type { SeededRandom } from "./seeded-random.js";
import { problemsOfIndexes } from "./verify.js";
import type { VirtualLoop } from "./virtual-loop.js";

const TRIES = 50;

/** What they read is added to the histories of the tenant. */
export async function problemsOfRestores(work: BackupWork, random: SeededRandom): Promise<string[]> {
  const { source, copy } = work;
  const { loop } = source.node;
  const problems: string[] = [];
  const inPlace = new BackupWork(source, source, random.fork(), true);
  const final = await contentOf(inPlace);
  const last = await tried(loop, () => work.backUp({ incremental: random.chance(0.5) }), `a backup of ${source.name}`);
  const end = Math.floor(loop.now);
  const first = work.first ?? end;

  await restored(work, random.chance(0.5) ? end : last, last);
  const copied = await contentOf(work);
  if (textOf(copied) !== textOf(final)) problems.push(`${copy.name} has ${textOf(copied)}, not ${textOf(final)}`);
  problems.push(...(await problemsOfIndexes(copy, copied.lists)));

  const then = first + random.next() * (end - first);
  if (random.chance(0.5)) {
    const cut = loop.sleep(random.next() * 60).then(() => crash(work, random));
    await inPlace.asOf(then);
    await cut;
    for (let i = 0; i < 5; i++) {
      await inPlace.look();
      await loop.sleep(random.next() * 20);
    }
  }
  await restored(inPlace, then, last);
  problems.push(...(await problemsOfIndexes(source, (await contentOf(inPlace)).lists)));
  await restored(inPlace, random.chance(0.5) ? end : last, last);
  const again = await contentOf(inPlace);
  if (textOf(again) !== textOf(final)) {
    problems.push(`${source.name}, back again, has ${textOf(again)}, not ${textOf(final)}`);
  }
  return [...problems, ...work.problems, ...inPlace.problems].map((problem) => `tenant ${source.name}: ${problem}`);
}

/** A moment that no backup reaches is refused; that backup must do. */
async function restored(work: BackupWork, what: number | View, last: View): Promise<void> {
  if (typeof what === "number") {
    for (let i = 0; i < 3; i++) if (await work.asOf(what)) return;
  }
  await tried(
    work.source.node.loop,
    async () => ((await work.of(last)) ? true : null),
    `a restore of ${work.copy.name}`,
  );
}

async function contentOf(work: BackupWork): Promise<Content> {
  const content = await tried(work.source.node.loop, () => work.look(), `a read of ${work.copy.name}`);
  if (typeof content === "string") throw new Error(`${work.copy.name} has ${content}`);
  return content;
}

async function tried<T>(loop: VirtualLoop, run: () => Promise<T | null>, what: string): Promise<T> {
  for (let i = 0; i < TRIES; i++) {
    const done = await run();
    if (done !== null) return done;
    await loop.sleep(200);
  }
  throw new Error(`${what} does not succeed though nothing is broken`);
}

async function crash({ source: { node } }: BackupWork, random: SeededRandom): Promise<void> {
  if (random.chance(0.5)) {
    for (let actor = 0; actor < node.options.actors; actor++) node.crash(actor);
    return;
  }
  node.cutPower();
  await node.loop.sleep(50);
  await node.start();
}
