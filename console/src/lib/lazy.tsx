/** Components that are loaded when they are first shown. */
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Busy } from "../ui/button.js";
import { Dialog } from "../ui/dialog.js";
import { NewVersion } from "../ui/notice.js";

type Load<P> = () => Promise<ComponentType<P>>;

/** A part of a page. */
export function lazy<P extends object>(load: Load<P>): ComponentType<P> {
  return loadedLater(
    load,
    () => <Busy />,
    () => <NewVersion />,
  );
}

/** A dialog: until it is there, the page stays as it is. */
export function lazyDialog<P extends { readonly onClose: () => void }>(load: Load<P>): ComponentType<P> {
  return loadedLater(
    load,
    () => null,
    ({ onClose }) => (
      <Dialog title="Not loaded" onClose={onClose}>
        <NewVersion />
      </Dialog>
    ),
  );
}

type Shown<P> = (props: P) => JSX.Element | null;

function loadedLater<P extends object>(load: Load<P>, waiting: Shown<P>, lost: Shown<P>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [Inner, setInner] = useState(() => loaded);
    const [error, setError] = useState<unknown>(null);
    useEffect(() => {
      if (Inner !== null) return;
      load().then((component) => {
        loaded = component;
        setInner(() => component);
      }, setError);
    }, []);
    if (error !== null) return lost(props);
    return Inner === null ? waiting(props) : <Inner {...props} />;
  };
}
