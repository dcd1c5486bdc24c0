/** Tables and views by one text: in lists, in addresses, and where the server is asked about one. Pure. */

export interface RelationName {
  readonly schema: string;
  readonly name: string;
}

const ID = /^(?:(?:"((?:[^"]|"")*)"|((?!")[^.]*))\.)?(?:"((?:[^"]|"")*)"|(.*))$/s;

/** With its schema unless that is public; in quotes, as SQL has them, where a dot would be taken for a schema's. */
export function idOfRelation({ schema, name }: RelationName): string {
  const parts = schema === "public" ? [name] : [schema, name];
  const isPlain = parts.every((part) => !part.includes(".") && !part.startsWith('"'));
  return (isPlain ? parts : parts.map((part) => `"${part.replaceAll('"', '""')}"`)).join(".");
}

export function relationOfId(id: string): RelationName {
  const [, quotedSchema, plainSchema, quotedName, plainName] = ID.exec(id)!;
  const told = (quoted: string | undefined, plain: string | undefined) => quoted?.replaceAll('""', '"') ?? plain;
  return { schema: told(quotedSchema, plainSchema) ?? "public", name: told(quotedName, plainName)! };
}
