/**
 * A tenant's definitions as they were at many moments, by their version: those of few versions are kept. Each of its
 * transactions reads one moment and writes nothing.
 *
 * Who may do what is of the present. What has been dropped since has no rights there, so it keeps those that it had.
 */
import type { Transaction } from "../storage/store.js";
import { Catalog, type WhoMay } from "./catalog.js";
import type { CatalogView } from "./catalog-view.js";
import { DATABASE_ID, LANGUAGE_IDS, PUBLIC_SCHEMA_ID } from "./role.js";

export class PastCatalog extends Catalog {
  /** What was asked for last: a statement asks several times. */
  private last: { readonly moment: number; readonly view: CatalogView } | null = null;

  constructor(
    tenantNumber: number,
    hidesMemories: boolean,
    private readonly present: CatalogView,
  ) {
    super(tenantNumber);
    this.hidesMemories = hidesMemories;
    // No version is the newest: each moment has its own.
    this.followed(Number.POSITIVE_INFINITY);
  }

  override view(tx: Transaction): CatalogView {
    if (this.last?.moment !== tx.snapshot) this.last = { moment: tx.snapshot, view: super.view(tx) };
    return this.last.view;
  }

  /** Whether it says with that version of the present, too, who may do what. */
  holdsFor(present: CatalogView): boolean {
    if (present.version === this.present.version) return true;
    return ![this.present, present].some((each) => each.hasAccess || each.roles().length > 0) && !this.everHadAccess;
  }

  protected override whoMay(tx: Transaction): WhoMay {
    const accesses = [...super.whoMay(tx).accesses];
    const there = accesses.length === 0 ? new Set<number>() : idsOf(this.present);
    const gone = accesses.filter(({ objectId }) => !there.has(objectId) && this.present.accessTo(objectId) === null);
    const { present } = this;
    return {
      roles: present.roles(),
      accesses: [...present.accesses(), ...gone],
      roleSettings: present.roleSettings(),
    };
  }
}

/** Of all to which there may be rights. */
function idsOf(catalog: CatalogView): Set<number> {
  const relations = [...catalog.tables(), ...catalog.views(), ...catalog.propertyGraphs(), ...catalog.sequences()];
  const all = [...relations, ...catalog.schemas(), ...catalog.functions(), ...catalog.types()];
  return new Set([PUBLIC_SCHEMA_ID, DATABASE_ID, ...Object.values(LANGUAGE_IDS), ...all.map(({ id }) => id)]);
}
