// Unpack the text that `stb_gym.explorer.page` wrote: a header of facts in JSON, and arrays after it.

export type Numbers =
  Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array;

export interface Unpacked {
  facts: unknown;
  array: (name: string) => Numbers;
}

const KINDS = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  float32: Float32Array,
  float64: Float64Array,
};
const LENGTH_BYTES = 4;

export async function unpack(text: string): Promise<Unpacked> {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, LENGTH_BYTES, length)));
  const body = LENGTH_BYTES + length;
  const array = (name: string): Numbers => {
    const [kind, first, count] = facts.arrays[name] as [keyof typeof KINDS, number, number];
    return new KINDS[kind](bytes, body + first, count);
  };
  return { facts, array };
}
