// Completes the header of a recording whose writer was killed: it has the length of the last block, or before the first
// block the largest possible (pipeline/recorder).

import { open } from 'node:fs/promises';

const HEADER_BYTES = 44;
/** Bytes of one sample of both channels: a killed process may leave a part of one. */
const MOMENT_BYTES = 4;
const RIFF_SIZE_OFFSET = 4;
const DATA_SIZE_OFFSET = 40;

/** Writes the length of the file into its header. Does nothing to a file that is no such recording. */
export async function completeRecordingHead(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const header = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
    const isRecording =
      bytesRead === HEADER_BYTES &&
      header.toString('latin1', 0, 4) === 'RIFF' &&
      header.toString('latin1', 36, 40) === 'data';
    if (!isRecording) return;
    const dataBytes = Math.floor((size - HEADER_BYTES) / MOMENT_BYTES) * MOMENT_BYTES;
    if (header.readUInt32LE(DATA_SIZE_OFFSET) === dataBytes) return;
    header.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, RIFF_SIZE_OFFSET);
    header.writeUInt32LE(dataBytes, DATA_SIZE_OFFSET);
    await file.write(header, 0, HEADER_BYTES, 0);
    await file.truncate(HEADER_BYTES + dataBytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
