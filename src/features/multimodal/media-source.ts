/**
 * An image, a sound or a video of a request: in its body, or at an address, which is fetched within the rules of the
 * configuration. Its content is analysed in task threads. Called by the work of /v1/multimodal.
 */

import type { Request } from "../../actor/request.js";
import type { MediaBytes } from "../../ingest/media/media-bytes.js";
import { checkBase64 } from "../../ingest/media/media-bytes.js";
import { fetchBounded } from "../../net/fetch-bounded.js";
import { DbError } from "../../protocol/errors.js";
import { MEDIA_BYTES_MAX } from "../../protocol/limits.js";
import type { LongTasks } from "../../session/long-tasks.js";

/** The members of a body that name one medium. */
export interface MediaMembers {
  /** What the other member is, where a client says so. */
  readonly type?: string;
  readonly text?: string;
  readonly image?: string;
  readonly image_url?: string;
  readonly audio?: string;
  readonly video?: string;
}

const ADDRESS_CHARACTERS_MAX = 4096;

export type MediaSource =
  | { readonly modality: "text"; readonly text: string }
  | { readonly modality: "image" | "audio" | "video"; readonly media: MediaBytes };

/** "data:image/png;base64,iVBOR…": what stands behind the comma. Throws invalid_request. */
function bytesOfDataUrl(address: string, field: string): string {
  const comma = address.indexOf(",");
  if (comma === -1 || !/;base64$/i.test(address.slice(0, comma))) {
    throw new DbError("invalid_request", `${field}: a "data:" address must hold base64.`, {
      field,
      hint: "Send data:image/png;base64, and then the image's bytes as base64.",
    });
  }
  const content = address.slice(comma + 1);
  checkBase64(field, content);
  return content;
}

/**
 * Exactly one of these. `where`: the object that has them, for messages ("input."). Throws invalid_request,
 * fetch_failed.
 */
export async function sourceOf(
  request: Request,
  members: MediaMembers,
  allowed: readonly Exclude<keyof MediaMembers, "type">[],
  where = "",
): Promise<MediaSource> {
  const given = allowed.filter((name) => members[name] !== undefined);
  const [name] = given;
  if (name === undefined || given.length > 1) {
    const listed = allowed.map((one) => `"${one}"`).join(", ");
    const fault =
      allowed.length === 1
        ? `The field "${where}${allowed[0]}" is missing; send base64.`
        : `${where}${name ?? allowed[0]}: send exactly one of ${listed}.`;
    throw new DbError("invalid_request", fault, {
      field: `${where}${given[1] ?? allowed[0]}`,
    });
  }
  const value = members[name]!;
  const field = where + name;
  const { type } = members;
  if (type !== undefined && type !== name && !name.startsWith(`${type}_`)) {
    throw new DbError("invalid_request", `${where}type: is "${type}", but "${name}" was sent.`, {
      field: `${where}type`,
    });
  }
  if (name === "text") {
    if (value.trim() === "") throw new DbError("invalid_request", `${field}: must not be blank`, { field });
    return { modality: "text", text: value };
  }
  if (name === "image_url" && /^data:/i.test(value)) {
    const content = bytesOfDataUrl(value, field);
    return { modality: "image", media: { field, content } };
  }
  if (name === "image_url")
    return { modality: "image", media: { field, content: await fetched(request, value, field) } };
  checkBase64(field, value);
  return { modality: name, media: { field, content: value } };
}

async function fetched(request: Request, address: string, field: string): Promise<Uint8Array> {
  const { imageUrlSchemes, imageUrlHosts, imageUrlPrivateHosts, imageUrlTimeoutSeconds } =
    request.partition.config.multimodal;
  if (address.length > ADDRESS_CHARACTERS_MAX) {
    const fault = `${field}: an address must have at most ${ADDRESS_CHARACTERS_MAX} characters.`;
    throw new DbError("invalid_request", fault, { field });
  }
  const { bytes } = await fetchBounded(address, {
    field,
    schemes: imageUrlSchemes,
    hostsAllowed: imageUrlHosts,
    privateAllowed: imageUrlPrivateHosts,
    bytesMax: MEDIA_BYTES_MAX,
    timeoutMs: imageUrlTimeoutSeconds * 1000,
    types: ["image/*"],
    signal: request.signal(),
  });
  return bytes;
}

/** Throws not_supported where there are no task threads. */
export function tasksOf({ partition: { tasks } }: Request): LongTasks {
  if (tasks !== null) return tasks;
  throw new DbError("not_supported", "Images and sound cannot be read here: the server has no task threads.");
}
