/** The native functions of @nxtedition/rocksdb that are used; see rocksdb-engine.ts. */
import { createRequire } from "node:module";
import { DbError } from "../protocol/errors.js";
import { hasAvx2, lacksOf, thisMachine } from "../protocol/machine.js";

export type Handle = { readonly opaque: unique symbol };

/** The native functions that are used. None may be called with a closed database: it would end the process. */
export interface Binding {
  /** A path, or what `db_get_handle` gave of a database that is open in this process. */
  db_init(location: string | bigint): Handle;
  db_get_handle(db: Handle): bigint;
  db_open(db: Handle, options: object, callback: (error: Error | null) => void): void;
  db_close(db: Handle, callback: (error: Error | null) => void): void;
  db_get_many_sync(db: Handle, keys: readonly Uint8Array[], options: undefined): (Buffer | null | undefined)[];
  db_get_property(db: Handle, name: string): string;
  /** Without a limit it writes one marker, whatever the range holds. */
  db_clear(db: Handle, range: { readonly gte: Uint8Array; readonly lt: Uint8Array }): void;
  iterator_init(db: Handle, options: object): Handle;
  iterator_nextv_sync(iterator: Handle, max: number): { rows: Buffer[]; finished: boolean };
  iterator_seek(iterator: Handle, key: Uint8Array): void;
  iterator_close(iterator: Handle): void;
  batch_init(): Handle;
  batch_put(batch: Handle, key: Uint8Array, value: Uint8Array, options: undefined): void;
  batch_del(batch: Handle, key: Uint8Array, options: undefined): void;
  batch_clear(batch: Handle): void;
  batch_write(db: Handle, batch: Handle, options: { readonly sync: boolean } | undefined): void;
}

let loaded: Binding | null = null;

export function loadBinding(): Binding {
  if (loaded !== null) return loaded;
  // Without it the binary would end the process.
  if (hasAvx2() === false) throw new DbError("internal_error", lackOf());
  try {
    loaded = createRequire(import.meta.url)("@nxtedition/rocksdb/binding.js") as Binding;
  } catch (error) {
    throw new DbError("internal_error", `RocksDB does not load: ${lackOf() || (error as Error).message}.`);
  }
  return loaded;
}

const lackOf = (): string =>
  lacksOf(thisMachine())
    .map(({ message }) => message)
    .join("; ");
