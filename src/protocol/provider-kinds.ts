/** Whose interfaces providers of language models speak. How each is spoken to is in src/ai/providers/<name>-dialect.ts. */
export const PROVIDER_KINDS = ["openai", "anthropic", "ollama"] as const;

export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** The bundled model, or one of those. */
export const WRITER_KINDS = ["native", ...PROVIDER_KINDS] as const;
