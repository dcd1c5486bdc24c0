/**
 * A round of the torture, with a full disk where one can be mounted (`make torture` goes on), and a data directory that
 * cannot be written.
 */
import { join } from "node:path";
import t from "tap";
import { TestServer } from "../e2e/server.js";
import { SmallDisk } from "./small-disk.js";
import { Torture } from "./torture.js";

const ROUNDS = Number(process.env.TORTURE_ROUNDS ?? 1);

t.setTimeout(300_000);

t.test("mixed writes survive kills, whole", async (t) => {
  const torture = await Torture.start(3);
  t.teardown(() => torture.stop());
  for (let round = 1; round <= ROUNDS; round++) {
    const { kind, problems, acknowledged } = await torture.round(torture.kindOf(round), 20);
    t.same(problems, [], `round ${round}: ${kind}, ${acknowledged} writes`);
  }
});

t.test("a data directory that cannot be written is told, and is whole afterwards", async (t) => {
  const disk = SmallDisk.mount();
  if (disk === null) {
    t.pass("this user may not mount a file system");
    return;
  }
  t.teardown(() => disk.unmount());
  const server = await TestServer.start({}, join(disk.path, "data"));
  t.teardown(() => server.stop());
  await server.rows("CREATE TABLE entry (n integer PRIMARY KEY)");
  await server.rows("INSERT INTO entry VALUES (1)");
  await server.terminate();
  disk.readOnly(true);
  server.lines.length = 0;
  await t.rejects(server.boot(), /ended with code 1/);
  const told = server.lines.join("\n");
  t.match(told, /EROFS|read-only|cannot be written/i);
  t.match(told, disk.path, "it names the place");
  t.equal(told.split("\n").filter((line) => line.startsWith("tessera:")).length, 1, "in one line, without a stack");
  disk.readOnly(false);
  await server.boot();
  t.same(await server.rows("SELECT n FROM entry"), [[1]]);
});
