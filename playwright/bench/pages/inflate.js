// Reads an archive and inflates every file of it, in a worker: what opening a package costs at least.
onmessage = async ({ data: url }) => {
  const archive = await (await fetch(url)).arrayBuffer();
  const view = new DataView(archive);
  let end = archive.byteLength - 22;
  while (view.getUint32(end, true) !== 0x06054b50) end--;
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  let total = 0;
  for (let file = 0; file < count; file++) {
    const method = view.getUint16(at + 10, true);
    const size = view.getUint32(at + 20, true);
    const local = view.getUint32(at + 42, true);
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const packed = new Blob([new Uint8Array(archive, start, size)]);
    const stream = method
      ? packed.stream().pipeThrough(new DecompressionStream("deflate-raw"))
      : packed.stream();
    total += (await new Response(stream).arrayBuffer()).byteLength;
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  postMessage(total);
};
