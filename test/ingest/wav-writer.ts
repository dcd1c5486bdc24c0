/** Writes WAV files for tests, in the forms that there are and some that there are not. */
export interface WavForm {
  readonly bits?: number;
  readonly float?: boolean;
  readonly channels?: number;
  readonly rate?: number;
  readonly extensible?: boolean;
}

/** `sound` gives -1 to 1 for a time in seconds. */
export function wav(sound: (at: number) => number, seconds: number, form: WavForm = {}): Buffer {
  const { bits = 16, float = false, channels = 1, rate = 16_000, extensible = false } = form;
  const width = Math.ceil(bits / 8);
  const count = Math.round(seconds * rate);
  const data = Buffer.alloc(count * channels * width);
  for (let i = 0; i < count; i++) {
    const x = sound(i / rate);
    for (let c = 0; c < channels; c++) {
      const at = (i * channels + c) * width;
      if (float) width === 4 ? data.writeFloatLE(x, at) : data.writeDoubleLE(x, at);
      else if (bits === 8) data.writeUInt8(Math.round(x * 127) + 128, at);
      else data.writeIntLE(Math.round(x * (2 ** (width * 8 - 1) - 1)), at, width);
    }
  }
  const format = Buffer.alloc(extensible ? 40 : 16);
  const code = float ? 3 : 1;
  format.writeUInt16LE(extensible ? 0xfffe : code, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(rate * channels * width, 8);
  format.writeUInt16LE(channels * width, 12);
  format.writeUInt16LE(bits, 14);
  if (extensible) format.writeUInt16LE(code, 24);
  const chunk = (name: string, body: Buffer) => {
    const head = Buffer.alloc(8);
    head.write(name, "latin1");
    head.writeUInt32LE(body.length, 4);
    return Buffer.concat([head, body]);
  };
  const inside = Buffer.concat([Buffer.from("WAVE"), chunk("fmt ", format), chunk("data", data)]);
  const head = Buffer.alloc(8);
  head.write("RIFF");
  head.writeUInt32LE(inside.length, 4);
  return Buffer.concat([head, inside]);
}
