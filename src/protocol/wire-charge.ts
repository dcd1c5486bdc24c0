/**
 * What requests of PostgreSQL's protocol and of Bolt take of their tenant's rate limit, at the node that they enter and
 * at the owner of the partition. Nobody is refused for that: they wait.
 */
import { countIn } from "./bolt/message-groups.js";
import { ASK } from "./bolt/message-tags.js";
import type { Config } from "./config.js";
import type { RateLimit } from "./identity.js";
import { FRONT } from "./postgres/message-types.js";

/** Of the session's number, which a request's body begins with, before the messages. */
export const SESSION_NUMBER_BYTES = 4;

type Limits = { readonly [P in "postgres" | "bolt"]: Pick<Config[P], "defaultRateLimit"> };

/**
 * How many tokens; 0: none. Rows of a COPY cost nothing, and the limit that tenants have who were given none is for
 * HTTP unless configured.
 * @param endpoint of protocol/endpoints, by name.
 * @param own the tenant's own limit.
 */
export function wireCharge(endpoint: string, messages: Uint8Array, own: RateLimit | null, limits: Limits): number {
  const protocol = endpoint === "postgres.messages" ? "postgres" : endpoint === "bolt.messages" ? "bolt" : null;
  if (protocol === null || (own === null && !limits[protocol].defaultRateLimit)) return 0;
  if (protocol === "bolt") return countIn(messages, ASK.run);
  return messages[0] === FRONT.copyData ? 0 : 1;
}
