/**
 * Reads the configuration once, at the start: defaults (config/tessera.toml), the user's file, the environment, the
 * command line, each over the one before. Anything unknown or out of range stops the start with all problems at once.
 * Called by the command line's commands; the frozen result is handed to every thread.
 */

import { accessSync, constants, existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Errors } from "typebox/value";
import { type Config, ConfigSchema } from "../protocol/config.js";
import { SYSTEM_TENANT } from "../protocol/identity.js";
import { faultsOf, type OidcProviderSpec } from "../protocol/oidc.js";
import { ConfigError } from "./config-error.js";
import {
  CONFIG_FILE_VARIABLE,
  isOfTables,
  readEnvironment,
  readOverrides,
  readToml,
  type Values,
} from "./config-sources.js";
import { allowedValues, SETTINGS, type Setting } from "./settings.js";

export interface LoadOptions {
  /** The user's file; TESSERA_CONFIG's when absent. */
  readonly file?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** From the command line: texts by key, say {"server.port": "0"}. */
  readonly overrides?: Readonly<Record<string, string>>;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Where each value comes from, by key. */
  readonly sources: ReadonlyMap<string, string>;
}

/** Throws `ConfigError`. */
export function loadConfig(options: LoadOptions): Config {
  return loadConfigWithSources(options).config;
}

/** Throws `ConfigError`. */
export function loadConfigWithSources(options: LoadOptions): LoadedConfig {
  const problems: string[] = [];
  const file = options.file ?? (options.env[CONFIG_FILE_VARIABLE] || undefined);
  const values: Values = new Map([
    ...readToml(defaultsFile(), "default", problems),
    ...(file === undefined ? [] : readToml(file, file, problems)),
    ...readEnvironment(options.env, problems),
    ...readOverrides(options.overrides ?? {}, problems),
  ]);
  const tree = treeOf(values);
  problems.push(...schemaProblems(tree, values));
  if (problems.length > 0) throw new ConfigError(problems);

  const config = tree as unknown as Writable<Config>;
  const sources = new Map([...values].map(([key, { source }]) => [key, source]));
  problems.push(...contradictions(config, sources, options.env));
  if (problems.length > 0) throw new ConfigError(problems);
  fillIn(config, sources);
  return { config: deepFreeze(config), sources };
}

type Writable<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { -readonly [K in keyof T]: Writable<T[K]> }
    : T;

/** config/tessera.toml of the package that this module belongs to, whether it runs from src or from a build of it. */
function defaultsFile(): string {
  let directory = import.meta.dirname;
  while (!existsSync(join(directory, "config", "tessera.toml"))) {
    const parent = dirname(directory);
    if (parent === directory) throw new ConfigError(["config/tessera.toml is missing; install the package again"]);
    directory = parent;
  }
  return join(directory, "config", "tessera.toml");
}

function treeOf(values: Values): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const { key, path } of SETTINGS) {
    let table = tree;
    for (const name of path.slice(0, -1)) {
      table[name] ??= {};
      table = table[name] as Record<string, unknown>;
    }
    const sourced = values.get(key);
    if (sourced !== undefined) table[path.at(-1)!] = sourced.value;
  }
  return tree;
}

function schemaProblems(tree: Record<string, unknown>, values: Values): string[] {
  const wrong = new Map<Setting, string>();
  for (const { instancePath, keyword, params, message } of Errors(ConfigSchema, tree)) {
    // A missing key is reported at its section, a bad element of a list below its key.
    const missing = keyword === "required" ? params.requiredProperties : [""];
    for (const name of missing) {
      const path = `${instancePath}/${name}/`;
      const setting = SETTINGS.find((candidate) => path.startsWith(`/${candidate.path.join("/")}/`));
      if (setting === undefined || wrong.has(setting)) continue;
      // Of a list of tables, which table and which of its members.
      const within = instancePath.slice(setting.path.join("/").length + 2).replaceAll("/", ".");
      wrong.set(setting, /^\d+(\.|$)/.test(within) && isOfTables(setting) ? ` (${within} ${message})` : "");
    }
  }
  return [...wrong].map(([setting, where]) => {
    const { key, schema, secret } = setting;
    const sourced = values.get(key);
    if (sourced === undefined) return `${key} has no value: config/tessera.toml lacks it`;
    const shown = secret ? "its value" : JSON.stringify(sourced.value);
    return `${sourced.source}: ${shown} is not allowed for ${key}; it must be ${allowedValues(schema)}${where}`;
  });
}

