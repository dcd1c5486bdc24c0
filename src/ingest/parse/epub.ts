/** EPUB: the documents of its spine in reading order, each a page, with their headings (EPUB 3.3, 4 and 5). */
import { posix } from "node:path";
import { DbError } from "../../protocol/errors.js";
import { FILE_PAGES_MAX } from "../../protocol/limits.js";
import { type Archive, openArchive } from "./archive.js";
import { writeHtml } from "./html.js";
import { neededText } from "./office-properties.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";
import { readXml } from "./read-xml.js";

const FACTS: Readonly<Record<string, string>> = {
  "dc:creator": "author",
  "dc:language": "language",
  "dc:publisher": "publisher",
  "dc:date": "date",
  "dc:description": "description",
  "dc:identifier": "identifier",
};
const CONTAINER = "META-INF/container.xml";
const DOCUMENT = /^(application\/xhtml\+xml|text\/html)$/;

export async function parseEpub({ bytes }: ParserInput, content: ParsedContent): Promise<void> {
  content.mediaType = "application/epub+zip";
  const archive = await openArchive(bytes);
  const chapters = await spineOf(archive, content);
  const encrypted = await encryptedParts(archive);
  if (chapters.some((part) => encrypted.has(part))) {
    throw new DbError("file_encrypted", "The book is protected against copying and cannot be read.");
  }
  content.fact("pages", chapters.length);
  for (const [index, part] of chapters.entries()) {
    content.text.page(index + 1);
    writeHtml(await neededText(archive, part), content);
  }
}

async function spineOf(archive: Archive, content: ParsedContent): Promise<string[]> {
  let root: string | undefined;
  readXml(await neededText(archive, CONTAINER), {
    open(name, attributes) {
      if (name === "rootfile") root ??= attributes["full-path"];
    },
  });
  if (root === undefined) throw new DbError("file_corrupt", "The book does not name its content.");
  const parts = new Map<string, string>();
  const spine: string[] = [];
  let text = "";
  readXml(await neededText(archive, root), {
    open(name, attributes) {
      text = "";
      if (name.endsWith("itemref")) spine.push(attributes.idref ?? "");
      else if (name.endsWith("item") && DOCUMENT.test(attributes["media-type"] ?? "")) {
        parts.set(attributes.id ?? "", partOf(root!, attributes.href ?? ""));
      }
    },
    text(piece) {
      text += piece;
    },
    close(name) {
      if (name === "dc:title") content.setTitle(text);
      else if (FACTS[name] !== undefined && content.metadata[FACTS[name]] === undefined)
        content.fact(FACTS[name], text.trim());
    },
  });
  if (spine.length > FILE_PAGES_MAX) {
    throw new DbError("file_too_large", `The book has ${spine.length} documents; at most ${FILE_PAGES_MAX} are read.`);
  }
  return spine.map((id) => parts.get(id)).filter((part) => part !== undefined);
}

/** References are URLs relative to the package document. */
function partOf(root: string, href: string): string {
  let path = href.split("#")[0]!;
  try {
    path = decodeURIComponent(path);
  } catch {
    // Not escaped, then.
  }
  return posix.join(posix.dirname(root), path);
}

async function encryptedParts(archive: Archive): Promise<Set<string>> {
  const parts = new Set<string>();
  readXml((await archive.text("META-INF/encryption.xml")) ?? "", {
    open(name, { URI }) {
      if (name.endsWith("CipherReference") && URI !== undefined) parts.add(partOf("content", URI));
    },
  });
  return parts;
}
