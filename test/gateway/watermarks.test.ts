/** When writes are refused for want of room, and when they are taken again. */
import t from "tap";
import { type Room, Watermarks } from "../../src/gateway/watermarks.js";
import type { WriteRefusal } from "../../src/protocol/messages.js";
import { gatewayConfig } from "./gateway-config.js";
import { memoryLogger } from "./memory-logger.js";

const MIB = 2 ** 20;

t.test("below a mark, and well above it again", async (t) => {
  const base = gatewayConfig({ limits: { memoryBytesMax: 1000 * MIB } });
  const config = { ...base, storage: { ...base.storage, freeBytesMin: 100 * MIB } };
  let room: Room = { diskFreeBytes: 500 * MIB, memoryBytes: 100 * MIB };
  const told: (WriteRefusal | null)[] = [];
  const { logger } = memoryLogger();
  const watermarks = new Watermarks({
    config,
    logger,
    tell: (refusal) => told.push(refusal),
    look: async () => room,
  });
  t.teardown(() => watermarks.close());
  const at = async (disk: number, memory: number): Promise<string | undefined> => {
    room = { diskFreeBytes: disk * MIB, memoryBytes: memory * MIB };
    await watermarks.check();
    return watermarks.refusal?.code;
  };
  t.equal(await at(500, 100), undefined);
  t.equal(await at(99, 100), "disk_full");
  t.equal(await at(105, 100), "disk_full", "not with every file that goes");
  t.equal(await at(111, 100), undefined);
  t.equal(await at(500, 1001), "overloaded");
  t.equal(await at(500, 950), "overloaded");
  t.equal(await at(500, 900), undefined);
  t.same(
    told.map((refusal) => refusal?.code ?? null),
    ["disk_full", null, "overloaded", null],
    "told of changes only",
  );
  t.match(told[0]?.message, /99 MiB left and keeps 100/);
});
