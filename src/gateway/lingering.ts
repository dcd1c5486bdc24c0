/**
 * Ends a reply while its request's body is still coming, and the connection is to be closed after it. A socket that is
 * closed while data arrives answers with a reset, and that takes the reply away from a client that has not read it yet.
 * So the reply is sent, but left open until the client stops sending; what it sends is dropped. Called by reply.ts.
 */
import type { HttpResponse } from "uWebSockets.js";

/** How long a client may be silent, and how long, and how much, it may go on sending. */
const SILENT_MS_MAX = 2_000;
const SENDING_MS_MAX = 30_000;
const SENT_BYTES_MAX = 1024 * 1024 * 1024;

/** Status and headers have been handed over. Nothing else is done with the response afterwards. */
export function endLingering(res: HttpResponse, body: Uint8Array | string): void {
  const untilMs = performance.now() + SENDING_MS_MAX;
  let bytes = 0;
  res.writeHeader("Connection", "close");
  res.write(body);
  // The client has been told to close. To end and close here would repeat that header within the body.
  const end = () => res.cork(() => res.end());
  const silence = setTimeout(end, SILENT_MS_MAX);
  // This may run in the handler of data, which must not be replaced before it returns.
  const listening = setImmediate(() => {
    res.onData((chunk, isLast) => {
      bytes += chunk.byteLength;
      if (!isLast && bytes <= SENT_BYTES_MAX && performance.now() <= untilMs) {
        silence.refresh();
        return;
      }
      clearTimeout(silence);
      if (isLast) end();
      else res.close();
    });
  });
  res.onAborted(() => {
    clearTimeout(silence);
    clearImmediate(listening);
  });
}
