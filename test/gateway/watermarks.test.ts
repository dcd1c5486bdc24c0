/** When writes are refused for want of room, and when they are taken again. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { type Room, Watermarks } from "../../src/gateway/watermarks.js";
import type { WriteRefusal } from "../../src/protocol/messages.js";
import { DiskReserve } from "../../src/storage/disk-reserve.js";
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

t.test("the reserve is given up when the disk is full, and made again when there is room", async (t) => {
  const directory = t.testdir();
  const base = gatewayConfig({});
  const config = { ...base, storage: { ...base.storage, freeBytesMin: 100 * MIB, reserveBytes: 2 * MIB } };
  let diskFreeBytes = 500 * MIB;
  const { logger } = memoryLogger();
  const reserve = new DiskReserve(directory, config.storage.reserveBytes);
  const look = async () => ({ diskFreeBytes, memoryBytes: 0 });
  const watermarks = new Watermarks({ config, logger, tell: () => undefined, look, reserve });
  watermarks.close();
  const at = async (free: number): Promise<boolean> => {
    diskFreeBytes = free;
    await watermarks.check();
    return reserve.isHeld;
  };
  t.equal(await at(500 * MIB), true);
  t.equal(statSync(join(directory, "RESERVE")).size, MIB);
  t.equal(statSync(join(directory, "RESERVE.start")).size, MIB);
  t.equal(await at(50 * MIB), true, "refusing writes is enough");
  t.equal(await at(MIB / 2 - 1), false);
  t.same(readdirSync(directory), ["RESERVE.start"], "for the next start");
  t.equal(await at(50 * MIB), false, "not yet");
  t.equal(await at(113 * MIB), false, "writes are taken, but there is no room for it");
  t.equal(await at(500 * MIB), true);
  t.same(readdirSync(directory).sort(), ["RESERVE", "RESERVE.start"]);
});
