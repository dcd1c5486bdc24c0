/** For errors about a field that has several names: they name it as the client did. No state. */

/** The one of the names that the body has a value under; of none the first. */
export function sentName(body: object, names: readonly [string, ...string[]]): string {
  return names.find((name) => (body as Readonly<Record<string, unknown>>)[name] !== undefined) ?? names[0];
}
