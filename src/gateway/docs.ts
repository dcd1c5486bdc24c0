/**
 * The browsable form of the OpenAPI document: Swagger UI's files from its npm package, so that a reader's browser makes
 * no outside requests. The first request reads them; then they are served from memory. Called by gateway.ts at boot.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Serve } from "./route.js";

/** No source but this server, nothing inline; `data:` images are Swagger UI's own icons. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const SECURITY_HEADERS = `Content-Security-Policy: ${POLICY}\nX-Content-Type-Options: nosniff\nReferrer-Policy: no-referrer`;
export const FILE_SECONDS = 3600;

/** Swagger UI's own filter knows only the names of tags; this one looks at paths, summaries and names too. */
const INITIALIZER = `function opsFilter(groups, phrase) {
  var wanted = phrase.toLowerCase();
  var has = function (text) { return String(text || "").toLowerCase().indexOf(wanted) !== -1; };
  return groups
    .map(function (group, tag) {
      if (has(tag)) return group;
      return group.update("operations", function (all) {
        return all.filter(function (one) {
          return has(one.get("path")) || has(one.getIn(["operation", "summary"])) || has(one.getIn(["operation", "operationId"]));
        });
      });
    })
    .filter(function (group) { return group.get("operations").size > 0; });
}

window.onload = function () {
  window.ui = SwaggerUIBundle({
    url: "/v1/openapi.json",
    dom_id: "#swagger-ui",
    deepLinking: true,
    filter: true,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [function () { return { fn: { opsFilter: opsFilter } }; }],
    layout: "BaseLayout"
  });
};
`;

const PAGE = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tessera</title>
    <link rel="stylesheet" type="text/css" href="./swagger-ui.css">
    <link rel="icon" type="image/png" href="./favicon-32x32.png" sizes="32x32">
  </head>
  <body>
    <div class="swagger-ui"><p class="wrapper"><a class="link" href="/docs/">The guide and the reference</a></p></div>
    <div id="swagger-ui"></div>
    <script src="./swagger-ui-bundle.js" charset="UTF-8"></script>
    <script src="./swagger-initializer.js" charset="UTF-8"></script>
  </body>
</html>
`;

interface Page {
  readonly type: string;
  readonly body: Uint8Array;
  readonly etag: string;
}

function page(type: string, body: Uint8Array): Page {
  return { type, body, etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"` };
}

/** The documentation's pages by the part of their path after /v1/api-docs/, read by the first request for one. */
function docsPages(): ReadonlyMap<string, Page> {
  const directory = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  const file = (name: string, type: string): [string, Page] => [name, page(type, readFileSync(join(directory, name)))];
  const html = page("text/html; charset=utf-8", Buffer.from(PAGE));
  return new Map([
    ["", html],
    ["index.html", html],
    ["swagger-initializer.js", page("text/javascript; charset=utf-8", Buffer.from(INITIALIZER))],
    file("swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
    file("swagger-ui.css", "text/css; charset=utf-8"),
    file("favicon-32x32.png", "image/png"),
  ]);
}

/** Serves /v1/api-docs/ and what is below it. */
export function docsFiles(): Serve {
  let pages: ReadonlyMap<string, Page> | null = null;
  return (exchange, req) => {
    pages ??= docsPages();
    const path = req.getUrl();
    const found = pages.get(path.slice(path.indexOf("/api-docs/") + "/api-docs/".length));
    if (found === undefined) {
      exchange.fail("not_found", "The documentation has no such file.");
      return;
    }
    const headers = `ETag: ${found.etag}\nCache-Control: public, max-age=${FILE_SECONDS}\n${SECURITY_HEADERS}`;
    if (req.getHeader("if-none-match") === found.etag) exchange.answer(304, found.type, headers, "");
    else exchange.answer(200, found.type, headers, found.body);
  };
}

/**
 * Serves /: where a browser that was given the server's address finds the rest. `docs`: /docs and /v1/api-docs are
 * served.
 */
export function rootPage(served: { readonly docs: boolean; readonly console: boolean }): Serve {
  const items = [
    ...(served.console ? ['<a href="/console/">The console: see and steer everything in the browser</a>'] : []),
    ...(served.docs
      ? [
          '<a href="/docs/">The documents: guide and reference</a>',
          '<a href="/v1/api-docs/">The interface, to browse and try</a>',
        ]
      : []),
    '<a href="/v1/openapi.json">The interface as OpenAPI</a>',
    '<a href="/v1/asyncapi.json">The messages of the WebSocket as AsyncAPI</a>',
    '<a href="/health">Health</a>',
  ];
  const html = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tessera</title>
  </head>
  <body>
    <h1>Tessera</h1>
    <p>The server runs. A program signs in at <code>POST /v1/auth/login</code> and asks at <code>POST /v1/query/execute</code>.</p>
    <ul>
${items.map((item) => `      <li>${item}</li>`).join("\n")}
    </ul>
  </body>
</html>
`;
  const { type, body } = page("text/html; charset=utf-8", Buffer.from(html));
  return (exchange) => exchange.answer(200, type, SECURITY_HEADERS, body);
}

/** Serves /v1/api-docs, /docs and /console: relative links in their pages need the slash at the end. */
export const docsRedirect: Serve = (exchange, req) => {
  exchange.answer(302, "text/plain", `Location: ${req.getUrl()}/`, "");
};
