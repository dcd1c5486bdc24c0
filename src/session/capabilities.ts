/**
 * Who provides what functions need (query/expr/capability.ts). Features register their providers once, when the process
 * starts; a statement makes those that its functions ask for.
 */
import type { Capability } from "../query/expr/capability.js";
import type { SessionRandom } from "../query/expr/functions/seeded-random.js";
import type { CurrentRows } from "../sql/bind/current-of.js";
import type { SequenceValues } from "../sql/bind/sequence-functions.js";
import type { SystemServices } from "../sql/bind/system/system-view.js";
import type { Client } from "./statement-run.js";
import type { Tenant } from "./tenant.js";

/** The statement whose functions ask. */
export interface AskingStatement extends SystemServices {
  readonly tenant: Tenant;
  readonly tenantName: string;
  /** On whose behalf it runs. */
  readonly client: Client;
  /** Its user may change what models the installation has. */
  readonly managesModels: boolean;
  /** The same object for all statements of one transaction. */
  readonly transaction: object;
  /** Calls back once when that transaction has ended. */
  whenTransactionEnds(call: (hasCommitted: boolean) => void): void;
  /** Takes back what was done, where that transaction is rolled back to a savepoint. */
  undoes(undo: () => void): void;
  capability<T>(capability: Capability<T>): T | null;
  sequenceValues(): SequenceValues;
  currentRows(): CurrentRows;
  readonly random: SessionRandom;
}

/** Null: not for this statement. */
type Provide<T> = (statement: AskingStatement) => T | null;

// A provider is stored and found under its own capability, which fixes the type.
// biome-ignore lint/suspicious/noExplicitAny: one map for the providers of all types
const providers = new Map<Capability<any>, Provide<any>>();

export function provideCapability<T>(capability: Capability<T>, provide: Provide<T>): void {
  providers.set(capability, provide);
}

/** Those that one statement has asked for. */
export class Capabilities {
  private readonly made = new Map<Capability<unknown>, unknown>();

  constructor(private readonly statement: AskingStatement) {}

  get<T>(capability: Capability<T>): T | null {
    let made = this.made.get(capability) as T | null | undefined;
    if (made === undefined) {
      made = (providers.get(capability) as Provide<T> | undefined)?.(this.statement) ?? null;
      this.made.set(capability, made);
    }
    return made;
  }
}
