/** The server's settings, as it runs with them. They are changed in its configuration, but for the log's level. */
import { useState } from "preact/hooks";
import { cellText } from "../../lib/format.js";
import { client } from "../../lib/session.js";
import { FilterInput, Select } from "../../ui/field.js";
import { ListTable } from "../../ui/list-table.js";
import { Waiting } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { attempt } from "../../ui/toast.js";
import { useReport } from "./report.js";

const LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
type Level = (typeof LEVELS)[number];

interface Setting {
  readonly name: string;
  readonly value: unknown;
}

/** As files of configuration name them: request_timeout, and members of tables with a dot. */
function settingsOf(section: Readonly<Record<string, unknown>>, before: string): readonly Setting[] {
  return Object.entries(section).flatMap(([key, value]): readonly Setting[] => {
    const name = before + key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const isTable = typeof value === "object" && value !== null && !Array.isArray(value);
    return isTable ? settingsOf(value as Readonly<Record<string, unknown>>, `${name}.`) : [{ name, value }];
  });
}

export function Settings() {
  const { data, error } = useReport();
  const [filter, setFilter] = useState("");
  const [level, setLevel] = useState<Level | null>(null);
  if (data === undefined) return <Waiting error={error} />;
  const wanted = filter.trim().toLowerCase();
  const current = level ?? (data.configuration.server?.logLevel as Level | undefined) ?? "info";
  const change = (chosen: Level): void => {
    const body = { level: chosen };
    void attempt(
      () => client().request("PUT", "/admin/log-level", { body }),
      "The log has this level until the server restarts.",
    ).then((isDone) => isDone && setLevel(chosen));
  };
  const sections = Object.entries(data.configuration)
    .map(([name, section]) => {
      const title = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return { title, settings: settingsOf(section, "").filter((one) => `${title}.${one.name}`.includes(wanted)) };
    })
    .filter(({ settings }) => settings.length > 0);
  return (
    <>
      <div class="form-row slim">
        <FilterInput value={filter} onInput={setFilter} />
        <Select label="Level of the log" value={current} options={LEVELS} onChange={change} />
      </div>
      <p class="muted">
        Settings come from the configuration file and from variables such as <code>TESSERA_QUERY_MAX_ROWS</code>; a
        restart applies them.{" "}
        <a href="/docs/reference/configuration" target="_blank" rel="noreferrer">
          What each of them means
        </a>
        .
      </p>
      {sections.length === 0 && <p class="none">No setting has this name.</p>}
      <div class="settings">
        {sections.map(({ title, settings }) => (
          <Panel key={title} title={title} isFlush>
            <ListTable
              label={`Settings of ${title}`}
              rows={settings}
              keyOf={({ name }) => name}
              none=""
              columns={[
                { name: "Setting", cell: ({ name }) => <code>{name}</code> },
                {
                  name: "Value",
                  cell: ({ value }) => <code>{value === "" ? "" : cellText(value)}</code>,
                  isWide: true,
                },
              ]}
            />
          </Panel>
        ))}
      </div>
    </>
  );
}
