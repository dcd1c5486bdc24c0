/** Text as it is, in its own lines. */
import type { ComponentChildren } from "preact";

export function CodeBlock({ children }: { readonly children: ComponentChildren }) {
  return (
    // A region that scrolls has to take the focus, so that arrows can scroll it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <pre class="value" tabIndex={0}>
      {children}
    </pre>
  );
}
