/** What a page of the manual says of a statement. */
export interface StatementPage {
  /** The words that the statement begins with; further spellings follow. */
  readonly titles: readonly string[];
  readonly syntax: string;
  readonly description: string;
  readonly example: string;
}
