/** What models do with the tenant's data: one tab for each. */
import { goTo } from "../../lib/router.js";
import { isOperator, session } from "../../lib/session.js";
import { useStore } from "../../lib/store.js";
import type { PageProps } from "../../shell/pages.js";
import { Page } from "../../ui/panel.js";
import { Tabs } from "../../ui/tabs.js";
import { Agents } from "./agents.js";
import { Ask } from "./ask.js";
import { Chats } from "./chats.js";
import { Claims } from "./claims.js";
import { ModelLibrary } from "./library.js";
import { Memories } from "./memories.js";

type Shown = "chat" | "ask" | "claims" | "memory" | "agents" | "models";

const TABS: readonly { readonly id: Shown; readonly label: string; readonly isForOperators?: boolean }[] = [
  { id: "chat", label: "Chat" },
  { id: "ask", label: "Questions as SQL" },
  { id: "claims", label: "Claims" },
  { id: "memory", label: "Memory" },
  { id: "agents", label: "Agents" },
  { id: "models", label: "Models", isForOperators: true },
];

export function AiPage({ path }: PageProps) {
  const current = useStore(session);
  const tabs = TABS.filter(
    (tab) => tab.isForOperators !== true || (current.state === "in" && isOperator(current.user)),
  );
  const shown = tabs.find(({ id }) => id === path[0])?.id ?? "chat";
  return (
    <Page title="AI">
      <Tabs label="What to do" tabs={tabs} current={shown} onChange={(id) => goTo(["ai", id])} />
      {shown === "chat" && <Chats id={path[1] ?? null} />}
      {shown === "ask" && <Ask />}
      {shown === "claims" && <Claims />}
      {shown === "memory" && <Memories namespace={path[1] ?? null} />}
      {shown === "agents" && <Agents run={path[1] ?? null} />}
      {shown === "models" && <ModelLibrary />}
    </Page>
  );
}
