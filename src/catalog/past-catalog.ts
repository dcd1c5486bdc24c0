/**
 * A tenant's definitions as they were at many moments, by their version: those of few versions are kept. Each of its
 * transactions reads one moment and writes nothing.
 */
import type { Transaction } from "../storage/store.js";
import { Catalog } from "./catalog.js";
import type { CatalogView } from "./catalog-view.js";

export class PastCatalog extends Catalog {
  /** What was asked for last: a statement asks several times. */
  private last: { readonly moment: number; readonly view: CatalogView } | null = null;

  constructor(tenantNumber: number, hidesMemories: boolean) {
    super(tenantNumber);
    this.hidesMemories = hidesMemories;
    // No version is the newest: each moment has its own.
    this.followed(Number.POSITIVE_INFINITY);
  }

  override view(tx: Transaction): CatalogView {
    if (this.last?.moment !== tx.snapshot) this.last = { moment: tx.snapshot, view: super.view(tx) };
    return this.last.view;
  }
}
