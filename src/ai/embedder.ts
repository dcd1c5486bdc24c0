/** The interface that makes vectors of texts, for handlers and importers of documents, vectors and the like. */
export interface Embedder {
  /**
   * A vector of length 1 per text, in their order, of the model's dimensions (384 unless a model is named that has
   * others). Gives way between the texts. `model`: an id or alias; absent: the configured one. Throws
   * `model_not_found`, `model_unavailable`, and what ends a request.
   */
  embed(texts: readonly string[], model?: string): Promise<Float32Array[]>;
}
