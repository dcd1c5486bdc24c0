/**
 * A model bundle: a folder with manifest.json and the files that it lists. The bytes that are hashed are the bytes
 * that are used: a file is not read twice. The only state is the manifests that were parsed, because the nodes of a
 * cluster look at their bundles every few seconds.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { BundleError, type Manifest, parseManifest } from "./manifest.js";

const MANIFEST = "manifest.json";
/** What a pull says of itself (library/pull.ts). */
const PULLED = "pulled.json";
const PARSED_MAX = 100;

/** By the digest of their bytes. */
const parsed = new Map<string, Manifest>();

/** A folder that has a manifest. */
export interface FoundBundle {
  readonly directory: string;
  /** Null: it cannot be read, `problem` says why. */
  readonly manifest: Manifest | null;
  /** SHA-256 of the manifest, which holds those of the files: it names the bundle to the byte. */
  readonly digest: string;
  /** Why the model cannot be used, as far as can be told without reading its files. */
  readonly problem: string | null;
  /** Null: somebody else put it there. */
  readonly pulled: PulledFrom | null;
}

/** How a bundle came into the model root. */
export interface PulledFrom {
  readonly tag: string;
  readonly source: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** The bundles in a folder of models, by their folders' names. A folder without a manifest is no bundle (yet). */
export function findBundles(root: string): FoundBundle[] {
  let names: string[];
  try {
    names = readdirSync(root);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  const found = names.sort().map((name) => findBundle(join(root, name)));
  return found.filter((bundle) => bundle !== null);
}

/** Null: there is no manifest. */
export function findBundle(directory: string): FoundBundle | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(directory, MANIFEST));
  } catch {
    return null;
  }
  const digest = createHash("sha256").update(bytes).digest("hex");
  let manifest: Manifest | null = null;
  try {
    manifest = parsed.get(digest) ?? remembered(digest, parseManifest(bytes.toString()));
    checkSizes(directory, manifest);
    return { directory, manifest, digest, problem: null, pulled: readPulled(directory) };
  } catch (error) {
    return { directory, manifest, digest, problem: problemOf(error), pulled: readPulled(directory) };
  }
}

function remembered(digest: string, manifest: Manifest): Manifest {
  if (parsed.size === PARSED_MAX) parsed.clear();
  parsed.set(digest, manifest);
  return manifest;
}

/** Null, too, for what cannot be read: nothing depends on it. */
function readPulled(directory: string): PulledFrom | null {
  try {
    const { tag, source, pulled_at } = JSON.parse(readFileSync(join(directory, PULLED), "utf8"));
    const atMs = Date.parse(pulled_at);
    return typeof tag === "string" && typeof source === "string" && !Number.isNaN(atMs) ? { tag, source, atMs } : null;
  } catch {
    return null;
  }
}

/** What can be told without reading the files. */
function checkSizes(directory: string, manifest: Manifest): void {
  for (const { name, bytes } of manifest.files) {
    const size = sizeOf(join(directory, name));
    if (size === null) throw new BundleError(`${name} is missing`);
    if (size !== bytes) throw new BundleError(`${name} has ${size} bytes, the manifest says ${bytes}`);
  }
}

function sizeOf(file: string): number | null {
  const facts = statSync(file, { throwIfNoEntry: false });
  return facts?.isFile() ? facts.size : null;
}

/** Bytes of one file of the bundle, if they are what the manifest says. Throws BundleError. */
export function readBundleFile(directory: string, manifest: Manifest, name: string): Buffer {
  const entry = manifest.files.find((file) => file.name === name);
  if (entry === undefined) throw new BundleError(`the manifest does not list ${name}`);
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(directory, name));
  } catch (error) {
    throw new BundleError(`${name} cannot be read: ${(error as Error).message}`);
  }
  if (bytes.length !== entry.bytes) {
    throw new BundleError(`${name} has ${bytes.length} bytes, the manifest says ${entry.bytes}`);
  }
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (digest !== entry.sha256) throw new BundleError(`${name} was changed: its SHA-256 is ${digest}`);
  return bytes;
}

/** In words. Broken invariants are passed on. */
export function problemOf(error: unknown): string {
  if (error instanceof BundleError) return error.message;
  throw error;
}
