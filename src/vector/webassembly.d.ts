/**
 * The part of WebAssembly's JavaScript interface that is used here; its official types come with those of browsers
 * only.
 */
declare namespace WebAssembly {
  /** Shared ones only. */
  class Memory {
    constructor(descriptor: { readonly initial: number; readonly maximum: number; readonly shared: true });
    readonly buffer: SharedArrayBuffer;
    grow(pages: number): number;
  }
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports?: { readonly env: { readonly memory: Memory } });
    readonly exports: object;
  }
}
