/** As answers name a table, whose schema may come first: in quotes only where a dot would be taken for a schema's. */
export function shownPath(path: readonly string[]): string {
  const isPlain = path.every((part) => !part.includes(".") && !part.startsWith('"'));
  return (isPlain ? path : path.map((part) => `"${part.replaceAll('"', '""')}"`)).join(".");
}
