/** Whose interfaces providers of language models speak. How each is spoken to is in src/ai/providers/<name>-dialect.ts. */
export const PROVIDER_KINDS = ["openai", "anthropic", "ollama"] as const;

export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** Whether it runs on the user's own machines: then it needs no key, and its usual address is this machine. */
export const RUNS_LOCALLY: Readonly<Record<ProviderKind, boolean>> = { openai: false, anthropic: false, ollama: true };

/** The bundled model, or one of those. */
export const WRITER_KINDS = ["native", ...PROVIDER_KINDS] as const;
