import t from "tap";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { ERRORS } from "../../src/protocol/errors.js";
import { ALICE, testGateway } from "./test-gateway.js";

// biome-ignore lint/suspicious/noExplicitAny: the test walks a document of unknown shape.
type Any = any;

t.test("health is public, enveloped and flat", async (t) => {
  const { url } = await testGateway(t, { actors: 2, partitions: 3 });
  const response = await fetch(`${url}/health`);
  t.equal(response.status, 200);
  t.equal(response.headers.get("content-type"), "application/json");
  const body = (await response.json()) as Any;
  const payload = {
    status: "ok",
    version: "1.2.3",
    uptime_seconds: 0,
    partitions: [0, 1, 2].map((partition) => ({ partition, status: "ready" })),
  };
  t.match(body, payload);
  t.strictSame(body.data, payload);
  t.equal(body.meta.request_id, response.headers.get("x-request-id"));
  t.ok(Date.parse(body.meta.timestamp) > 0);
});

t.test("metrics count requests by route and status, and ask the actors", async (t) => {
  const { url, call, clock } = await testGateway(t, {
    actors: 2,
    partitions: 2,
    behaviours: (actor) => ({ identity: () => ALICE, ...(actor === 1 ? { silentMetrics: true } : {}) }),
  });
  await call("/v1/schema/tables/a");
  await call("/v1/schema/tables/b");
  await call("/v1/nothing");
  const reading = fetch(`${url}/metrics`);
  // The second actor does not answer; the reading goes on without it.
  let response: Response | null = null;
  void reading.then((got) => {
    response = got;
  });
  while (response === null) {
    clock.advance(250);
    await new Promise(setImmediate);
  }
  const text = await (response as Response).text();
  t.match((response as Response).headers.get("content-type"), /^text\/plain; version=0\.0\.4/);
  const has = (line: string): boolean => t.ok(text.includes(`${line}\n`), line);
  has('tessera_http_requests_total{method="GET",route="/v1/schema/tables/{table}",status="200"} 2');
  has('tessera_http_requests_total{method="ANY",route="(unmatched)",status="404"} 1');
  has('tessera_http_request_duration_seconds_bucket{le="+Inf",method="GET",route="/v1/schema/tables/{table}"} 2');
  has('tessera_http_request_duration_seconds_count{method="GET",route="/v1/schema/tables/{table}"} 2');
  has('tessera_partition_up{partition="1"} 1');
  has('tessera_actor_requests_total{actor="0"} 2');
  has('tessera_partition_commits_total{partition="0"} 11');
  t.notMatch(text, /tessera_actor_requests_total\{actor="1"/);
  t.match(text, /process_cpu_seconds_total|nodejs_eventloop_lag_seconds/);
});

const isEmpty = ({ properties, additionalProperties }: Any): boolean =>
  Object.keys(properties ?? {}).length === 0 && additionalProperties === false;

t.test("the OpenAPI document describes every route", async (t) => {
  const { url } = await testGateway(t, { config: { rateLimit: { perSecond: 60, burst: 120 } } });
  const response = await fetch(`${url}/v1/openapi.json`);
  t.equal(response.headers.get("content-type"), "application/json");
  t.equal((await fetch(`${url}/v2/openapi.json`)).status, 200);
  const document = (await response.json()) as Any;
  t.equal(document.openapi, "3.1.0");
  t.equal(document.info.version, "1.2.3");
  t.match(document.info.description, /\/v2/);
  const operations: Any[] = Object.values(document.paths).flatMap((item) => Object.values(item as object));
  t.equal(operations.length, ENDPOINTS.length);
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, ENDPOINTS.length);
  for (const endpoint of ENDPOINTS) {
    const { name, method, path, access, body, status, bodyOptional, textBody, jsonRpc, streamedBody } = endpoint;
    const operation = document.paths[path][method.toLowerCase()];
    t.equal(operation.operationId, name);
    t.ok(operation.summary.length > 0 && operation.tags.length === 1, name);
    t.same(operation.security, access === "public" ? [] : undefined, `${name}: security`);
    const variables = [...path.matchAll(/\{(\w+)\}/g)].map(([, variable]) => variable);
    const declared = (operation.parameters ?? []).filter((parameter: Any) => parameter.in === "path");
    t.strictSame(
      declared.map((parameter: Any) => parameter.name),
      variables,
      `${name}: variables`,
    );
    t.ok(declared.every((parameter: Any) => parameter.required === true && parameter.schema !== undefined));
    const key = (operation.parameters ?? []).some((parameter: Any) => parameter.$ref?.endsWith("IdempotencyKey"));
    t.equal(key, method === "POST" || method === "PUT", `${name}: Idempotency-Key`);
    const { requestBody } = operation;
    if (jsonRpc !== undefined || streamedBody !== undefined) t.ok(requestBody.required, name);
    // A body in which nothing can be sent is accepted, and not described.
    else if (body === undefined || isEmpty(body)) t.notOk(requestBody, name);
    else {
      t.equal(requestBody.required, bodyOptional !== true);
      const types = ["application/json", "application/msgpack", ...(textBody?.types ?? [])];
      t.strictSame(Object.keys(requestBody.content), types);
      t.strictSame(requestBody.content["application/json"].schema, JSON.parse(JSON.stringify(body)));
    }
    if (name !== "server.docs") t.ok(operation.responses[String(status ?? 200)], `${name}: success`);
    for (const described of Object.values(operation.responses) as Any[]) t.ok(described.$ref ?? described.description);
  }
});

