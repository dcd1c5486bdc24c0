/** What the tenant has changed between two moments. The moments stand in the page's address. */
import { useState } from "preact/hooks";
import { replacePlace } from "../../lib/router.js";
import { Button } from "../../ui/button.js";
import { TextField } from "../../ui/field.js";
import { Form } from "../../ui/form.js";
import { Waiting } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { type Comparison, type Diff, type Moment, useTenantGet } from "./branch-facts.js";
import { Changes } from "./changes.js";

interface MomentsPanelProps {
  readonly oldest: Moment | null;
  readonly query: Readonly<Record<string, string>>;
}

const PLACE = ["branches", "past"];

export function MomentsPanel({ oldest, query }: MomentsPanelProps) {
  const [from, setFrom] = useState(query.from ?? "");
  const [to, setTo] = useState(query.to ?? "");
  const earliest = oldest === null ? "" : `, ${oldest.sequence} at the earliest`;
  const compare = (): void => {
    replacePlace(PLACE, { from: from.trim(), to: to.trim() === "" ? undefined : to.trim() });
  };
  return (
    <>
      <Panel title="Compare two moments">
        <Form class="form-row" onSubmit={compare}>
          <TextField
            label="From"
            placeholder="2026-11-20 10:00Z"
            hint={`A time or the number of a commit${earliest}.`}
            value={from}
            onInput={setFrom}
          />
          <TextField label="To" placeholder="now" hint="Empty: as it is now." value={to} onInput={setTo} />
          <Button type="submit" disabled={from.trim() === ""}>
            Compare
          </Button>
        </Form>
      </Panel>
      {query.from !== undefined && <Found key={`${query.from} ${query.to}`} query={query} from={query.from} />}
    </>
  );
}

function Found({ query, from }: { readonly query: MomentsPanelProps["query"]; readonly from: string }) {
  const moments = { from, to: query.to };
  const comparison: Comparison = { path: "/v1/history/diff", query: moments, sides: ["Then", query.to ?? "Now"] };
  const { data, error } = useTenantGet<Diff>(comparison.path, { ...moments, limit: 0 });
  if (data === undefined) return <Waiting error={error} />;
  return <Changes place={PLACE} comparison={comparison} diff={data} query={query} round={0} />;
}
