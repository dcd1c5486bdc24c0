/** Names, dates and amounts in what a search has found. The server's rules read one text per hit. */
import { useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import type { Hit } from "./searches.js";

const CHARACTERS_MAX = 2000;
const ENTITIES_SHOWN = 8;

interface Entity {
  readonly text: string;
  readonly type: string;
}

/** Waits for its turn: hits are asked about one after the other. */
let last: Promise<unknown> = Promise.resolve();

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(work);
  last = mine.catch(() => undefined);
  return mine;
}

/** The passages; without them the texts of the document. */
function textOf({ passages, content }: Hit): string {
  const shown = Object.values(passages)
    .flat()
    .map((text) => text.replace(/<\/?em>/g, ""));
  const texts = shown.length > 0 ? shown : Object.values(content).filter((value) => typeof value === "string");
  return texts.join("\n").slice(0, CHARACTERS_MAX);
}

async function entitiesOf(text: string, signal: AbortSignal): Promise<readonly Entity[]> {
  if (text.trim() === "") return [];
  const { entities } = await inTurn(() => {
    signal.throwIfAborted();
    const body = { text, provider: "native" };
    return client().request<{ entities: readonly Entity[] }>("POST", "/v1/ai/entities", { body, signal });
  });
  return [...new Map(entities.map((entity) => [`${entity.type} ${entity.text}`, entity])).values()];
}

/** Nothing while they are read, where there are none, and where the server does not read them. */
export function Entities({ hit }: { readonly hit: Hit }) {
  const text = textOf(hit);
  const { data = [] } = useLoad((signal) => entitiesOf(text, signal), [text]);
  if (data.length === 0) return null;
  return (
    <ul class="entities" aria-label="Names in it">
      {data.slice(0, ENTITIES_SHOWN).map(({ text: name, type }) => (
        <li key={type + name} class="badge" title={type.toLowerCase()}>
          {name}
        </li>
      ))}
    </ul>
  );
}