t.test("predictions of a boolean target are booleans in the OpenAPI document", async (t) => {
  const { url } = await testGateway(t);
  const text = await (await fetch(`${url}/v1/openapi.json`)).text();
  t.match(text, /"predictions":\{"type":"array","items":\{"anyOf":\[[^\]]*"boolean"/);
});

t.test("the OpenAPI document hangs together", async (t) => {
  const { url } = await testGateway(t, { config: { rateLimit: { perSecond: 60, burst: 120 } } });
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as Any;
  const references: string[] = [];
  const schemas: Any[] = [];
  const walk = (node: Any): void => {
    if (node === null || typeof node !== "object") return;
    if (typeof node.$ref === "string") references.push(node.$ref);
    if (node.schema !== undefined) schemas.push(node.schema);
    for (const child of Object.values(node)) walk(child);
  };
  walk(document);
  for (const reference of new Set(references)) {
    const found = reference
      .slice(2)
      .split("/")
      .reduce((node: Any, key) => node?.[key], document);
    t.ok(found, reference);
  }
  t.strictSame(document.components.schemas.Error.properties.error.properties.code.enum, Object.keys(ERRORS));
  // Nobody hears the answer to a request whose client has gone.
  for (const { status } of Object.values(ERRORS)) {
    t.equal(document.components.responses[`Error${status}`] !== undefined, status !== 499, String(status));
  }
  t.strictSame(Object.keys(document.components.securitySchemes), ["bearer", "apiKey"]);
  const execute = document.paths["/v1/query/execute"].post;
  t.match(Object.keys(execute.responses).join(), /200,400,401,403,404,406,408,409,413,415,429,500,501,503,507/);
  t.ok(execute.responses[200].headers["X-RateLimit-Remaining"]);
  const login = document.paths["/v1/auth/login"].post.responses[200].content["application/json"].schema;
  t.equal(login.allOf.length, 2, "fields of a flat reply stand beside data and meta");
  const types = new Set(["object", "array", "string", "number", "integer", "boolean", "null", undefined]);
  const check = (schema: Any): void => {
    t.ok(types.has(schema.type), JSON.stringify(schema).slice(0, 80));
    for (const child of Object.values(schema.properties ?? {})) check(child);
    for (const child of [...(schema.anyOf ?? []), ...(schema.allOf ?? [])]) check(child);
    if (schema.items !== undefined) check(schema.items);
    for (const name of schema.required ?? []) t.ok(schema.properties[name], `required ${name}`);
  };
  for (const schema of schemas) check(schema);
});

t.test("the browsable documentation is served from here alone", async (t) => {
  const { url } = await testGateway(t);
  const redirect = await fetch(`${url}/v1/api-docs`, { redirect: "manual" });
  t.equal(redirect.status, 302);
  t.equal(redirect.headers.get("location"), "/v1/api-docs/");
  const page = await fetch(`${url}/v1/api-docs/`);
  t.equal(page.status, 200);
  t.match(page.headers.get("content-type"), /^text\/html/);
  t.match(page.headers.get("content-security-policy"), /default-src 'none'.*script-src 'self'/);
  const html = await page.text();
  t.notMatch(html, /https?:\/\//, "nothing from elsewhere");
  t.notMatch(html, /<script>| style=| on\w+="/, "nothing inline");
  for (const [, file] of html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)) {
    const response = await fetch(`${url}/v1/api-docs/${file}`);
    t.equal(response.status, 200, file);
    const etag = response.headers.get("etag")!;
    t.ok((await response.text()).length > 100, file);
    const again = await fetch(`${url}/v1/api-docs/${file}`, { headers: { "if-none-match": etag } });
    t.equal(again.status, 304, `${file} is cached`);
  }
  const initializer = await (await fetch(`${url}/v1/api-docs/swagger-initializer.js`)).text();
  t.match(initializer, /"\/v1\/openapi\.json"/);
  t.match(initializer, /filter: true/, "with a box that filters");
  for (const path of ["nothing", "..%2fpackage.json", "../package.json"]) {
    t.equal((await fetch(`${url}/v1/api-docs/${path}`)).status, 404, path);
  }
  t.equal((await fetch(`${url}/v1/api-docs/`, { method: "POST" })).status, 405);
});

t.test("the console can be switched off", async (t) => {
  const { url } = await testGateway(t, { config: { server: { console: false } } });
  for (const path of ["/console", "/console/"]) t.equal((await fetch(url + path)).status, 404, path);
  t.notMatch(await (await fetch(url)).text(), "/console/");
});

t.test("the documentation can be switched off", async (t) => {
  const { url } = await testGateway(t, { config: { server: { docs: false } } });
  t.equal((await fetch(`${url}/v1/api-docs`)).status, 404);
  t.equal((await fetch(`${url}/v1/api-docs/`)).status, 404);
  for (const path of ["/docs", "/docs/", "/docs/guide/start"]) t.equal((await fetch(url + path)).status, 404, path);
  t.notMatch(await (await fetch(url)).text(), "/docs/");
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as Any;
  t.equal(document.paths["/v1/api-docs"], undefined);
});
