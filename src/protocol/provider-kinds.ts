/**
 * Whose interfaces providers of language models speak: one for each src/ai/providers/<name>-dialect.ts, which says how
 * it is spoken to (scripts/discover.mjs).
 */
import { PROVIDER_KINDS } from "./provider-kinds.found.js";

export { PROVIDER_KINDS };

export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** The bundled model, or one of those. */
export const WRITER_KINDS = ["native", ...PROVIDER_KINDS] as const;
