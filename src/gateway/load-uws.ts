/** Loads uWebSockets.js, whose native part exists only for some versions of Node. Called once by the server. */

export type Uws = typeof import("uWebSockets.js");

/** Bytes of a request's line and headers; the library's own default, 4 KiB, is too small for long tokens. */
const REQUEST_HEAD_BYTES_MAX = 16 * 1024;

/**
 * The library reads this bound from the environment while it is loaded. Throws when there is no binary for this
 * version of Node and platform.
 */
export async function loadUws(): Promise<Uws> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(REQUEST_HEAD_BYTES_MAX);
  try {
    return await import("uWebSockets.js");
  } catch (error) {
    throw new Error(
      `uWebSockets.js has no binary that runs on Node ${process.version} (${process.platform}, ${process.arch}). ` +
        "Use Node 20 or 22 on Linux with glibc, macOS or Windows.",
      { cause: error },
    );
  }
}
