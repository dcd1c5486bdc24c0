/**
 * The error for a tenant that names a provider at a private address. Called by guarded-fetch.ts and
 * tenant-providers.ts.
 */
import { DbError } from "../../protocol/errors.js";

export function privateProviderError(): DbError {
  return new DbError("invalid_request", "base_url: the address is private or loopback, which tenants may not name", {
    field: "base_url",
    hint: "An administrator can allow it with query.ai_service.tenant_private_addresses.",
  });
}
