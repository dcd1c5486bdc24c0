/**
 * The data keys of a shard, one for each tenant, with which everything that the tenant has on disk is encrypted
 * (storage.encryption). A key lies in a file of its own, sealed with a key that is derived from the installation's
 * secret. A removed tenant's key is destroyed, so that nothing decrypts what is left of it on the disk.
 *
 *   keys/TENANT-NUMBER.key         numbers ascend in the shard: a tenant that was removed and came back has another key
 *   keys/TENANT-NUMBER.destroyed   it is gone, and what it encrypted counts for nothing
 *
 * A box is what a key encrypts (AES-256-GCM, NIST SP 800-38D), bound to its place, so that none can stand for another:
 *
 *   number of the key u32 · nonce, 12 random bytes · tag, 16 bytes · ciphertext        (little-endian)
 *
 * Opened by shard-sealing.ts. Owned by the shard's engine and log; its state is the files.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, statSync, unlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { sealBytes, unsealBytes } from "../protocol/sealing.js";
import { syncDirectoryNow, writeFileDurably } from "./disk.js";
import type { ShardIdentity } from "./format.js";
import { jobPrefix, SHARD_TENANT, tenantOfKey, watchPrefix } from "./keys.js";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TEXT_AT = 4 + NONCE_BYTES + TAG_BYTES;
/** More than what it encrypts has. */
export const BOX_BYTES = TEXT_AT;
/** Random bytes are made for so many nonces at a time. */
const NONCES = 512;
const ZEROS = Buffer.alloc(1024);

export class DataKey {
  constructor(
    readonly tenant: number,
    readonly number: number,
    readonly bytes: Uint8Array,
  ) {}
}

let nonces = Buffer.alloc(0);
let nonceAt = 0;

function nonce(): Buffer {
  if (nonceAt === nonces.length) [nonces, nonceAt] = [randomBytes(NONCES * NONCE_BYTES), 0];
  nonceAt += NONCE_BYTES;
  return nonces.subarray(nonceAt - NONCE_BYTES, nonceAt);
}

/** A box with the plain bytes; `place`: where it will be looked for. */
export function sealBox(key: DataKey, plain: Uint8Array, place: Uint8Array): Buffer {
  const box = Buffer.allocUnsafe(TEXT_AT + plain.length);
  const iv = nonce();
  const cipher = createCipheriv("aes-256-gcm", key.bytes, iv).setAAD(place);
  box.writeUInt32LE(key.number, 0);
  box.set(iv, 4);
  box.set(cipher.update(plain), TEXT_AT);
  cipher.final();
  box.set(cipher.getAuthTag(), 4 + NONCE_BYTES);
  return box;
}

/** The number of the key that opens a box; 0: it is none. */
export function keyNumberOf(box: Uint8Array): number {
  return box.length < TEXT_AT ? 0 : (box[0]! | (box[1]! << 8) | (box[2]! << 16) | (box[3]! << 24)) >>> 0;
}

/** Null: it was not sealed with this key for this place, or was changed. */
export function openBox(key: DataKey, box: Uint8Array, place: Uint8Array): Buffer | null {
  const cipher = createDecipheriv("aes-256-gcm", key.bytes, box.subarray(4, 4 + NONCE_BYTES))
    .setAAD(place)
    .setAuthTag(box.subarray(4 + NONCE_BYTES, TEXT_AT));
  const plain = cipher.update(box.subarray(TEXT_AT));
  try {
    cipher.final();
    return plain;
  } catch {
    return null;
  }
}

interface KeyFile {
  readonly product: "tessera";
  readonly tenant: number;
  /** Base64. */
  readonly sealed: string;
}

export class TenantKeys {
  /** Those of a tenant, the newest last. */
  private readonly live = new Map<number, DataKey[]>();
  private readonly byNumber = new Map<number, DataKey>();
  /** The tenants of keys that are destroyed, by the key's number. */
  private readonly destroyed = new Map<number, number>();
  private last = 0;
  private recent: DataKey | null = null;

  /** Throws partition_damaged when a key does not open. */
  constructor(
    private readonly directory: string,
    private readonly wrapping: Uint8Array,
    private readonly identity: ShardIdentity | null,
  ) {
    for (const name of readdirSync(directory)) {
      const parts = /^(\d+)-(\d+)\.(key|destroyed)$/.exec(name);
      if (parts === null) continue;
      const [tenant, number] = [Number(parts[1]), Number(parts[2])];
      this.last = Math.max(this.last, number);
      if (parts[3] === "destroyed") this.destroyed.set(number, tenant);
    }
    for (const name of readdirSync(directory)) {
      const parts = /^(\d+)-(\d+)\.key$/.exec(name);
      if (parts === null) continue;
      const [tenant, number] = [Number(parts[1]), Number(parts[2])];
      // A crash came while it was being destroyed.
      if (this.destroyed.has(number)) wipe(join(directory, name));
      else this.add(this.read(tenant, number));
    }
    for (const keys of this.live.values()) keys.sort((a, b) => a.number - b.number);
  }

