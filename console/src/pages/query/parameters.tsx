/** A field for each parameter that the statements name. */
import { changeTab, type QueryTab } from "./query-tabs.js";

export function Parameters({ names, tab }: { readonly names: readonly string[]; readonly tab: QueryTab }) {
  if (names.length === 0) return <div class="parameters none-there" />;
  return (
    <div class="parameters">
      {names.map((name) => (
        <label key={name}>
          <span class="code">${name}</span>
          <input
            class="input code"
            value={tab.parameters[name] ?? ""}
            placeholder="NULL"
            title="JSON, or a text. Empty: NULL"
            spellcheck={false}
            onInput={(event) =>
              changeTab(tab.id, { parameters: { ...tab.parameters, [name]: event.currentTarget.value } })
            }
          />
        </label>
      ))}
    </div>
  );
}
