/** The content of a manual page about a statement. */
export interface StatementPage {
  /** The words that the statement begins with; further spellings follow. */
  readonly titles: readonly string[];
  readonly syntax: string;
  readonly description: string;
  readonly example: string;
}
