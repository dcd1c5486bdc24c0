/**
 * A `fetch` that tells how many bytes of a body have been sent. A browser's own gives its answer when all of them have
 * been, and says nothing until then; the server takes them as fast as it reads them.
 */
export function uploading(sent: (bytes: number) => void): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(init.method ?? "GET", String(input));
      for (const [name, value] of Object.entries(init.headers ?? {})) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded }) => sent(loaded);
      const answer = new Answer(request);
      request.onreadystatechange = () => {
        if (request.readyState === XMLHttpRequest.HEADERS_RECEIVED) resolve(answer.response());
      };
      const fail = (reason: unknown): void => {
        reject(reason);
        answer.fail(reason);
      };
      request.onerror = () => fail(new TypeError("The connection ended."));
      init.signal?.addEventListener("abort", () => {
        request.abort();
        fail(init.signal!.reason);
      });
      request.send(init.body as XMLHttpRequestBodyInit);
    });
}

/** Its body can be read while it comes. */
class Answer {
  private body: ReadableStreamDefaultController<Uint8Array> | null = null;

  constructor(private readonly request: XMLHttpRequest) {}

  response(): Response {
    const { request } = this;
    const encoder = new TextEncoder();
    let taken = 0;
    const take = (): void => {
      this.body?.enqueue(encoder.encode(request.responseText.slice(taken)));
      taken = request.responseText.length;
    };
    const stream = new ReadableStream<Uint8Array>({
      start: (body) => {
        this.body = body;
      },
      cancel: () => {
        this.body = null;
        request.abort();
      },
    });
    request.onprogress = take;
    request.onload = () => {
      take();
      this.body?.close();
      this.body = null;
    };
    const lines = request.getAllResponseHeaders().trim().split("\r\n");
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    return new Response(stream, { status: request.status, headers });
  }

  fail(reason: unknown): void {
    this.body?.error(reason);
    this.body = null;
  }
}
