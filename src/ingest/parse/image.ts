/** Images: size, EXIF, thumbnail, visual features and, when asked for, the words in them. */
import { decodeImage, thumbnailOf } from "../image/decode-image.js";
import { looksOf } from "../image/image-looks.js";
import { inspectImage } from "../image/inspect-image.js";
import { type ExifFacts, readExif } from "../image/read-exif.js";
import { readImageText } from "../image/read-text.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";

export async function parseImage({ bytes, job }: ParserInput, content: ParsedContent): Promise<void> {
  const facts = await inspectImage(bytes);
  content.mediaType = facts.mediaType;
  content.fact("width", facts.width);
  content.fact("height", facts.height);
  if (facts.frames > 1) content.fact("frames", facts.frames);
  const exif = await readExif(bytes);
  for (const [name, value] of Object.entries(exif)) content.fact(name, value);
  content.setTitle(exif.description);
  content.text.block(describe(exif));
  if (job.thumbnails) content.thumbnail = await thumbnailOf(bytes);
  if (job.looks !== undefined) content.looks = await looksOf([bytes], job.looks);
  if (job.ocrImages) {
    const { text, confidence } = await readImageText(bytes, { timeoutMs: content.remainingMs });
    content.fact("ocr_confidence", text === "" ? null : Number(confidence.toFixed(3)));
    if (text === "") content.notes.push("ocr: no words were found");
    content.text.block(text);
  } else {
    content.notes.push(
      "ocr: not asked for: set ocr_images (PATCH the collection, or create it so) to search the words in images",
    );
  }
  // A file that is cut off within its pixels is found out by decoding alone.
  if (!job.thumbnails && job.looks === undefined && !job.ocrImages) await decodeImage(bytes, { sideMax: 64 });
}

/** The camera's facts as a text that can be searched. */
function describe(exif: ExifFacts): string {
  const lines = [
    exif.description,
    exif.keywords?.join(", "),
    exif.camera && `Camera: ${exif.camera}`,
    exif.taken && `Taken: ${exif.taken.replace("T", " ")}`,
    exif.latitude !== undefined && exif.longitude !== undefined && `Place: ${exif.latitude}, ${exif.longitude}`,
    exif.artist && `Artist: ${exif.artist}`,
    exif.copyright && `Copyright: ${exif.copyright}`,
  ];
  return lines.filter((line) => typeof line === "string" && line !== "").join("\n");
}
