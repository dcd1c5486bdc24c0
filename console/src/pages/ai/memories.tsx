/** What agents remember: namespaces, their memories, and what a question recalls. */
import { useState } from "preact/hooks";
import { cellText, scoreText, timeText } from "../../lib/format.js";
import { useGet, useLoad } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { Button } from "../../ui/button.js";
import { Select, TextField } from "../../ui/field.js";
import { Form } from "../../ui/form.js";
import { ListPanel } from "../../ui/list-table.js";
import { Empty, Waiting } from "../../ui/notice.js";
import { attempt } from "../../ui/toast.js";

interface Memory {
  readonly id: string;
  readonly content: string;
  readonly similarity?: number;
  readonly metadata: unknown;
  readonly created_at: string;
}

interface Namespace {
  readonly namespace: string;
  readonly count: number;
}

export function Memories({ namespace }: { readonly namespace: string | null }) {
  const { data, error } = useGet<{ namespaces: readonly Namespace[] }>("/v1/ai/memory");
  const spaces = data?.namespaces ?? [];
  const current = namespace ?? spaces[0]?.namespace;
  if (data === undefined) return <Waiting error={error} />;
  if (current === undefined) {
    return (
      <Empty icon="chat" title="Nothing is remembered yet">
        The first memory makes a namespace: <code>SELECT MEMORY_STORE('helper', 'The user speaks French')</code>.
      </Empty>
    );
  }
  const options = spaces.map(({ namespace: name, count }): [string, string] => [name, `${name} (${count})`]);
  return (
    <>
      <div class="form-row slim">
        <Select label="Namespace" value={current} options={options} onChange={(name) => goTo(["ai", "memory", name])} />
      </div>
      <MemoriesOf key={current} namespace={current} />
    </>
  );
}

function MemoriesOf({ namespace }: { readonly namespace: string }) {
  const path = `/v1/ai/memory/${encodeURIComponent(namespace)}`;
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState("");
  const [added, setAdded] = useState("");
  const { data, error, again } = useLoad(
    (signal) =>
      asked === ""
        ? client().request<{ memories: readonly Memory[] }>("GET", path, { signal })
        : client().request<{ memories: readonly Memory[] }>("POST", `${path}/recall`, {
            body: { query: asked },
            signal,
          }),
    [path, asked],
  );
  const add = (): void => {
    void attempt(() => client().request("POST", path, { body: { content: added } }), "Remembered.").then(() => {
      setAdded("");
      again();
    });
  };
  return (
    <>
      <Form class="form-row" onSubmit={() => setAsked(typed.trim())}>
        <TextField label="Recall by a question" type="search" value={typed} onInput={setTyped} />
        <Button type="submit">Recall</Button>
        <TextField label="Add a memory" value={added} onInput={setAdded} />
        <Button disabled={added.trim() === ""} onClick={add}>
          Add
        </Button>
      </Form>
      <ListPanel
        title={asked === "" ? "Memories, newest first" : `What “${asked}” recalls`}
        label="Memories"
        rows={data?.memories}
        error={error}
        keyOf={({ id }) => id}
        none="There are none."
        columns={[
          { name: "Memory", cell: ({ content }) => content, isWide: true },
          {
            name: "Likeness",
            cell: (one) => scoreText(one.similarity),
            isNumber: true,
          },
          { name: "Metadata", cell: ({ metadata }) => (metadata === null ? "" : <code>{cellText(metadata)}</code>) },
          { name: "Since", cell: (one) => timeText(one.created_at) },
          {
            name: "",
            cell: ({ id }) => (
              <Button
                kind="quiet"
                icon="trash"
                label="Forget it"
                onClick={() =>
                  void attempt(
                    () => client().request("DELETE", `${path}/${encodeURIComponent(id)}`),
                    "Forgotten.",
                  ).then(again)
                }
              />
            ),
          },
        ]}
      />
    </>
  );
}
