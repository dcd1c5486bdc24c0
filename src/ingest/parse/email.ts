/** Messages (RFC 5322, MIME) by postal-mime: headers, body, and the names of attachments. */
import PostalMime, { type Address, type Email } from "postal-mime";
import { DbError } from "../../protocol/errors.js";
import { writeHtml } from "./html.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";

const MIME_NESTING_MAX = 50;
const HEADERS_BYTES_MAX = 1024 * 1024;

export async function parseEmail({ bytes }: ParserInput, content: ParsedContent): Promise<void> {
  content.mediaType = "message/rfc822";
  const limits = { maxNestingDepth: MIME_NESTING_MAX, maxHeadersSize: HEADERS_BYTES_MAX };
  const email = await PostalMime.parse(bytes, limits);
  // Every text is a message with a body and no headers.
  if (email.from === undefined && email.subject === undefined && email.to === undefined) {
    throw new DbError("file_corrupt", "The file is not a message: it has none of the headers From, To and Subject.");
  }
  const people = {
    From: names(email.from === undefined ? [] : [email.from]),
    To: names(email.to),
    Cc: names(email.cc),
  };
  content.setTitle(email.subject);
  content.fact("from", people.From);
  content.fact("to", people.To);
  content.fact("cc", people.Cc);
  content.fact("date", isoDate(email.date));
  content.fact("message_id", email.messageId);
  content.fact("in_reply_to", email.inReplyTo);
  writeMessage(email, people, content);
}

function writeMessage(email: Email, people: Record<string, string>, content: ParsedContent): void {
  if (email.subject !== undefined) content.text.heading(1, email.subject);
  const headers = Object.entries(people).filter(([, value]) => value !== "");
  if (email.date !== undefined) headers.push(["Date", isoDate(email.date)]);
  content.text.block(headers.map(([name, value]) => `${name}: ${value}`).join("\n"));
  if (email.text !== undefined && email.text.trim() !== "") content.text.block(email.text);
  else if (email.html !== undefined) writeHtml(email.html, content);
  const attached = email.attachments.map(({ filename, mimeType, content: data }) => {
    const bytes = typeof data === "string" ? data.length : data.byteLength;
    return { name: filename ?? "without a name", media_type: mimeType, bytes };
  });
  if (attached.length === 0) return;
  content.fact("attachments", attached);
  content.text.block(`Attachments: ${attached.map(({ name }) => name).join(", ")}`);
  content.notes.push(`attachments: ${attached.length} listed by name, not read`);
}

function names(addresses: readonly Address[] | undefined): string {
  const flat = (addresses ?? []).flatMap((address) => address.group ?? [address]);
  return flat.map(({ name, address }) => (name === "" ? (address ?? "") : `${name} <${address}>`)).join(", ");
}

function isoDate(date: string | undefined): string {
  if (date === undefined) return "";
  const moment = new Date(date);
  return Number.isNaN(moment.getTime()) ? date : moment.toISOString();
}
