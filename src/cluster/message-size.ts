// Size of a message between processes, checked before it is sent: it bounds the memory of the receiver.

/** Largest message. Provider requests have bodies of up to 2 MB, which are sent raw and parsed; metrics are smaller. */
export const MESSAGE_BYTES_MAX = 8 * 1_048_576;
/** Bytes of a number, a boolean, or an object or array without its content. */
const VALUE_BYTES = 9;

/** Estimated bytes of a message's body; undefined above the limit. Computed only up to the limit. */
export function messageBytes(body: unknown, bytesMax = MESSAGE_BYTES_MAX): number | undefined {
  const waiting: unknown[] = [body];
  let bytes = 0;
  while (waiting.length > 0 && bytes <= bytesMax) {
    const value = waiting.pop();
    bytes += VALUE_BYTES;
    if (typeof value === 'string') bytes += value.length;
    else if (ArrayBuffer.isView(value)) bytes += value.byteLength;
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        bytes += key.length;
        waiting.push(member);
      }
    }
  }
  return bytes <= bytesMax ? bytes : undefined;
}
