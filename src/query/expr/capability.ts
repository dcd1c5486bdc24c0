/**
 * What the functions of one feature need beyond their arguments: models, the request, another thread. The file that
 * declares the functions declares the capability; the feature registers who provides it (session/capabilities.ts). So
 * this room needs to know no feature.
 */
import { DbError } from "../../protocol/errors.js";

export class Capability<T> {
  /** Exists only for the compiler: a capability is always asked for with its own type. */
  declare readonly provides: T;

  /** `missing` is what a user is told where nobody provides it. */
  constructor(
    readonly missing: string,
    /** It reaches tables as the request's sender: not for a role or a function's owner that may see less. */
    readonly reachesTables = false,
  ) {}
}

interface Asking {
  readonly services: { capability<T>(capability: Capability<T>): T | null };
}

/** `context`: an EvalContext. Throws not_supported where nobody provides it. */
export function need<T>({ services }: Asking, capability: Capability<T>): T {
  const provided = services.capability(capability);
  if (provided === null) throw new DbError("not_supported", capability.missing);
  return provided;
}
