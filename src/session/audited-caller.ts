/** On whose behalf rows of audited tables are used (data-audit.ts). A request says so; so may other clients. */
import type { Config } from "../protocol/config.js";
import type { ReadableShard } from "../storage/past-shard.js";
import type { Transaction } from "../storage/store.js";

/** A tenant, as far as its trail is concerned. */
export interface AuditedTenant {
  readonly number: number;
  readonly partition: { readonly shard: ReadableShard; readonly config: Config };
  commit(tx: Transaction): void;
}

export interface AuditedCaller {
  /** Whose trail it is: of a branch, its origin. */
  readonly tenant: AuditedTenant;
  readonly tenantName: string;
  readonly username: string;
  readonly keyId: string | null;
  readonly address: string | null;
  /** The endpoint's name; "engine": no request, but work that goes on for the user. */
  readonly door: string;
  readonly requestId: string;
  /** The text of the client's statement; "": there is none. */
  readonly statement: string;
  readonly language: "sql" | "cypher";
}
