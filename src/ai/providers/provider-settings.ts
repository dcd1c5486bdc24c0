/** The settings of a provider: of the installation (configuration) or of a tenant. Holds no state. */

import type { ProviderKind } from "../../protocol/provider-kinds.js";

export interface ProviderSettings {
  readonly kind: ProviderKind;
  /** Of the API; "": the provider's usual one. */
  readonly baseUrl: string;
  /** "": the provider's usual one. */
  readonly model: string;
  /** Null: none is sent. */
  readonly apiKey: string | null;
  /** A tenant chose the address: private and loopback ones are refused unless the configuration allows them. */
  readonly isTenants: boolean;
}
