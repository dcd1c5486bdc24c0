/** Loads uWebSockets.js, whose native part is another package's on new versions of Node. Called once by the server. */
import { lacksOf, NEW_NODE, thisMachine } from "../protocol/machine.js";

export type Uws = typeof import("uWebSockets.js");

/** Bytes of a request's line and headers; the library's own default, 4 KiB, is too small for long tokens. */
const REQUEST_HEAD_BYTES_MAX = 16 * 1024;

/**
 * The library reads this bound from the environment while it is loaded. Throws when there is no binary for this
 * version of Node and platform.
 */
export async function loadUws(): Promise<Uws> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(REQUEST_HEAD_BYTES_MAX);
  const isNew = Number.parseInt(process.versions.node, 10) >= NEW_NODE;
  try {
    // A later version of the same library; its types have more ways to call.
    if (isNew) return (await import("@btc-vision/uwebsockets.js")) as unknown as Uws;
    return await import("uWebSockets.js");
  } catch (error) {
    const lacks = lacksOf(thisMachine()).map(({ message }) => message);
    // An optional package may have been left out.
    const name = isNew ? "@btc-vision/uwebsockets.js" : "uWebSockets.js";
    const why = lacks.length > 0 ? lacks.join("; ") : `run npm install again; ${(error as Error).message}`;
    throw new Error(`${name} does not load: ${why}.`, { cause: error });
  }
}
