/** /v1/ai/provider: the provider of language models that a tenant chooses for itself. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { dialectOf } from "../../ai/providers/providers.js";
import type { OwnProvider } from "../../ai/providers/sealed-settings.js";
import type { InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { administers } from "../../protocol/identity.js";
import type { ProviderKind } from "../../protocol/provider-kinds.js";
import type { Answer, TextAnswer } from "../../session/answer.js";

export const providerHandlers = {
  "ai.provider.get": (request) => ({ plain: shown(request, request.partition.providers.ownOf(request.tenant)) }),
  "ai.provider.set": setProvider,
  "ai.provider.delete": deleteProvider,
} satisfies Handlers;

function requireAdmin(request: Request): void {
  if (administers(request.head)) return;
  throw new DbError("forbidden", "Only admins of the tenant have permission to choose its provider.");
}

/** What is in effect; `own`: what the tenant has chosen. */
function shown(request: Request, own: OwnProvider | null): ResponseOf<"ai.provider.get"> {
  const { providers } = request.partition;
  const configured = own === null ? providers.forTenant(request.tenant, request.budget) : providers.ofOwn(own);
  const provider = configured ?? providers.native(request.modelUser);
  const { name, model, supportsTools } = provider;
  const source = own !== null ? "tenant" : name === "native" ? "bundled" : "installation";
  return {
    provider: name,
    model,
    source,
    ...(own !== null && { base_url: own.baseUrl, has_key: own.apiKey !== null }),
    supports_tools: supportsTools,
  };
}

function setProvider(request: Request, { body }: InputOf<"ai.provider.set">): Answer<ResponseOf<"ai.provider.set">> {
  requireAdmin(request);
  const { provider, base_url: baseUrl = "", model = "", api_key: given } = body;
  const kind: ProviderKind = provider;
  const { providers } = request.partition;
  const { tenant } = request;
  const apiKey = given === undefined ? keptKey(request, kind, baseUrl) : given || null;
  if (apiKey === null && baseUrl === "" && !dialectOf(kind).runsLocally) {
    throw new DbError("invalid_request", `The field "api_key" is missing: ${kind} requires one.`, {
      field: "api_key",
      hint: 'Send "api_key". Or send "base_url" with the address of your own server that needs no key.',
    });
  }
  const own: OwnProvider = { kind, baseUrl, model, apiKey };
  const tx = tenant.partition.shard.begin();
  let isDone = false;
  try {
    providers.setOwn(tx, tenant.number, own);
    const answer = { plain: shown(request, own) };
    request.commit(tx, answer);
    isDone = true;
    return answer;
  } finally {
    if (!isDone) tx.rollback();
  }
}

/** The stored key goes to no other address than the one it was given for. */
function keptKey(request: Request, kind: string, baseUrl: string): string | null {
  let stored: OwnProvider | null = null;
  try {
    stored = request.partition.providers.ownOf(request.tenant);
  } catch (error) {
    // It cannot be read any more; this replaces it.
    if (!(error instanceof DbError)) throw error;
  }
  return stored !== null && stored.kind === kind && stored.baseUrl === baseUrl ? stored.apiKey : null;
}

function deleteProvider(request: Request): TextAnswer {
  requireAdmin(request);
  const { tenant } = request;
  const tx = tenant.partition.shard.begin();
  if (!request.partition.providers.removeOwn(tx, tenant.number)) {
    tx.rollback();
    throw new DbError("not_found", "The tenant has no provider of its own.");
  }
  request.commit(tx, {});
  return {};
}
