// Bytes of files: decompressed, and checked against their digests. Every refusal is a sentence that names the file.

/** The bytes of a gzipped file; other bytes unchanged, because some hosts decompress a file on its way. */
export async function inflated(body, name) {
  const start = new Uint8Array(body, 0, Math.min(2, body.byteLength));
  if (start[0] !== 0x1f || start[1] !== 0x8b) return body;
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot decompress data. Use a browser from 2023 or later.");
  }
  try {
    return await new Response(new Blob([body]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  } catch {
    throw new Error(`${name}: the file is damaged. Nothing of it is shown.`);
  }
}

/** Whether this browser computes digests on this page. */
export function canCheck() {
  return globalThis.crypto?.subtle !== undefined;
}

/** The SHA-256 digest of bytes, in hexadecimal. */
export async function sha256(body) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Fails unless bytes have a digest. Without https, browsers compute no digests, and nothing is checked. */
export async function checked(body, digest, name) {
  if (canCheck() && (await sha256(body)) !== digest) {
    throw new Error(`${name}: its content does not match its digest. Nothing of it is shown.`);
  }
}
