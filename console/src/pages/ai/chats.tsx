/** Chats over collections: answers as they grow, and beside each the passages that it rests on, with their scores. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Citation } from "../../../../clients/typescript/src/index.js";
import { isAbort } from "../../lib/errors.js";
import { roundedText, timeText } from "../../lib/format.js";
import { useGet } from "../../lib/load.js";
import { goTo, linkTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { TextArea } from "../../ui/field.js";
import { Form } from "../../ui/form.js";
import { Failure } from "../../ui/notice.js";
import { attempt } from "../../ui/toast.js";

interface ChatSession {
  readonly session_id: string;
  readonly title: string;
  readonly collections: readonly string[];
  readonly updated_at: string;
}

type Passage = Citation & { readonly score?: number | null; readonly title?: string; readonly file?: string };

interface Said {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly citations?: readonly Passage[];
  /** The user did not wait for its end. */
  readonly isStopped?: boolean;
}

export function Chats({ id }: { readonly id: string | null }) {
  const chats = useGet<{ sessions: readonly ChatSession[] }>("/v1/ai/sessions");
  const remove = (chat: ChatSession): void => {
    void attempt(() => client().chat.delete(chat.session_id)).then(() => {
      chats.again();
      if (chat.session_id === id) goTo(["ai", "chat"]);
    });
  };
  return (
    <div class="chat-page">
      <aside class="chat-list" aria-label="Chats">
        <a class="side-entry" href={linkTo(["ai", "chat"])} aria-current={id === null ? "page" : undefined}>
          <span>New chat</span>
        </a>
        <Failure error={chats.error} />
        {(chats.data?.sessions ?? []).map((chat) => (
          <div key={chat.session_id} class="side-row">
            <a
              class="side-entry"
              href={linkTo(["ai", "chat", chat.session_id])}
              aria-current={chat.session_id === id ? "page" : undefined}
              title={timeText(chat.updated_at)}
            >
              <span>{chat.title || "Untitled"}</span>
            </a>
            <Button kind="quiet" icon="trash" label={`Delete ${chat.title}`} onClick={() => remove(chat)} />
          </div>
        ))}
      </aside>
      <Conversation key={id ?? "new"} id={id} onChanged={chats.again} />
    </div>
  );
}

function Conversation({ id, onChanged }: { readonly id: string | null; readonly onChanged: () => void }) {
  const [said, setSaid] = useState<readonly Said[]>([]);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [error, setError] = useState<unknown>(null);
  const stop = useRef<AbortController | null>(null);
  const [isAnswering, setAnswering] = useState(false);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (id === null) return;
    const path = `/v1/ai/sessions/${encodeURIComponent(id)}/messages`;
    client()
      .request<{ messages: readonly Said[] }>("GET", path)
      .then(({ messages }) => setSaid(messages), setError);
  }, [id]);
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [said]);
  useEffect(() => () => stop.current?.abort(), []);
  const send = async (): Promise<void> => {
    const content = text.trim();
    if (content === "" || isAnswering) return;
    setText("");
    setError(null);
    setAnswering(true);
    stop.current = new AbortController();
    setSaid((now) => [
      ...now,
      { id: `q${now.length}`, role: "user", content },
      { id: `a${now.length}`, role: "assistant", content: "" },
    ]);
    const change = (more: (last: Said) => Said): void => setSaid((now) => [...now.slice(0, -1), more(now.at(-1)!)]);
    try {
      const session = id ?? (await client().chat.begin({ collections: chosen }));
      for await (const event of client().chat.stream({ session, content }, { signal: stop.current.signal })) {
        if (event.type === "delta") change((last) => ({ ...last, content: last.content + event.text }));
        else change((last) => ({ ...last, content: event.answer.content, citations: event.answer.citations ?? [] }));
      }
      onChanged();
      if (id === null) goTo(["ai", "chat", session]);
    } catch (failure) {
      if (isAbort(failure)) change((last) => ({ ...last, isStopped: true }));
      else setError(failure);
    }
    setAnswering(false);
  };
  return (
    <div class="conversation">
      <div class="messages" aria-live="polite">
        {said.length === 0 && id === null && <Collections chosen={chosen} onChange={setChosen} />}
        {said.map((message) => (
          <Message key={message.id} message={message} />
        ))}
        <div ref={end} />
      </div>
      <Failure error={error} />
      <Form class="chat-form" onSubmit={() => void send()}>
        <TextArea
          label="Message"
          isBare
          rows={2}
          placeholder="Ask something. Enter sends it."
          value={text}
          onInput={setText}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        {isAnswering ? (
          <Button kind="danger" icon="stop" onClick={() => stop.current?.abort()}>
            Stop
          </Button>
        ) : (
          <Button kind="primary" type="submit">
            Send
          </Button>
        )}
      </Form>
    </div>
  );
}

interface CollectionsProps {
  readonly chosen: readonly string[];
  readonly onChange: (names: readonly string[]) => void;
}

function Collections({ chosen, onChange }: CollectionsProps) {
  const { data } = useGet<{ items: readonly { name: string }[] }>("/v1/collections");
  const toggle = (name: string): void =>
    onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  return (
    <div class="stack">
      <p class="muted">Choose the collections that answers shall rest on, or none.</p>
      <div class="row">
        {(data?.items ?? []).map(({ name }) => (
          <Button key={name} pressed={chosen.includes(name)} onClick={() => toggle(name)}>
            {name}
          </Button>
        ))}
      </div>
    </div>
  );
}

function Message({ message: { role, content, citations = [], isStopped = false } }: { readonly message: Said }) {
  return (
    <article class={`message ${role}`}>
      <div class="message-text">
        <h2 class="unseen">{role === "user" ? "You" : "Answer"}</h2>
        {content === "" && !isStopped ? <span class="muted">…</span> : content}
        {isStopped && <p class="muted">Stopped.</p>}
      </div>
      {citations.length > 0 && (
        <ol class="citations" aria-label="Passages">
          {citations.map((passage) => (
            <li key={passage.number} class={passage.cited ? "cited" : undefined}>
              <div class="row">
                <Badge tone={passage.cited ? "accent" : "neutral"}>{passage.number}</Badge>
                <span class="muted">{passage.file ?? passage.title ?? passage.collection}</span>
                {passage.score != null && <span class="number muted">{roundedText(passage.score)}</span>}
              </div>
              <p>{passage.text}</p>
            </li>
          ))}
        </ol>
      )}
    </article>
  );
}
