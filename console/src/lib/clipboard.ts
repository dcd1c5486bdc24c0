/** Browsers give pages the clipboard only over HTTPS and on the same machine. */
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard === undefined) throw new Error("The browser gives the clipboard to pages of HTTPS only.");
  await navigator.clipboard.writeText(text);
}
