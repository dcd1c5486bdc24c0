/**
 * What a syntax tree says, without where: the same for two texts that mean the same. WHEN and NEXT are printed as calls
 * that name all variables, and such calls keep them.
 */
export function content(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(content);
  if (typeof node !== "object" || node === null) return Object.is(node, -0) ? "-0" : node;
  const entries = Object.entries(node).filter(
    ([key]) => key !== "position" && key !== "keeps" && !(key === "name" && "expr" in node && "alias" in node),
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, content(value)]));
}

/** The same content as one text, to compare by. */
export const fingerprint = (node: unknown): string =>
  JSON.stringify(content(node), (_, value) => (typeof value === "bigint" ? `${value}n` : value));
