/** What tests use of yazl, which brings no types. */
declare module "yazl" {
  export class ZipFile {
    readonly outputStream: NodeJS.ReadableStream;
    addBuffer(content: Buffer, name: string, options?: { mtime?: Date; compress?: boolean }): void;
    end(): void;
  }
}
