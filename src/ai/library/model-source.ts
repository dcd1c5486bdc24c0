/** The contract of a source of models, implemented by directory-source.ts, http-source.ts and hub-source.ts. */
import type { ModelReference } from "./model-reference.js";

/** `git`: the SHA-1 that git gives a file (of "blob", its size and its bytes). */
export interface FileDigest {
  readonly kind: "sha256" | "git";
  /** Hex. */
  readonly value: string;
}

/** A file's bytes as they come. */
export interface FileBytes {
  /** The first of them: what was asked for, or 0 when the source does not give parts. */
  readonly from: number;
  /** Of the whole file, when the source says so. */
  readonly bytesTotal: number | null;
  readonly stream: AsyncIterable<Uint8Array>;
}

export interface OfferedFile {
  /** Its name in the bundle, which is a plain one. */
  readonly name: string;
  /** Null: not known before it is here. */
  readonly bytes: number | null;
  readonly digest: FileDigest | null;
  /**
   * Two files with the same are the same to the byte, so a download may go on with a part of the other; null: nobody
   * knows.
   */
  readonly identity: string | null;
  /** Rejects with SourceError, and whatever aborts the signal. */
  open(from: number, signal: AbortSignal): Promise<FileBytes>;
}

/** A file of the offer, once it is here and was found to be what was offered. */
export interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Where it lies. */
  readonly path: string;
}

/** A model that a source has. */
export interface Offer {
  /** Of the bundle: the name under which it is installed. */
  readonly id: string;
  /** SHA-256 of the manifest; null: it is not known before the files are here. */
  readonly digest: string | null;
  readonly files: readonly OfferedFile[];
  /**
   * The manifest's text: from the source, or made from the files. Throws BundleError if this server cannot run such a
   * model.
   */
  manifest(files: readonly StoredFile[]): Promise<string>;
}

export interface ModelSource {
  /** As the configuration names it. */
  readonly name: string;
  /** Null: the source does not have it. Rejects with SourceError, BundleError and whatever aborts the signal. */
  find(model: ModelReference, signal: AbortSignal): Promise<Offer | null>;
}
