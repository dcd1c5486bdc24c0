/**
 * Keys that seal the installation's secret: changed, dropped, and a process killed before each of its steps on the
 * disk.
 */
import fs, {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { loadSecret } from "../../src/config/data-lock.js";
import { dropKeys, listKeys, resealKeys, rotateKeys } from "../../src/config/key-ring.js";
import { keyInUse, openSecret } from "../../src/config/sealed-secret.js";
import { keyId } from "../../src/protocol/sealing.js";

const root = mkdtempSync(join(tmpdir(), "tessera-key-ring-"));
t.teardown(() => rmSync(root, { recursive: true }));
const NOW = new Date("2026-03-04T05:06:07.000Z");
const first = Buffer.alloc(32, 1);
const quiet = () => {};

let directories = 0;
/** A data directory whose secret is sealed with `first`. */
function installation(): { dir: string; files: { keyFile: string; previousKeyFile: string }; secret: Uint8Array } {
  const dir = join(root, `data-${++directories}`);
  const files = { keyFile: join(root, `key-${directories}`), previousKeyFile: "" };
  writeFileSync(files.keyFile, first, { mode: 0o600 });
  return { dir, files, secret: openSecret(dir, files) };
}

t.test("a rotation puts a new key first, seals with it, and keeps the old one", (t) => {
  const { dir, files, secret } = installation();
  const { key, before } = rotateKeys(dir, files, quiet, NOW);
  t.equal(before, keyId(first));
  t.same(listKeys(dir, files), [
    { id: key, madeAt: NOW.toISOString(), previous: false, inUse: true, newest: true },
    { id: keyId(first), madeAt: null, previous: false, inUse: false, newest: false },
  ]);
  t.same(openSecret(dir, files), secret, "it is the same secret");
  t.equal(statSync(files.keyFile).mode & 0o777, 0o600);
  rotateKeys(dir, files, quiet, NOW);
  t.equal(listKeys(dir, files).length, 3);
  t.same(openSecret(dir, files), secret);
  t.end();
});

t.test("a copy of the data directory from before opens with the same key file", (t) => {
  const { dir, files, secret } = installation();
  cpSync(dir, `${dir}-copy`, { recursive: true });
  rotateKeys(dir, files, quiet, NOW);
  t.same(openSecret(`${dir}-copy`, files), secret);
  t.equal(keyInUse(`${dir}-copy`), listKeys(dir, files)[0]!.id, "a start seals it anew");
  t.end();
});

t.test("only keys that nothing is sealed with can be dropped", (t) => {
  const { dir, files, secret } = installation();
  const newest = () => listKeys(dir, files)[0]!.id;
  t.throws(() => dropKeys(dir, files, [keyId(first)]), { message: /sealed with the key .* reseal or rotate first/ });
  t.same(dropKeys(dir, files, "unused"), []);
  // By hand, as where the file is managed elsewhere.
  const hex = `${"ab".repeat(32)}\n${first.toString("hex")}`;
  writeFileSync(files.keyFile, hex);
  t.throws(() => dropKeys(dir, files, [newest()]), { message: /is the first of/ });
  t.throws(() => dropKeys(dir, files, [keyId(first)]), { message: /sealed with the key/ });
  t.equal(readFileSync(files.keyFile, "utf8"), hex, "a refusal changes nothing");
  t.same(resealKeys(dir, files, quiet), { key: newest(), before: keyId(first) });
  t.throws(() => dropKeys(dir, files, [keyId(first), "0123"]), { message: /no key 0123 .* tessera keys list/ });
  t.same(dropKeys(dir, files, [keyId(first)]), [keyId(first)]);
  t.same(
    listKeys(dir, files).map(({ id }) => id),
    [newest()],
  );
  t.same(openSecret(dir, files), secret);
  t.end();
});

t.test("a secret in the open is sealed, with a key file that need not exist", (t) => {
  const dir = join(root, "open");
  const secret = loadSecret(dir);
  const files = { keyFile: join(root, "made"), previousKeyFile: "" };
  const { key, before } = rotateKeys(dir, files, quiet, NOW);
  t.same([before, keyInUse(dir), existsSync(join(dir, "secret.key"))], [null, key, false]);
  t.equal(statSync(files.keyFile).mode & 0o777, 0o600);
  t.same(openSecret(dir, files), secret);
  rmSync(files.keyFile);
  t.throws(
    () => rotateKeys(dir, files, quiet, NOW),
    { message: /key file .* does not exist/ },
    "it is not made anew then",
  );
  t.notOk(existsSync(files.keyFile));
  t.end();
});

t.test("keys of the previous file count, and a link to a key file stays one", (t) => {
  const { dir, files, secret } = installation();
  const link = join(root, "link");
  const target = join(root, "target");
  writeFileSync(target, "cd".repeat(32), { mode: 0o600 });
  symlinkSync(target, link);
  const both = { keyFile: link, previousKeyFile: files.keyFile };
  t.same(
    listKeys(dir, both).map(({ inUse, newest, previous }) => [inUse, newest, previous]),
    [
      [false, true, false],
      [true, false, true],
    ],
  );
  rotateKeys(dir, both, quiet, NOW);
  t.same(openSecret(dir, { keyFile: link, previousKeyFile: "" }), secret);
  t.match(readFileSync(target, "utf8"), /made 2026-03-04T05:06:07.000Z/);
  t.ok(statSync(link).ino === statSync(target).ino);
  t.end();
});

t.test("what cannot be done is refused with its remedy, and changes nothing", (t) => {
  const { dir, files } = installation();
  const none = { keyFile: "", previousKeyFile: "" };
  t.throws(() => rotateKeys(dir, none, quiet, NOW), { message: /secrets\.key_file is not set/ });
  t.throws(() => listKeys(join(root, "nowhere"), files), { message: /there is no installation in/ });
  const foreign = { ...files, keyFile: join(root, "foreign") };
  writeFileSync(foreign.keyFile, Buffer.alloc(32, 9), { mode: 0o600 });
  t.throws(() => rotateKeys(dir, foreign, quiet, NOW), { message: /is sealed with the key/ });
  t.equal(statSync(foreign.keyFile).size, 32);
  for (const [content, message] of [
    ["# nothing\n", /has no key/],
    [`${"ab".repeat(32)}\nabc\n`, /line 2 is neither a key nor a comment/],
    ["x".repeat(70_000), /has 70000 bytes/],
    [Array.from({ length: 101 }, (_, i) => i.toString(16).padStart(64, "0")).join("\n"), /101 keys, and 100 at most/],
  ] as const) {
    writeFileSync(foreign.keyFile, content);
    t.throws(() => listKeys(dir, foreign), { message });
  }
  chmodSync(files.keyFile, 0o640);
  t.throws(() => listKeys(dir, files), { message: /chmod 600/ });
  t.end();
});

t.test("a file that cannot be written is said so, with the way around it", (t) => {
  const { dir, files, secret } = installation();
  // A folder stands where it is written first, whoever runs this.
  mkdirSync(`${files.keyFile}.new`);
  t.throws(() => rotateKeys(dir, files, quiet, NOW), { message: /cannot be written .* tessera keys reseal/ });
  t.same(openSecret(dir, files), secret);
  t.end();
});

const CHANGING = ["openSync", "writeSync", "fsyncSync", "renameSync", "unlinkSync", "linkSync", "rmSync"] as const;

/**
 * Works until before the n-th call that changes something on the disk; from there on nothing reaches it, as after a
 * kill.
 */
function killedAfter(steps: number, work: () => unknown): boolean {
  const real = Object.fromEntries(CHANGING.map((name) => [name, fs[name]]));
  let left = steps;
  for (const name of CHANGING) {
    const call = real[name] as (...given: unknown[]) => unknown;
    const counted = (...given: unknown[]) => {
      if (left === 0) throw new Error("killed");
      left--;
      return call(...given);
    };
    Object.assign(fs, { [name]: counted });
  }
  syncBuiltinESMExports();
  try {
    work();
    return false;
  } catch (error) {
    if (!(error as Error).message.includes("killed")) throw error;
    return true;
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
}

for (const work of ["rotate", "drop"]) {
  t.test(`a kill before any step of ${work} loses nothing`, (t) => {
    const { dir, files, secret } = installation();
    if (work === "drop") rotateKeys(dir, files, quiet, NOW);
    cpSync(dir, `${dir}-before`, { recursive: true });
    cpSync(files.keyFile, `${files.keyFile}-before`);
    for (let steps = 0; ; steps++) {
      rmSync(dir, { recursive: true });
      cpSync(`${dir}-before`, dir, { recursive: true });
      cpSync(`${files.keyFile}-before`, files.keyFile);
      const killed = killedAfter(steps, () =>
        work === "rotate" ? rotateKeys(dir, files, quiet, NOW) : dropKeys(dir, files, "unused"),
      );
      // Of this process, which lives; those of dead ones are taken over.
      rmSync(join(dir, "LOCK.secret"), { force: true });
      const inUse = keyInUse(dir);
      t.ok(
        listKeys(dir, files).some(({ id }) => id === inUse),
        `after ${steps} steps the key in use is in the file`,
      );
      t.same(openSecret(dir, files), secret, "and opens the same secret");
      rotateKeys(dir, files, quiet, NOW);
      t.same(openSecret(dir, files), secret, "a rotation goes on from there");
      if (killed) continue;
      t.ok(steps > 10, `${steps} steps`);
      break;
    }
    t.end();
  });
}
