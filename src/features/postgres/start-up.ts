/** What a start-up message says, and the settings that the protocol reports to clients. */
import { MessageFields, namesAndValues, violation } from "../../protocol/postgres/message-reader.js";
import { BACK } from "../../protocol/postgres/message-types.js";
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { toldSettingName } from "../../protocol/setting-names.js";
import type { Settings } from "../../session/settings.js";

export interface StartUp {
  readonly user: string;
  readonly isSuperuser: boolean;
  /** Settings by name, in the order in which they came. */
  readonly settings: readonly (readonly [string, string])[];
}

/** Parameters of the start-up message that are no settings. */
const NO_SETTINGS = new Set(["user", "database", "replication", "options"]);

/** `bytes`: names and values as texts that end in zero bytes, and one more zero byte. Throws 08P01, 22023. */
export function readStartUp(bytes: Buffer, isSuperuser: boolean): StartUp {
  const fields = new MessageFields(bytes);
  const settings: [string, string][] = [];
  let user = "";
  for (const [name, value] of namesAndValues(fields)) {
    if (name === "user") user = value;
    else if (name === "options") settings.push(...settingsIn(value));
    else if (!NO_SETTINGS.has(name) && !name.startsWith("_pq_.")) settings.push([name.toLowerCase(), value]);
  }
  return { user, isSuperuser, settings };
}

/** `-c name=value` and `--name=value`, as the server's command line has them; a backslash keeps the next character. */
function settingsIn(options: string): [string, string][] {
  const words = (options.match(/(?:\\.|[^\s\\])+/g) ?? []).map((word) => word.replace(/\\(.)/g, "$1"));
  const found: [string, string][] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const setting = word === "-c" ? words[++i] : (/^(?:-c|--)(.+)$/.exec(word)?.[1] ?? undefined);
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(setting ?? "") ?? [];
    if (name === undefined) throw violation(`the start-up option "${word}" is not supported`);
    found.push([name.replaceAll("-", "_").toLowerCase(), value!]);
  }
  return found;
}

/** Settings whose values clients are told at the start and at each change. */
const REPORTED = [
  "application_name",
  "client_encoding",
  "datestyle",
  "default_transaction_read_only",
  "intervalstyle",
  "is_superuser",
  "search_path",
  "server_encoding",
  "server_version",
  "standard_conforming_strings",
  "timezone",
];

/** What the client of one session knows of its settings. */
export class ReportedSettings {
  private readonly known = new Map<string, string>();
  private version = -1;

  constructor(
    private readonly settings: Settings,
    private readonly startUp: StartUp,
  ) {}

  /** Tells the client of those that have changed. */
  write(writer: MessageWriter): void {
    const { version } = this.settings;
    if (version === this.version) return;
    this.version = version;
    for (const [name, value] of this.all()) {
      if (this.known.get(name) === value) continue;
      this.known.set(name, value);
      writer.begin(BACK.parameterStatus);
      writer.cstring(name);
      writer.cstring(value);
      writer.end();
    }
  }

  private *all(): Iterable<readonly [name: string, value: string]> {
    for (const name of REPORTED) yield [toldSettingName(name), this.settings.show(name)];
    yield ["in_hot_standby", "off"];
    yield ["integer_datetimes", "on"];
    yield ["session_authorization", this.startUp.user];
  }
}