/** Values that are right one by one but not together. */
function contradictions(
  config: Config,
  sources: ReadonlyMap<string, string>,
  env: LoadOptions["env"],
): readonly string[] {
  const problems: string[] = [];
  const check = (holds: boolean, key: string, message: string) => {
    if (!holds) problems.push(`${sources.get(key)}: ${key} ${message}`);
  };
  const { auth, query, server, transactions } = config;
  const { enabled, tenant } = auth.registration;
  check(!enabled || tenant !== "", "auth.registration.enabled", "needs auth.registration.tenant");
  check(tenant !== SYSTEM_TENANT, "auth.registration.tenant", "must not be the system tenant");
  check(
    auth.login.delaySeconds <= auth.login.delaySecondsMax,
    "auth.login.delay_seconds",
    `must not be more than auth.login.delay_seconds_max (${auth.login.delaySecondsMax})`,
  );
  check(
    transactions.timeoutSeconds <= transactions.maxSeconds,
    "transactions.timeout_seconds",
    `must not be more than transactions.max_seconds (${transactions.maxSeconds})`,
  );
  check(
    !server.cors.enabled || server.cors.origins.length > 0,
    "server.cors.enabled",
    'needs server.cors.origins, say ["https://app.example.com"]',
  );
  const { certFile, keyFile } = server.tls;
  check((certFile === "") === (keyFile === ""), "server.tls.cert_file", "and server.tls.key_file go together");
  for (const [key, file] of [
    ["server.tls.cert_file", certFile],
    ["server.tls.key_file", keyFile],
  ] as const) {
    check(file === "" || isReadable(file), key, `names ${JSON.stringify(file)}, which cannot be read`);
  }
  const { encryption } = config.storage;
  check(
    !encryption || config.secrets.keyFile !== "",
    "storage.encryption",
    "needs secrets.key_file: without it the keys would lie beside the data",
  );
  check(
    !encryption || config.cluster.url === "",
    "storage.encryption",
    "is not for clusters: etcd and checkpoints would have the data unencrypted",
  );
  const { apiKeyEnv, apiKeyFile } = query.aiService;
  check(
    apiKeyEnv === "" || apiKeyFile === "",
    "query.ai_service.api_key_env",
    "and query.ai_service.api_key_file are both set; keep one",
  );
  check(
    apiKeyEnv === "" || Boolean(env[apiKeyEnv]),
    "query.ai_service.api_key_env",
    `names ${apiKeyEnv}, which is not set`,
  );
  check(
    apiKeyFile === "" || isReadable(apiKeyFile),
    "query.ai_service.api_key_file",
    `names ${JSON.stringify(apiKeyFile)}, which cannot be read`,
  );
  for (const { field, message } of providerFaults(auth.oidc.providers))
    check(false, "auth.oidc.providers", `${field} ${message}`);
  return problems;
}

function providerFaults(providers: Config["auth"]["oidc"]["providers"]): { field: string; message: string }[] {
  const faults = providers.flatMap((provider, index) =>
    faultsOf(provider as OidcProviderSpec, { tenant: null, privateHosts: [] }).map(({ field, message }) => ({
      field: `(${index}.${field})`,
      message,
    })),
  );
  const seen = new Set<string>();
  for (const [index, { name, issuer, audience }] of providers.entries()) {
    for (const key of [`name ${name}`, ...audience.map((each) => `issuer and audience ${issuer} ${each}`)]) {
      if (seen.has(key)) faults.push({ field: `(${index})`, message: `has the ${key}, which another one has, too` });
      seen.add(key);
    }
  }
  return faults;
}

/** Values that mean other values. */
function fillIn(config: Writable<Config>, sources: Map<string, string>): void {
  config.data.dir = resolve(config.data.dir);
  const { ai } = config;
  ai.modelRoot = ai.modelRoot === "" ? join(config.data.dir, "models") : resolve(ai.modelRoot);
  if (config.actors.count === 0) {
    config.actors.count = Math.max(1, availableParallelism() - 1);
    sources.set("actors.count", `${sources.get("actors.count")}: 0, cores less one`);
  }
  if (config.rateLimit.burst === 0) {
    config.rateLimit.burst = 2 * config.rateLimit.perSecond;
    sources.set("rate_limit.burst", `${sources.get("rate_limit.burst")}: 0, twice per_second`);
  }
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
