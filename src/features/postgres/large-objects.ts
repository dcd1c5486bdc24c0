/**
 * PostgreSQL's functions of large objects (chapter 35 of its manual): what lo_create and its like do, and descriptors
 * of open objects, which last until the end of their transaction. The bytes are in large-object-store.ts.
 */
import { DEFAULT_SCHEMA } from "../../catalog/catalog-view.js";
import { sqlError } from "../../protocol/errors.js";
import { Capability, need } from "../../query/expr/capability.js";
import type { EvalContext, ScalarFunction } from "../../query/expr/expr.js";
import { deferredFn } from "../../query/expr/functions/define.js";
import { MadeRows, type TableFunction } from "../../query/expr/table-function.js";
import type { AskingStatement } from "../../session/capabilities.js";
import { OWNER_OID } from "../../sql/bind/system/relation-facts.js";
import { systemShapes } from "../../sql/bind/system/shapes.js";
import { SYSTEM } from "../../sql/bind/system/system-view.js";
import { BYTEA, INT4, INT8, OID, recordOf, type SqlType, TEXT, type Value, VOID } from "../../values/values.js";
import { type LargeObjectContext, LargeObjectStore, OBJECTS_TABLE, PAGES_TABLE } from "./large-object-store.js";

interface OpenObject {
  readonly id: number;
  readonly isWritable: boolean;
  position: number;
}

/** Those of one transaction, by their numbers. */
class OpenObjects {
  private readonly open: (OpenObject | undefined)[] = [];

  add(opened: OpenObject): number {
    const free = this.open.indexOf(undefined);
    const fd = free < 0 ? this.open.length : free;
    this.open[fd] = opened;
    return fd;
  }

  /** Throws 42704. */
  at(fd: number): OpenObject {
    const opened = this.open[fd];
    if (opened === undefined) throw sqlError("42704", `invalid large-object descriptor: ${fd}`);
    return opened;
  }

  close(fd: number): void {
    this.at(fd);
    this.open[fd] = undefined;
  }

  /** It was opened in a part of the transaction that is rolled back. */
  forget(opened: OpenObject): void {
    const fd = this.open.indexOf(opened);
    if (fd >= 0) this.open[fd] = undefined;
  }

  /** The object is no more. */
  closeAll(id: number): void {
    for (const [fd, opened] of this.open.entries()) if (opened?.id === id) this.open[fd] = undefined;
  }
}

interface Descriptors {
  readonly objects: OpenObjects;
  undoes(undo: () => void): void;
}

export const LARGE_OBJECTS = new Capability<Descriptors>("Large objects need a session; there is none here.");

const ofTransactions = new WeakMap<object, OpenObjects>();

export function descriptorsOf(statement: AskingStatement): Descriptors {
  const objects = ofTransactions.get(statement.transaction) ?? new OpenObjects();
  ofTransactions.set(statement.transaction, objects);
  return { objects, undoes: (undo) => statement.undoes(undo) };
}

type Call = (store: LargeObjectStore, descriptors: Descriptors, args: readonly Value[]) => Promise<Value>;

/** Calls see what those before them did. */
function largeObjectFn(name: string, args: readonly SqlType[], returns: SqlType, call: Call): ScalarFunction {
  return deferredFn(name, args, returns, async (columns, count, context) => {
    const store = new LargeObjectStore(context as LargeObjectContext);
    const descriptors = need(context, LARGE_OBJECTS);
    const values: Value[] = [];
    for (let i = 0; i < count; i++) {
      values.push(
        await call(
          store,
          descriptors,
          columns.map((column) => column[i]!),
        ),
      );
      if (context.shouldYield()) await context.yieldTurn();
    }
    return values;
  });
}

function writingFn(...declared: Parameters<typeof largeObjectFn>): ScalarFunction {
  return Object.freeze({ ...largeObjectFn(...declared), writes: true as const });
}

