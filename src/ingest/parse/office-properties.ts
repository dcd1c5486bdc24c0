/** Common parts of DOCX, PPTX and XLSX: their properties, and the parts that a part refers to. */
import { posix } from "node:path";
import { DbError } from "../../protocol/errors.js";
import type { Archive } from "./archive.js";
import type { ParsedContent } from "./parsed-content.js";
import { readXml } from "./read-xml.js";

/** Dublin Core's names, as metadata has them. */
const PROPERTIES: Readonly<Record<string, string>> = {
  "dc:creator": "author",
  "dc:subject": "subject",
  "dc:description": "description",
  "dc:language": "language",
  "cp:keywords": "keywords",
  "cp:lastModifiedBy": "last_modified_by",
  "dcterms:created": "created",
  "dcterms:modified": "modified",
};

export async function readOfficeProperties(archive: Archive, content: ParsedContent): Promise<void> {
  const xml = await archive.text("docProps/core.xml");
  if (xml === null) return;
  let text = "";
  readXml(xml, {
    open: () => {
      text = "";
    },
    text: (piece) => {
      text += piece;
    },
    close(name) {
      if (name === "dc:title") content.setTitle(text);
      else if (PROPERTIES[name] !== undefined) content.fact(PROPERTIES[name], text.trim());
    },
  });
}

export interface Relation {
  /** The last word of its type: `slide`, `notesSlide`, `worksheet`. */
  readonly kind: string;
  /** Name of the archive's entry. */
  readonly target: string;
}

/** By id, what the part names; without those that lead out of the archive. */
export async function relationsOf(archive: Archive, part: string): Promise<Map<string, Relation>> {
  const folder = posix.dirname(part);
  const relations = new Map<string, Relation>();
  const xml = await archive.text(`${folder}/_rels/${posix.basename(part)}.rels`);
  if (xml === null) return relations;
  readXml(xml, {
    open(name, { Id, Type = "", Target, TargetMode }) {
      if (!name.endsWith("Relationship") || Id === undefined || Target === undefined || TargetMode === "External")
        return;
      const target = Target.startsWith("/") ? Target.slice(1) : posix.join(folder, Target);
      relations.set(Id, { kind: Type.slice(Type.lastIndexOf("/") + 1), target });
    },
  });
  return relations;
}

/** Throws DbError `file_corrupt` when the document lacks a part that makes it one. */
export async function neededText(archive: Archive, part: string): Promise<string> {
  const text = await archive.text(part);
  if (text === null) throw new DbError("file_corrupt", `The document lacks its part ${part}.`);
  return text;
}
