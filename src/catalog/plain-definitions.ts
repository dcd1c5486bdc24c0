/** Definitions that nothing else has to follow when they change. The editor keeps them by kind. */
import type { ExtensionDef } from "./extension.js";
import type { CastDef, OperatorDef } from "./operator.js";

export interface PlainDefinitions {
  readonly extension: ExtensionDef;
  readonly operator: OperatorDef;
  readonly cast: CastDef;
}

/** Names of their records, which an id follows. */
export const PLAIN_RECORDS = { extension: "extension/", operator: "operator/", cast: "cast/" } as const;

export function byId<T extends { readonly id: number }>(definitions: readonly T[]): Map<number, T> {
  return new Map(definitions.map((definition) => [definition.id, definition]));
}
