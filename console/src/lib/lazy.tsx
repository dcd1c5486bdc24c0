/** A component that is loaded when it is first shown. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Busy } from "../ui/button.js";
import { NewVersion } from "../ui/notice.js";

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
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
    if (error !== null) return <NewVersion />;
    return Inner === null ? <Busy /> : <Inner {...props} />;
  };
}
