/** A statement's parameters as bytes, to hash: equal ones give equal bytes. Called by data-audit.ts; pure. */

/** Of one statement; what comes beyond counts by its length alone. */
const CHARACTERS_MAX = 64 * 1024;

export function* parameterBytes(params: readonly unknown[]): Generator<string | Uint8Array> {
  let left = CHARACTERS_MAX;
  for (const value of params) {
    const text = value instanceof Uint8Array ? value : (JSON.stringify(value, plain) ?? "");
    yield `\0${typeof value}${text.length}\0`;
    yield typeof text === "string" ? text.slice(0, left) : text.subarray(0, left);
    left = Math.max(0, left - text.length);
  }
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Map) return [...value];
  return ArrayBuffer.isView(value) ? [...(value as Uint8Array)] : value;
}
