/** One number per group. */
export class GroupNumbers {
  /** Of a group: half of the array may be empty. */
  static readonly BYTES = 16;

  values = new Float64Array(16);
  private length = 0;

  push(): void {
    if (this.length === this.values.length) {
      const grown = new Float64Array(2 * this.length);
      grown.set(this.values);
      this.values = grown;
    }
    this.length++;
  }

  /** Those of all groups, in an array of their own. */
  taken(): Float64Array {
    return this.values.slice(0, this.length);
  }
}
