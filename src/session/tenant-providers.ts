/**
 * Chooses the provider of texts for a tenant: its own, else the one of [query.ai_service], else the bundled model. One
 * per actor; handlers and statements reach it through their tenant's partition. A tenant's provider is stored sealed
 * in its data, so it moves with the tenant; keys are sent to the provider only.
 */

import { readFileSync } from "node:fs";
import { estimatedTokens, promptTokens } from "../ai/estimated-tokens.js";
import type { ModelBudget, ModelUser } from "../ai/model-budget.js";
import type { Models } from "../ai/models.js";
import { NativeProvider } from "../ai/providers/native-provider.js";
import { privateProviderError } from "../ai/providers/private-provider-error.js";
import type { Provider } from "../ai/providers/provider.js";
import type { ProviderSettings } from "../ai/providers/provider-settings.js";
import { dialectOf, Providers } from "../ai/providers/providers.js";
import { type OwnProvider, seal, sealingKey, unseal } from "../ai/providers/sealed-settings.js";
import { checkPublicUrl } from "../net/public-address.js";
import type { Config } from "../protocol/config.js";
import { DbError } from "../protocol/errors.js";
import { providerKey } from "../storage/keys.js";
import type { ReadableShard } from "../storage/past-shard.js";
import type { Transaction } from "../storage/store.js";

/** A Tenant (tenant.ts), as far as its provider is concerned. */
export interface ProviderOwner {
  readonly number: number;
  readonly partition: { readonly shard: ReadableShard };
}

export class TenantProviders {
  private readonly remote: Providers;
  private readonly sealing: Uint8Array | null;
  private configured: ProviderSettings | null = null;

  constructor(
    private readonly config: Config,
    private readonly models: Models,
    /** The installation's key file; null: tenants cannot have providers of their own. */
    secret: Uint8Array | null = null,
  ) {
    const service = config.query.aiService;
    this.remote = new Providers({
      connectTimeoutMs: service.connectTimeoutSeconds * 1000,
      firstTokenTimeoutMs: service.firstTokenTimeoutSeconds * 1000,
      timeoutMs: service.timeoutSeconds * 1000,
      retriesMax: service.retriesMax,
      requestsMax: service.requestsMax,
      waitingMax: service.requestsWaitingMax,
      tokensMax: service.tokensMax,
      privateAddresses: service.tenantPrivateAddresses,
    });
    this.sealing = secret === null ? null : sealingKey(secret);
  }

  /**
   * The provider that is configured for the tenant, its own before the installation's; null: there is only the bundled
   * model. Throws `provider_error` when the tenant's own cannot be read.
   */
  forTenant(tenant: ProviderOwner, budget: ModelBudget | null): Provider | null {
    const own = this.ownOf(tenant);
    if (own !== null) return withinModelBudget(this.ofOwn(own), budget);
    const settings = this.ofInstallation();
    return settings === null ? null : withinModelBudget(this.remote.of(settings), budget);
  }

  /** What a tenant has chosen, whether it is stored yet or not. */
  ofOwn(own: OwnProvider): Provider {
    return this.remote.of({ ...own, isTenants: true });
  }

  /** The bundled model, or the bundle of that name; what it reads and writes counts for the tenant. */
  native(user: ModelUser, model = this.config.ai.generationModel): Provider {
    return new NativeProvider(this.models, model, user);
  }

  /** What the tenant has chosen; null: nothing. Errors as `forTenant`. */
  ownOf({ number: given, partition }: ProviderOwner): OwnProvider | null {
    if (this.sealing === null || !this.config.query.aiService.tenantProviders) return null;
    // A branch has its tenant's.
    const number = partition.shard.layers?.branchOf(given)?.root ?? given;
    const tx = partition.shard.begin({ readOnly: true });
    try {
      const bytes = tx.get(providerKey(number));
      if (bytes === undefined) return null;
      const own = unseal(bytes, number, this.sealing);
      if (own !== null) return own;
      throw new DbError("provider_error", "The tenant's provider cannot be read because the key file has changed.", {
        hint: "Set it again with PUT /v1/ai/provider, or remove it with DELETE /v1/ai/provider.",
      });
    } finally {
      tx.rollback();
    }
  }

  /**
   * Within `tx`. Throws `forbidden` where tenants may not have their own, `invalid_request` for an address they may not
   * name.
   */
  setOwn(tx: Transaction, tenant: number, own: OwnProvider): void {
    const { tenantProviders, tenantPrivateAddresses } = this.config.query.aiService;
    if (this.sealing === null || !tenantProviders) {
      throw new DbError(
        "forbidden",
        "Tenants do not have permission to choose their own provider. The operator can grant it.",
        {
          hint: "query.ai_service.tenant_providers allows them.",
        },
      );
    }
    if (own.baseUrl !== "") {
      const url = URL.canParse(own.baseUrl) ? new URL(own.baseUrl) : null;
      if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
        throw new DbError("invalid_request", "base_url: expected an http or https address without a user", {
          field: "base_url",
        });
      }
      if (!tenantPrivateAddresses) checkPublicUrl(url, privateProviderError);
    } else if (dialectOf(own.kind).runsLocally && !tenantPrivateAddresses) {
      throw new DbError(
        "invalid_request",
        `base_url: the usual address of ${own.kind} is this server itself; name yours`,
        {
          field: "base_url",
        },
      );
    }
    tx.put(providerKey(tenant), seal(own, tenant, this.sealing));
  }

  removeOwn(tx: Transaction, tenant: number): boolean {
    const key = providerKey(tenant);
    const isThere = tx.get(key) !== undefined;
    if (isThere) tx.delete(key);
    return isThere;
  }

  /** Closes connections. */
  close(): Promise<void> {
    return this.remote.close();
  }

  private ofInstallation(): ProviderSettings | null {
    const { provider, baseUrl, model, apiKeyEnv, apiKeyFile } = this.config.query.aiService;
    if (provider === "native") return null;
    this.configured ??= { kind: provider, baseUrl, model, apiKey: readKey(apiKeyEnv, apiKeyFile), isTenants: false };
    return this.configured;
  }
}

/**
 * The provider for a client that may use so many tokens, and some models. What a call has used is known at its end; of
 * a call whose client leaves before, or whose provider does not tell, it is estimated.
 */
export function withinModelBudget(provider: Provider, budget: ModelBudget | null): Provider {
  if (budget === null) return provider;
  const { name, model, supportsTools } = provider;
  return {
    ...{ name, model, supportsTools },
    async *chat(request, signal) {
      signal.throwIfAborted();
      budget.beginModel(request.model ?? model);
      let used = 0;
      let written = 0;
      let isRefused = false;
      try {
        for await (const event of provider.chat(request, signal)) {
          if (event.kind === "usage") used += event.inputTokens + event.outputTokens;
          else if (event.kind === "text") written += estimatedTokens(event.text);
          else if (event.kind === "tool_call") written += estimatedTokens(JSON.stringify(event.arguments));
          yield event;
        }
      } catch (error) {
        isRefused = written === 0 && !signal.aborted;
        throw error;
      } finally {
        if (used > 0) budget.spendTokens(used);
        else if (!isRefused) budget.spendTokens(promptTokens(request) + written);
      }
    },
  };
}

/** Null: none is configured. */
function readKey(variable: string, file: string): string | null {
  if (variable !== "") return process.env[variable]?.trim() || null;
  if (file === "") return null;
  try {
    return readFileSync(file, "utf8").trim() || null;
  } catch {
    throw new DbError("provider_error", "The file of query.ai_service.api_key_file cannot be read.");
  }
}
