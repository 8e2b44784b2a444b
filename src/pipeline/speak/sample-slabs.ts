// Memory for the audio of voices, used again and again: audio comes in hundreds of pieces a second and lives for seconds. As
// arrays of its own, what lived on made the engine collect garbage of the whole heap every few seconds.

/** Half a second. */
export const SLAB_SAMPLES = 4_000;
/** Kept for later: 16 MB, the audio of 250 calls that speak. */
const FREE_MAX = 2_000;

const free: Int16Array[] = [];

/** Belongs to the caller, who may return it. Its content is arbitrary. */
export function takeSlab(): Int16Array {
  return free.pop() ?? new Int16Array(SLAB_SAMPLES);
}

export function returnSlab(slab: Int16Array): void {
  if (free.length < FREE_MAX) free.push(slab);
}
