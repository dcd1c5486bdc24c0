/** Counts what a statement changed in graphs, as replies report it. Part of the statement's state. */
export class GraphChanges {
  nodesCreated = 0;
  nodesDeleted = 0;
  relationshipsCreated = 0;
  relationshipsDeleted = 0;
  propertiesSet = 0;
  labelsAdded = 0;
  labelsRemoved = 0;

  get rows(): number {
    return this.nodesCreated + this.nodesDeleted + this.relationshipsCreated + this.relationshipsDeleted;
  }
}
