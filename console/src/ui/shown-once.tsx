/** A secret that the server gives once. */
import { copy } from "../lib/clipboard.js";
import { Button } from "./button.js";
import { CodeBlock } from "./code-block.js";
import { Notice } from "./notice.js";
import { attempt } from "./toast.js";

export function ShownOnce({ secret, what = "it" }: { readonly secret: string; readonly what?: "it" | "them" }) {
  return (
    <>
      <Notice tone="warn">
        {what === "it" ? "Copy it now: it is not shown again." : "Copy them now: they are not shown again."}
      </Notice>
      <CodeBlock>{secret}</CodeBlock>
      <Button onClick={() => void attempt(() => copy(secret), "Copied.")}>Copy</Button>
    </>
  );
}
