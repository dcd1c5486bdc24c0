/**
 * A folder that is edited at random while it is read, and a server that is killed meanwhile: at last the collection
 * equals the folder, and what had been finished was not read again. FILES_CHANGES makes it longer.
 */
import t from "tap";
import { randomFrom } from "../fuzz/random.js";
import { sized } from "../lengths.js";
import { filesOf, ROUTE, TestFolder, untilEqual } from "./filesystem-folder.js";
import { TestServer } from "./server.js";

const CHANGES = Number(process.env.FILES_CHANGES ?? sized(20, 60));
const KILLS = 1;

/** Whole numbers below n, from a seed. */
function generator(seed: number): (below: number) => number {
  const random = randomFrom(seed);
  return (below) => (random() * 2 ** 32) % below;
}

t.test("random changes and SIGKILL", async (t) => {
  const seed = Number(process.env.FILES_SEED ?? Date.now() % 100_000);
  t.comment(`FILES_SEED=${seed}`);
  const random = generator(seed);
  const folder = new TestFolder();
  const server = await TestServer.start({
    TESSERA_FILES_ROOTS: folder.root,
    TESSERA_FILES_RESCAN_SECONDS: "5",
  });
  t.teardown(async () => {
    await server.stop();
    folder.end();
  });
  let made = 0;
  // Of a few sizes and contents, so that files are mistaken for each other where they can be.
  const content = () => `Note ${random(8)}: ${["reeds", "herons", "otters"][random(3)]!.repeat(1 + random(3))}.`;
  const put = () => folder.put(`${"abc"[random(3)]}/${["", "x/"][random(2)]}${made++ % 40}.txt`, content());
  for (let i = 0; i < 40; i++) put();
  const { id } = (await server.expect(201, "POST", ROUTE, { name: "docs", watch_dir: folder.root })).body.data;
  const killAt = new Set(Array.from({ length: KILLS }, (_, i) => Math.floor(((i + 1) * CHANGES) / (KILLS + 1))));
  for (let i = 0; i < CHANGES; i++) {
    const paths = folder.paths();
    const path = paths[random(paths.length)];
    const what = random(10);
    if (path === undefined || what < 3) put();
    else if (what < 5) folder.put(path, content());
    else if (what < 8) folder.move(path, `${"abcd"[random(4)]}/moved-${random(30)}.txt`);
    else if (what < 9) folder.remove(path);
    else folder.remove(path.split("/")[0]!);
    if (killAt.has(i)) {
      await server.kill();
      await server.boot();
    } else if (random(4) === 0) await new Promise((resolve) => setTimeout(resolve, random(60)));
  }
  await untilEqual(server, id, "docs", folder, 60_000);
  const before = await filesOf(server, id);
  await server.kill();
  await server.boot();
  folder.put("last.txt", "After the last start.");
  await untilEqual(server, id, "docs", folder, 60_000);
  const after = new Map((await filesOf(server, id)).map((file) => [file.path, file]));
  t.same(
    before.filter(({ path, read_at: readAt }) => after.get(path).read_at !== readAt),
    [],
    "nothing that was finished is read again after a restart",
  );
  t.equal((await server.expect(200, "GET", `${ROUTE}/${id}`)).body.data.error, null);
});
