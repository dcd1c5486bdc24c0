/**
 * Reads JSON lists of numbers into single precision by numbers.wasm (src/vector/wasm/numbers.ts): a vector of 384
 * numbers in a quarter of the time that JavaScript takes. Called by vector/vector-json.ts. One instance per thread,
 * whose memory holds nothing between calls.
 */
import { readFileSync } from "node:fs";
import { PROJECT } from "../protocol/places.js";

interface NumbersModule {
  readonly memory: { readonly buffer: ArrayBuffer };
  inputAt(): number;
  inputBytes(): number;
  outputAt(): number;
  read(): number;
}

interface Reader {
  readonly module: NumbersModule;
  readonly input: Uint8Array;
  readonly output: ArrayBuffer;
}

let made: Reader | null = null;

/** The memory never grows, so views of it last. */
function reader(): Reader {
  if (made === null) {
    const compiled = new WebAssembly.Module(readFileSync(new URL("dist/src/vector/numbers.wasm", PROJECT)));
    const module = new WebAssembly.Instance(compiled).exports as NumbersModule;
    const { buffer } = module.memory;
    made = { module, input: new Uint8Array(buffer, module.inputAt(), module.inputBytes()), output: buffer };
  }
  return made;
}

/**
 * The numbers of `[…]` in `bytes`: `from` is behind the opening bracket, `end` behind the closing one, with no bracket
 * in between. Null for a list that is not plain: malformed, too long, or with numbers of more than 19 digits.
 */
export function readNumberList(bytes: Uint8Array, from: number, end: number): Float32Array | null {
  const { module, input, output } = reader();
  if (end - from > input.length) return null;
  input.set(bytes.subarray(from, end));
  const count = module.read();
  return count < 0 ? null : new Float32Array(output, module.outputAt(), count).slice();
}