/** Modes of lo_open. */
const INV_WRITE = 0x20000;
const INV_READ = 0x40000;
/** Places that lo_lseek counts from. */
const SEEK = { start: 0, here: 1, end: 2 } as const;
const INT4_MAX = 2 ** 31 - 1;

const open: Call = async (store, { objects, undoes }, [id, mode]) => {
  const flags = mode as number;
  if ((flags & (INV_READ | INV_WRITE)) === 0) {
    throw sqlError("22023", `invalid flags for opening a large object: ${flags}`);
  }
  await store.requireUse(Number(id));
  const opened = { id: Number(id), isWritable: (flags & INV_WRITE) !== 0, position: 0 };
  undoes(() => objects.forget(opened));
  return objects.add(opened);
};

const close: Call = async (_store, { objects }, [fd]) => {
  objects.close(fd as number);
  return 0;
};

const readOpen: Call = async (store, { objects }, [fd, length]) => {
  const opened = objects.at(fd as number);
  const bytes = await store.read(opened.id, opened.position, Math.max(0, length as number));
  opened.position += bytes.length;
  return bytes;
};

const writeOpen: Call = async (store, { objects }, [fd, bytes]) => {
  const opened = writable(objects, fd as number);
  const { length } = bytes as Uint8Array;
  await store.write(opened.id, opened.position, bytes as Uint8Array);
  opened.position += length;
  return length;
};

const truncate: Call = async (store, { objects }, [fd, length]) => {
  await store.truncate(writable(objects, fd as number).id, Number(length));
  return 0;
};

/** Throws 55000. */
function writable(objects: OpenObjects, fd: number): OpenObject {
  const opened = objects.at(fd);
  if (opened.isWritable) return opened;
  throw sqlError("55000", `large object descriptor ${fd} was not opened for writing`);
}

const seek =
  (name: string, most: number): Call =>
  async (store, { objects }, [fd, offset, whence]) => {
    const opened = objects.at(fd as number);
    const target = (await placeOf(store, opened, whence as number)) + Number(offset);
    if (target < 0) throw sqlError("22023", `invalid large object seek target: ${target}`);
    opened.position = target;
    return inRange(target, most, name, fd as number);
  };

async function placeOf(store: LargeObjectStore, { id, position }: OpenObject, whence: number): Promise<number> {
  switch (whence) {
    case SEEK.start:
      return 0;
    case SEEK.here:
      return position;
    case SEEK.end:
      return store.sizeOf(id);
    default:
      throw sqlError("22023", `invalid whence setting: ${whence}`);
  }
}

const tell =
  (name: string, most: number): Call =>
  async (_store, { objects }, [fd]) =>
    inRange(objects.at(fd as number).position, most, name, fd as number);

function inRange(position: number, most: number, name: string, fd: number): number {
  if (position <= most) return position;
  throw sqlError("22003", `${name} result out of range for large-object descriptor ${fd}`);
}

const unlink: Call = async (store, { objects }, [id]) => {
  await store.remove(Number(id));
  objects.closeAll(Number(id));
  return 1;
};

const get: Call = async (store, _descriptors, [id, offset = 0, length = Number.MAX_SAFE_INTEGER]) => {
  if ((length as number) < 0) throw sqlError("22023", "requested length cannot be negative");
  await store.requireUse(Number(id));
  return store.read(Number(id), place(offset), length as number);
};

const put: Call = async (store, _descriptors, [id, offset, bytes]) => {
  await store.requireUse(Number(id));
  await store.write(Number(id), place(offset!), bytes as Uint8Array);
  return "";
};

function place(offset: Value): number {
  if (Number(offset) >= 0) return Number(offset);
  throw sqlError("22023", `invalid large object seek target: ${offset}`);
}

const fromBytes: Call = async (store, _descriptors, [wanted, bytes]) => {
  const id = await store.create(Number(wanted));
  await store.write(id, 0, bytes as Uint8Array);
  return id;
};

