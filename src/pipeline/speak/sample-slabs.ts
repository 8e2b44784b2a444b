// A pool of buffers for synthesised audio, which arrives in hundreds of pieces per second and lives for seconds.
// Allocated piece by piece, it caused a full garbage collection every few seconds.

/** Samples of a slab: half a second. */
export const SLAB_SAMPLES = 4_000;
/** Free slabs that are kept: 16 MB, the audio of 250 calls with speech. */
const FREE_MAX = 2_000;

const free: Int16Array[] = [];

/** A slab with arbitrary content. It belongs to the caller, who may return it. */
export function takeSlab(): Int16Array {
  return free.pop() ?? new Int16Array(SLAB_SAMPLES);
}

export function returnSlab(slab: Int16Array): void {
  if (free.length < FREE_MAX) free.push(slab);
}
