/** Messages between an actor (inference-lane.ts) and its inference thread (workers/inference.ts). */

export interface InferenceSettings {
  /** Threads that one run may use. */
  readonly runThreads: number;
  /** Milliseconds after which the session of a model that nobody asked for is released. */
  readonly idleMs: number;
}

export type ToInference =
  /** The first message. */
  | { readonly kind: "settings"; readonly settings: InferenceSettings }
  /** Vectors of texts, by the bundle in that folder. One such message is under way at a time. */
  | { readonly kind: "embed"; readonly directory: string; readonly texts: readonly string[] }
  /** Finish what runs, release all sessions and let the thread end. */
  | { readonly kind: "close" };

export type FromInference =
  /** One vector after the other. */
  | { readonly kind: "embedded"; readonly vectors: Float32Array; readonly tokens: number }
  /** `unusable`: the bundle is, and will be; otherwise this run failed. */
  | { readonly kind: "failed"; readonly message: string; readonly unusable: boolean };

/** What an actor needs of the thread. */
export interface InferenceThread {
  post(message: ToInference): void;
  /** Set by the lane. */
  onMessage: (message: FromInference) => void;
  /** The thread has ended; set by the lane. */
  onEnd: () => void;
}

export type StartInference = () => InferenceThread;
