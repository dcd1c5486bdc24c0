/**
 * What two nodes say on the peer link when one of them is given a model's files. Each question stands by itself, so the
 * one that wants them sets the pace.
 */
import type { BundleFile } from "../protocol/shared-models.js";

export interface BundleRead extends BundleFile {
  readonly kind: "bundle-read";
  readonly at: number;
  readonly bytes: number;
}

export type BundleAnswer =
  | { readonly kind: "bundle-bytes"; readonly at: number; readonly bytesTotal: number; readonly bytes: Uint8Array }
  | { readonly kind: "bundle-refused"; readonly why: string };

export function isBundleRead(message: { readonly kind: string }): message is BundleRead {
  return message.kind === "bundle-read";
}
