/**
 * The code of the grammar, which is WASM. V8 would optimize its largest function during the first statement: 0.2 s of
 * CPU, while the functions that read rows wait to be optimized. Optimized or not, a statement takes about as long to
 * parse, so it is not. See docs/decisions/v8-settings.md.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";

const require = createRequire(import.meta.url);

/** While it is held, V8 gives the same code to every thread that loads the grammar. */
let code: WebAssembly.Module | null = null;

/**
 * Compiles the grammar; before threads load it, and before `grammarIsPlain`. The flag is as before afterwards: it is of
 * the whole process, and code that V8 keeps fits only the flags under which it was made.
 */
export function compileGrammar(): void {
  if (code !== null) return;
  const bytes = readFileSync(require.resolve("libpg-query/wasm/libpg-query.wasm"));
  setFlagsFromString("--no-wasm-dynamic-tiering");
  try {
    code = new WebAssembly.Module(bytes);
  } finally {
    setFlagsFromString("--wasm-dynamic-tiering");
  }
}

/** Functions of the grammar that are used from now on are not optimized. Other WASM is, when it has run for a while. */
export function grammarIsPlain(): void {
  setFlagsFromString("--no-wasm-tier-up");
}
