/**
 * Tells whether a caller may call an endpoint, by what the endpoint declares, and if not, why. Called for requests and
 * for messages of sockets; pure.
 */
import type { Access } from "../protocol/endpoint.js";
import { SYSTEM_TENANT } from "../protocol/identity.js";
import type { Caller } from "./admission.js";

/** The message of a 403, or null where the caller may. */
export function whyRefused(access: Access, caller: Caller): string | null {
  if (access === "member" || access === "public") return null;
  if (caller.readOnly) return "The API key is ReadOnly; this needs a key with FullAccess permission.";
  if (access === "writer") return null;
  if (!caller.superAdmin) return "This needs the super_admin role; you do not have permission.";
  if (access === "system" && caller.identity.tenantId !== SYSTEM_TENANT) {
    return "Only administrators of the system tenant have permission to do this.";
  }
  return null;
}