  /** The tenant's, which is made if there is none. Waits for the disk then. */
  of(tenant: number): DataKey {
    if (this.recent?.tenant === tenant) return this.recent;
    this.recent = this.live.get(tenant)?.at(-1) ?? this.make(tenant);
    return this.recent;
  }

  /** The tenant's; null: it has none, so there is nothing of it to read. */
  known(tenant: number): DataKey | null {
    return this.live.get(tenant)?.at(-1) ?? null;
  }

  /**
   * What the tenant's box at that place has in it. Null: its key is destroyed. Throws partition_damaged, saying what
   * and where, if it is not what was written there.
   */
  open(tenant: number, box: Uint8Array, place: Uint8Array, what: string): Buffer | null {
    const number = keyNumberOf(box);
    const key = this.byNumber.get(number);
    if (key !== undefined && key.tenant === tenant) {
      const plain = openBox(key, box, place);
      if (plain !== null) return plain;
    } else if (this.destroyed.get(number) === tenant) return null;
    throw new DbError(
      "partition_damaged",
      `${what} of tenant ${tenant} in ${this.directory} is not what was written: it does not decrypt. Restore a backup.`,
    );
  }

  /** All tenants that have one. */
  tenants(): readonly number[] {
    return [...this.live.keys()];
  }

  /** For good: nothing that they encrypted can be read any more, but where copies of the keys were kept. */
  destroy(tenant: number): void {
    for (const key of this.live.get(tenant) ?? []) {
      const { number } = key;
      writeFileDurably(join(this.directory, `${tenant}-${number}.destroyed`), "");
      // The mark counts from here on, whatever becomes of the file: nothing may be written with the key any more.
      this.recent = null;
      this.byNumber.delete(number);
      this.destroyed.set(number, tenant);
      const left = (this.live.get(tenant) ?? []).filter((each) => each !== key);
      if (left.length > 0) this.live.set(tenant, left);
      else this.live.delete(tenant);
      wipe(this.pathOf(tenant, number));
    }
  }

  private make(tenant: number): DataKey {
    const number = ++this.last;
    const key = new DataKey(tenant, number, new Uint8Array(randomBytes(KEY_BYTES)));
    const file: KeyFile = {
      product: "tessera",
      tenant,
      sealed: sealBytes(key.bytes, this.ownerOf(tenant, number), this.wrapping).toString("base64"),
    };
    writeFileDurably(this.pathOf(tenant, number), `${JSON.stringify(file)}\n`, 0o600);
    this.add(key);
    return key;
  }

  private add(key: DataKey): void {
    const { tenant, number } = key;
    this.byNumber.set(number, key);
    this.live.set(tenant, [...(this.live.get(tenant) ?? []), key]);
  }

  private read(tenant: number, number: number): DataKey {
    const path = this.pathOf(tenant, number);
    try {
      const { product, sealed } = (JSON.parse(readFileSync(path, "utf8")) ?? {}) as Partial<KeyFile>;
      const bytes =
        product === "tessera" && typeof sealed === "string"
          ? unsealBytes(Buffer.from(sealed, "base64"), this.ownerOf(tenant, number), this.wrapping)
          : null;
      if (bytes?.length === KEY_BYTES) return new DataKey(tenant, number, new Uint8Array(bytes));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    const advice = "Restore it, and the secret of the installation with it, from one copy of the data directory.";
    throw new DbError(
      "partition_damaged",
      `The data key ${path} is damaged or of another installation. ${advice} Without it the tenant's data is lost.`,
    );
  }

  private ownerOf(tenant: number, number: number): string {
    const { installation = "", partition = "" } = this.identity ?? {};
    return `data key ${number} of tenant ${tenant} in partition ${partition} of ${installation}`;
  }

  private pathOf(tenant: number, number: number): string {
    return join(this.directory, `${tenant}-${number}.key`);
  }
}

/** Written over first, for what the disk may keep. On the device when it returns. */
function wipe(path: string): void {
  const file = openSync(path, "r+");
  try {
    writeSync(file, ZEROS, 0, Math.min(ZEROS.length, statSync(path).size), 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  unlinkSync(path);
  syncDirectoryNow(dirname(path));
}

const TENANTS_RECORDS = [jobPrefix(), watchPrefix()];

/** The tenant whose key encrypts the entry: jobs stand among the shard's own entries, and are the tenants'. */
export function keyTenantOf(key: Uint8Array): number {
  const tenant = tenantOfKey(key);
  if (tenant !== SHARD_TENANT) return tenant;
  for (const prefix of TENANTS_RECORDS) {
    if (prefix.length >= key.length || Buffer.compare(key.subarray(0, prefix.length), prefix) !== 0) continue;
    const number = /^\d+/.exec(Buffer.from(key.subarray(prefix.length, prefix.length + 10)).toString("latin1"));
    if (number !== null) return Number(number[0]);
  }
  return SHARD_TENANT;
}
