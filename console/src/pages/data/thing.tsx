/** What the pages of a table, a view and a collection have in common: the head, its tabs, and how it is dropped. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { goTo, place, replacePlace } from "../../lib/router.js";
import { useStore } from "../../lib/store.js";
import { Button } from "../../ui/button.js";
import { Confirm } from "../../ui/dialog.js";
import { type Tab, Tabs } from "../../ui/tabs.js";
import { attempt } from "../../ui/toast.js";

interface ThingProps<T extends string> {
  readonly name: string;
  readonly tabs: readonly Tab<T>[];
  readonly shown: T;
  readonly onShow: (tab: T) => void;
  /** A button beside the tabs. */
  readonly action: ComponentChildren;
  readonly drop: () => Promise<unknown>;
  /** What is lost with it. */
  readonly loss: string;
  readonly onDropped: () => void;
  readonly children: ComponentChildren;
}

/** The tab that is shown, which the address names. */
export function useTab<T extends string>(tabs: readonly Tab<T>[]): readonly [T, (tab: T) => void] {
  const { path } = useStore(place);
  const [page = "", kind = "", name = "", named] = path;
  const shown = tabs.find(({ id }) => id === named) ?? tabs[0]!;
  return [shown.id, (tab) => replacePlace([page, kind, name, tab])];
}

export function Thing<T extends string>(props: ThingProps<T>) {
  const { name, tabs, shown, onShow, action, drop, loss, onDropped, children } = props;
  const [isDropping, setDropping] = useState(false);
  const dropIt = async (): Promise<void> => {
    if (!(await attempt(drop, `${name} is gone.`))) return;
    goTo(["data"]);
    onDropped();
  };
  return (
    <div class="thing">
      <header class="thing-head">
        <h2>{name}</h2>
        <Tabs label={`About ${name}`} tabs={tabs} current={shown} onChange={onShow} />
        <span class="spacer" />
        {action}
        <Button kind="quiet" icon="trash" label={`Drop ${name}`} onClick={() => setDropping(true)} />
      </header>
      {children}
      {isDropping && (
        <Confirm
          title={`Drop ${name}?`}
          action="Drop"
          onConfirm={() => void dropIt()}
          onClose={() => setDropping(false)}
        >
          <p>{loss} This cannot be taken back.</p>
        </Confirm>
      )}
    </div>
  );
}