const create: Call = (store, _descriptors, [wanted]) => store.create(Number(wanted));
const createAny: Call = (store) => store.create(0);

const noFiles: Call = async () => {
  throw sqlError("42501", "the server reads and writes no files for its clients", {
    hint: "Use psql's \\lo_import and \\lo_export, or the functions lo_from_bytea and lo_get.",
  });
};

export const LARGE_OBJECT_FUNCTIONS: readonly ScalarFunction[] = [
  writingFn("lo_creat", [INT4], OID, createAny),
  writingFn("lo_create", [OID], OID, create),
  writingFn("lo_from_bytea", [OID, BYTEA], OID, fromBytes),
  largeObjectFn("lo_open", [OID, INT4], INT4, open),
  largeObjectFn("lo_close", [INT4], INT4, close),
  largeObjectFn("loread", [INT4, INT4], BYTEA, readOpen),
  writingFn("lowrite", [INT4, BYTEA], INT4, writeOpen),
  largeObjectFn("lo_lseek", [INT4, INT4, INT4], INT4, seek("lo_lseek", INT4_MAX)),
  largeObjectFn("lo_lseek64", [INT4, INT8, INT4], INT8, seek("lo_lseek64", Number.MAX_SAFE_INTEGER)),
  largeObjectFn("lo_tell", [INT4], INT4, tell("lo_tell", INT4_MAX)),
  largeObjectFn("lo_tell64", [INT4], INT8, tell("lo_tell64", Number.MAX_SAFE_INTEGER)),
  writingFn("lo_truncate", [INT4, INT4], INT4, truncate),
  writingFn("lo_truncate64", [INT4, INT8], INT4, truncate),
  writingFn("lo_unlink", [OID], INT4, unlink),
  largeObjectFn("lo_get", [OID], BYTEA, get),
  largeObjectFn("lo_get", [OID, INT8, INT4], BYTEA, get),
  writingFn("lo_put", [OID, INT8, BYTEA], VOID, put),
  writingFn("lo_import", [TEXT], OID, noFiles),
  writingFn("lo_import", [TEXT, OID], OID, noFiles),
  writingFn("lo_export", [OID, TEXT], INT4, noFiles),
];

/** pg_largeobject and pg_largeobject_metadata: rows of the store's tables, which the statement may see. */
function largeObjectRelation(name: string, sql: string, ofSuperusers: boolean): TableFunction {
  const { columns } = systemShapes().get(`pg_catalog.${name}`)!;
  const rows = async (context: LargeObjectContext) => {
    const { services } = context;
    const rights = need(context, SYSTEM).currentRights();
    if (ofSuperusers && rights.ofRoles && !rights.isSuperuser)
      throw sqlError("42501", `permission denied for table ${name}`);
    if (services.catalogView().table(DEFAULT_SCHEMA, OBJECTS_TABLE) === null) return [];
    return (await services.runStatement(sql, [], Number.MAX_SAFE_INTEGER, context, true)).rows;
  };
  return Object.freeze({
    name,
    args: [],
    returns: recordOf(columns.map((column) => ({ name: column.name, type: column.type }))),
    strict: false,
    open: (context: EvalContext) => new MadeRows(() => rows(context as LargeObjectContext)),
  });
}

const PUBLIC = `"${DEFAULT_SCHEMA}".`;

export const LARGE_OBJECT_RELATIONS: readonly TableFunction[] = [
  largeObjectRelation(
    "pg_largeobject_metadata",
    `SELECT id::oid, ${OWNER_OID}::oid, NULL::text[] FROM ${PUBLIC}"${OBJECTS_TABLE}" ORDER BY id`,
    false,
  ),
  largeObjectRelation(
    "pg_largeobject",
    `SELECT object::oid, page, data FROM ${PUBLIC}"${PAGES_TABLE}" ORDER BY object, page`,
    true,
  ),
];
