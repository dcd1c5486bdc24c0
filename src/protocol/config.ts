/**
 * The schema of the configuration, and the frozen value that every thread receives. Property names are the TOML keys
 * in camel case: `[query.ai_service] base_url` is `config.query.aiService.baseUrl`. config/tessera.toml explains each
 * key and holds every default. src/config reads, checks and freezes the value.
 */

import Type from "typebox";
import { OidcProvider } from "./oidc.js";
import { WRITER_KINDS } from "./provider-kinds.js";

const seconds = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
const count = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
const hostPattern = Type.String({ pattern: "^(\\*|(\\*\\.)?[A-Za-z0-9.:\\[\\]-]+)$", maxLength: 253 });
const hostList = 'a list of hosts: "example.com", "*.example.com", or "*"';
const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const TIB = 1024 * GIB;
const section = <P extends Type.TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false });

export const ConfigSchema = section({
  server: section({
    host: Type.String({ minLength: 1, maxLength: 255 }),
    /** Names under which clients reach it, without ports; empty: not known. */
    names: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 100 }),
    /** 0 takes any free port. */
    port: Type.Integer({ minimum: 0, maximum: 65_535 }),
    /** Seconds. */
    requestTimeout: seconds(1, 86_400),
    /** Seconds; of routes under /import and /automl. */
    longRequestTimeout: seconds(1, 86_400),
    bodyBytesMax: Type.Integer({ minimum: KIB, maximum: GIB }),
    /** Seconds that SIGTERM leaves for what is running. */
    shutdownTimeout: seconds(0, 3600),
    requestLog: Type.Enum(["off", "errors", "all"]),
    logLevel: Type.Enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
    /** Serve the browsable documentation. */
    docs: Type.Boolean(),
    /** Serve the console. */
    console: Type.Boolean(),
    /** Compress answers for clients that accept it. */
    compression: Type.Boolean(),
    /** Files of PEM; both empty: plain HTTP. */
    tls: section({
      certFile: Type.String({ maxLength: 4096 }),
      keyFile: Type.String({ maxLength: 4096 }),
    }),
    cors: section({
      enabled: Type.Boolean(),
      origins: Type.Array(Type.String({ minLength: 1 }), { maxItems: 1000 }),
      headers: Type.Array(Type.String({ minLength: 1 }), { maxItems: 100 }),
    }),
  }),
  data: section({
    dir: Type.String({ minLength: 1 }),
    /** What a start does with a directory of an older release. */
    upgrade: Type.Enum(["keep_copy", "in_place", "refuse"]),
  }),
  secrets: section({
    /** A file outside the data directory; empty: the secret is stored there unsealed. */
    keyFile: Type.String({ maxLength: 4096 }),
    previousKeyFile: Type.String({ maxLength: 4096 }),
  }),
  actors: section({
    /** Threads that own partitions; at least 1 here (0 in a file is replaced by the number of cores less one). */
    count: count(0, 1024),
  }),
  /** Empty `url`: one machine. */
  cluster: section({
    url: Type.String({
      pattern: "^(etcd://[^/\\s]+/[A-Za-z0-9_-]+)?$",
      description: "an address like etcd://host:2379,host:2379,host:2379/name, or empty",
      maxLength: 2000,
    }),
    node: Type.String({
      pattern: "^([A-Za-z0-9][A-Za-z0-9_.-]{0,62})?$",
      description: "a name of letters, digits, _, . and -, or empty",
    }),
    /** host:port of the peer link, for other nodes. */
    advertise: Type.String({
      pattern: "^([^\\s:]+:[0-9]{1,5})?$",
      description: "an address like 10.0.0.2:7443, or empty",
    }),
    /** Where the peer link listens; empty: at `advertise`. */
    listen: Type.String({ pattern: "^([^\\s:]+:[0-9]{1,5})?$", description: "an address like 0.0.0.0:7443, or empty" }),
    /** PEM files for TLS to etcd; empty: no TLS, or no certificate of this node. */
    etcdCaFile: Type.String({ maxLength: 4096 }),
    etcdCertificateFile: Type.String({ maxLength: 4096 }),
    etcdKeyFile: Type.String({ maxLength: 4096 }),
    reads: Type.Enum(["lease", "quorum"]),
    /** Nodes that keep each partition, its owner among them. */
    copies: count(1, 9),
    replaceAfterSeconds: seconds(1, 604_800),
    /** Where partitions are kept outside of all nodes: a folder, or s3://bucket/prefix. Empty: nowhere. */
    checkpoints: Type.String({
      pattern: "^(/.*|s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_./-]*)?)?$",
      description: "an absolute path, or an address like s3://bucket/prefix, or empty",
      maxLength: 1000,
    }),
    checkpointsEndpoint: Type.String({
      pattern: "^(https?://[^/\\s]+)?$",
      description: "an address like https://storage.example.com, or empty",
      maxLength: 1000,
    }),
    checkpointsRegion: Type.String({ pattern: "^[a-z0-9-]{1,64}$", description: "a region's name like eu-central-1" }),
    checkpointSeconds: seconds(1, 604_800),
  }),
  tasks: section({
    threads: count(1, 64),
    waitingMax: count(1, 100_000),
  }),
  storage: section({
    durability: Type.Enum(["fsync", "interval"]),
    syncIntervalMs: Type.Integer({ minimum: 1, maximum: 60_000 }),
    /** Of all that tenants store. */
    encryption: Type.Boolean(),
    cacheBytes: Type.Integer({ minimum: MIB, maximum: TIB }),
    recordCacheBytes: Type.Integer({ minimum: 0, maximum: TIB }),
    /** Of each partition: half of it fills up before RocksDB writes it into files. */
    memtableBytes: Type.Integer({ minimum: 4 * MIB, maximum: TIB }),
    logSegmentBytes: Type.Integer({ minimum: 64 * KIB, maximum: 4 * GIB }),
    logRetentionBytes: Type.Integer({ minimum: 0, maximum: TIB }),
    /** That stay free on the disk of the data directory. */
    freeBytesMin: Type.Integer({ minimum: 0, maximum: TIB }),
    /** Of a file that is given up when something else has filled the disk. 0: none. */
    reserveBytes: Type.Integer({ minimum: 0, maximum: TIB }),
    versionBytesMax: Type.Integer({ minimum: MIB, maximum: TIB }),
    /** 0: no files. */
    columnFilesBytesMax: Type.Integer({ minimum: 0, maximum: 1024 * TIB }),
    /** 0: no segments. */
    columnSegmentBytes: Type.Integer({ minimum: 0, maximum: TIB }),
    /** 0: no indexes in memory. */
    indexMemoryBytes: Type.Integer({ minimum: 0, maximum: TIB }),
    /** 0: statements must fit into their memory. */
    spillBytesMax: Type.Integer({ minimum: 0, maximum: 1024 * TIB }),
  }),
  query: section({
    maxRows: count(1, 10_000_000),
    timeoutSeconds: seconds(1, 86_400),
    memoryBytesMax: Type.Integer({ minimum: MIB, maximum: TIB }),
    /** Of the log of slow statements; 0: none is logged. */
    slowMs: Type.Integer({ minimum: 0, maximum: 86_400_000 }),
    slowValues: Type.Boolean(),
    /** Milliseconds without a beat of an actor's thread before that is logged; 0: never. */
    lateMs: Type.Integer({ minimum: 0, maximum: 86_400_000 }),
    /** And after which the thread is ended and started again; 0: it is not. */
    stopMs: Type.Integer({ minimum: 0, maximum: 86_400_000 }),
    /** Seconds for which what looks like a statement that was stopped is refused. */
    stoppedRefusedSeconds: seconds(0, 86_400),
    aiService: section({
      provider: Type.Enum([...WRITER_KINDS]),
      baseUrl: Type.String({
        pattern: "^(https?://[^\\s]+)?$",
        description: "an address that begins with http:// or https://, or empty",
      }),
      model: Type.String({ maxLength: 200 }),
      apiKeyEnv: Type.String({
        pattern: "^([A-Za-z_][A-Za-z0-9_]*)?$",
        description: "the name of an environment variable, or empty",
      }),
      apiKeyFile: Type.String(),
      timeoutSeconds: seconds(1, 3600),
      connectTimeoutSeconds: seconds(1, 600),
      firstTokenTimeoutSeconds: seconds(1, 3600),
      retriesMax: count(0, 10),
      /** Of one actor and provider: answers that are under way, and that wait. */
      requestsMax: count(1, 10_000),
      requestsWaitingMax: count(0, 100_000),
      /** Of a chat's prompt with its answer. */
      contextTokens: count(256, 10_000_000),
      /** Of an answer whose request names no bound. */
      tokensMax: count(1, 1_000_000),
      /** Tenants may choose providers of their own; and such with private addresses. */
      tenantProviders: Type.Boolean(),
      tenantPrivateAddresses: Type.Boolean(),
    }),
  }),
  ai: section({
    /** Of model bundles; never empty here (empty in a file is replaced by the data directory's folder `models`). */
    modelRoot: Type.String({ maxLength: 4096 }),
    embeddingModel: Type.String({
      pattern: "^[a-z0-9][a-z0-9._-]{0,99}$",
      description: "the name of a model: 1 to 100 characters of a-z, 0-9, dot, - and _",
    }),
    generationModel: Type.String({
      pattern: "^[a-z0-9][a-z0-9._-]{0,99}$",
      description: "the name of a model: 1 to 100 characters of a-z, 0-9, dot, - and _",
    }),
    inferenceThreadsPerRun: count(1, 64),
    modelIdleSeconds: seconds(1, 86_400),
    modelsLoadedMax: count(1, 1000),
    modelMemoryBytes: Type.Integer({ minimum: MIB, maximum: TIB }),
    waitingTextsMax: count(64, 1_000_000),
    generationsMax: count(1, 10_000),
    pull: section({
      sources: Type.Array(
        Type.String({
          pattern: "^(hub:https?://[^\\s@?#]+|https?://[^\\s@?#]+|[./~A-Za-z0-9_][^:]*)$",
          maxLength: 2000,
        }),
        {
          maxItems: 20,
          description:
            "a list of sources: a folder, an address that begins with http:// or https://, or hub: and such an address (without user, query or fragment)",
        },
      ),
      bytesMax: Type.Integer({ minimum: MIB, maximum: TIB }),
      freeBytesMin: Type.Integer({ minimum: 0, maximum: TIB }),
      idleSeconds: seconds(1, 3600),
      timeoutSeconds: seconds(1, 604_800),
      retries: count(0, 100),
    }),
  }),
  automl: section({
    /** Trainings that run at the same time, per actor. */
    threads: count(1, 64),
    runningPerTenantMax: count(1, 1000),
    waitingPerTenantMax: count(0, 100_000),
    modelsPerTenantMax: count(1, 1_000_000),
    /** Of the search for a model, unless its request says. */
    timeBudgetSeconds: seconds(1, 86_400),
    webhook: section({
      /** Empty: each tenant has one of its own, derived from the installation's. */
      secret: Type.String({ maxLength: 1024 }),
      schemes: Type.Array(Type.Enum(["https", "http"]), { minItems: 1, maxItems: 2 }),
      hostsAllowed: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 1000 }),
      privateAllowed: Type.Boolean(),
    }),
  }),
  multimodal: section({
    /** Empty: the first of its kind that is installed. */
    embeddingModel: Type.String({
      pattern: "^([a-z0-9][a-z0-9._-]{0,99})?$",
      description: "the name of a model, or empty",
    }),
    visionModel: Type.String({
      pattern: "^([a-z0-9][a-z0-9._-]{0,99})?$",
      description: "the name of a model, or empty",
    }),
    speechModel: Type.String({
      pattern: "^([a-z0-9][a-z0-9._-]{0,99})?$",
      description: "the name of a model, or empty",
    }),
    imageUrlSchemes: Type.Array(Type.Enum(["https", "http"]), {
      maxItems: 2,
      description: "a list of https and http",
    }),
    imageUrlHosts: Type.Array(hostPattern, { maxItems: 1000, description: hostList }),
    imageUrlPrivateHosts: Type.Array(hostPattern, { maxItems: 1000, description: hostList }),
    imageUrlTimeoutSeconds: seconds(1, 600),
    ffmpeg: Type.String({ minLength: 1, maxLength: 4096 }),
  }),
  nli: section({
    enabled: Type.Boolean(),
    /** Empty: nli-default where it is installed, otherwise nli-mini. */
    defaultModel: Type.String({
      pattern: "^([A-Za-z0-9][A-Za-z0-9_-]{0,127})?$",
      description: "the name of a model of claims (1 to 128 letters, digits, - and _), or empty",
    }),
  }),
  files: section({
    roots: Type.Array(Type.String({ pattern: "^([a-z0-9][a-z0-9_-]{0,62}:)?/", maxLength: 4096 }), {
      maxItems: 1000,
      description: "a list of folders (paths that begin with /), each perhaps with a tenant's id and a colon in front",
    }),
    threads: count(1, 64),
    /** Of one collection, at the same time. */
    filesRunningMax: count(1, 64),
    fileBytesMax: Type.Integer({ minimum: KIB, maximum: 4 * GIB }),
    fileTimeoutSeconds: seconds(1, 3600),
    retriesMax: count(0, 100),
    rescanSeconds: seconds(1, 86_400),
    collectionsPerTenantMax: count(1, 10_000),
    filesPerTenantMax: count(1, 100_000_000),
    bytesPerTenantMax: Type.Integer({ minimum: MIB, maximum: TIB }),
  }),
  recipes: section({
    /** Of addresses that recipes are imported from. */
    importSchemes: Type.Array(Type.Enum(["https", "http"]), { maxItems: 2 }),
    importHosts: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 1000 }),
    importPrivateHosts: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 1000 }),
    /** Ed25519 public keys in base64; with any, recipes that are brought in have to be signed. */
    signingKeys: Type.Array(
      Type.String({
        pattern: "^([A-Za-z0-9+/]{43}=|MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=)$",
      }),
      { maxItems: 100, description: "a list of Ed25519 public keys: base64 of their 32 bytes or of their DER" },
    ),
  }),
  transactions: section({
    timeoutSeconds: seconds(1, 86_400),
    maxSeconds: seconds(1, 86_400),
    perTenantMax: count(1, 100_000),
  }),
  auth: section({
    tokenLifetimeSeconds: seconds(60, 31_536_000),
    mfaTokenLifetimeSeconds: seconds(30, 3600),
    /** Used at first boot only; empty means that a random one is made and printed. */
    adminPassword: Type.String({ maxLength: 1024 }),
    /** scrypt's N is 2 to the power of it; below the default only for what holds nothing of worth, such as tests. */
    passwordCost: Type.Integer({ minimum: 10, maximum: 18 }),
    /** PBKDF2's, of SCRAM; RFC 7677 demands 4096. */
    scramIterations: count(4096, 10_000_000),
    registration: section({
      enabled: Type.Boolean(),
      tenant: Type.String({
        pattern: "^([a-z0-9][a-z0-9_-]{0,62})?$",
        description: "a tenant's id (1 to 63 characters of a-z, 0-9, - and _), or empty",
      }),
    }),
    login: section({
      failuresMax: count(1, 1000),
      delaySeconds: seconds(1, 3600),
      delaySecondsMax: seconds(1, 86_400),
      trackedMax: count(100, 10_000_000),
    }),
    oidc: section({
      providers: Type.Array(OidcProvider, {
        maxItems: 50,
        description: "a list of tables [[auth.oidc.providers]], or JSON of that in the variable (docs/guide/oidc.md)",
      }),
      /** Whether tenants may describe issuers that are configured for the installation, for other audiences. */
      tenantsShareIssuers: Type.Boolean(),
      /** Of issuers that tenants may name although they are private or not encrypted. */
      tenantPrivateHosts: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 100 }),
      /** A key set that is older is fetched anew; it goes on meanwhile. */
      keysSeconds: seconds(10, 86_400),
      /** A key set that cannot be fetched anew is used for this long. */
      keysSecondsMax: seconds(60, 604_800),
    }),
  }),
  rateLimit: section({
    /** Requests per second and tenant; 0 is no limit. */
    perSecond: count(0, 10_000_000),
    /** At least 1 here unless `perSecond` is 0 (0 in a file is replaced by twice `perSecond`). */
    burst: count(0, 100_000_000),
  }),
  limits: section({
    connectionsMax: count(1, 1_000_000),
    /** 0: nine tenths of what the machine or container has. */
    memoryBytesMax: Type.Integer({ minimum: 0, maximum: TIB }),
    requestsPerPartitionMax: count(1, 1_000_000),
    requestsPerTenantMax: count(1, 1_000_000),
    requestsRunningPerTenantMax: count(1, 1_000_000),
    requestsWaitingPerTenantMax: count(1, 1_000_000),
    /** After this time without a request, a tenant's state in memory is forgotten. */
    tenantIdleSeconds: seconds(1, 86_400),
    requestBytesPerPartitionMax: Type.Integer({ minimum: MIB, maximum: TIB }),
    replyBytesPerConnectionMax: Type.Integer({ minimum: 64 * KIB, maximum: 4 * GIB }),
  }),
  /** The server of PostgreSQL's protocol. */
  postgres: section({
    /** 0: off. */
    port: Type.Integer({ minimum: 0, maximum: 65_535 }),
    /** Take any free port where that one is in use. */
    anyPort: Type.Boolean(),
    /** Where the server also listens on a Unix socket, .s.PGSQL.<port>; "": nowhere. */
    socketDirectory: Type.String(),
    /** The limit of [rateLimit] holds for tenants that have none of their own; else only a tenant's own does. */
    defaultRateLimit: Type.Boolean(),
  }),
  /** The server of Bolt, the protocol of Neo4j's drivers. */
  bolt: section({
    /** 0: off. */
    port: Type.Integer({ minimum: 0, maximum: 65_535 }),
    /** Take any free port where that one is in use. */
    anyPort: Type.Boolean(),
    /** As with PostgreSQL's protocol. */
    defaultRateLimit: Type.Boolean(),
    /** What routing clients (neo4j://) are told to connect to, host:port; "": the address that they used. */
    advertisedAddress: Type.String(),
  }),
  websocket: section({
    connectionsMax: count(1, 1_000_000),
    connectionsPerTenantMax: count(1, 1_000_000),
    /** Requests of one connection that run at the same time. */
    requestsRunningMax: count(1, 1000),
    messageBytesMax: Type.Integer({ minimum: KIB, maximum: GIB }),
    /** Seconds without a sign of life; whole multiples of 4 are kept exactly. */
    idleTimeout: seconds(8, 960),
    /** Seconds that a client may leave what was sent unread. */
    readTimeout: seconds(1, 3600),
    ticketSeconds: seconds(1, 3600),
  }),
  changes: section({
    /** Seconds for which a subscriber can come back and miss nothing. */
    windowSeconds: seconds(1, 2_592_000),
    /** Of the commit log of a partition that is kept for that. */
    logBytesMax: Type.Integer({ minimum: MIB, maximum: TIB }),
    /** Of one table's last changes in memory. */
    memoryBytes: Type.Integer({ minimum: 64 * KIB, maximum: GIB }),
    subscriptionsPerConnectionMax: count(1, 100_000),
    subscriptionsPerTenantMax: count(1, 10_000_000),
    /** That one subscriber may leave unread. */
    unreadBytesMax: Type.Integer({ minimum: 16 * KIB, maximum: GIB }),
    queryRowsMax: count(1, 1_000_000),
    queryIntervalMs: Type.Integer({ minimum: 1, maximum: 3_600_000 }),
  }),
  audit: section({
    /** The oldest go beyond that. */
    entriesMax: count(100, 100_000_000),
    /** Entries about rows of audited tables go after so many days. */
    dataDays: count(1, 36_500),
  }),
  backup: section({
    /** "": the folder backups in the data directory. */
    directory: Type.String(),
  }),
  telemetry: section({
    /** "": nothing is traced. */
    tracesEndpoint: Type.String({ description: 'an http or https address, or ""', pattern: "^(https?://.+)?$" }),
    sampleRatio: Type.Number({ minimum: 0, maximum: 1, description: "a number from 0 to 1" }),
    /** Lines of "name: value". */
    headers: Type.Array(Type.String({ pattern: "^[A-Za-z0-9-]+ *:.+$" })),
    serviceName: Type.String({ minLength: 1, maxLength: 200 }),
  }),
  idempotency: section({
    windowHours: Type.Integer({ minimum: 1, maximum: 24 * 365 }),
  }),
});

type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

export type Config = Frozen<Type.Static<typeof ConfigSchema>>;
export type AuthConfig = Config["auth"];

/** Keys whose values are never printed. */
export const SECRET_KEYS: readonly string[] = [
  "auth.admin_password",
  "auth.oidc.providers",
  "automl.webhook.secret",
  "telemetry.headers",
];
