// Keys of the files of a run.

const KEY = /^(?:recordings\/(\d{1,19})\.wav|transcripts\/(\d{1,19})\.txt)$/;

export function recordingKey(runId: string): string {
  return `recordings/${runId}.wav`;
}

export function transcriptKey(runId: string): string {
  return `transcripts/${runId}.txt`;
}

/** The run of a file; undefined for any other file. */
export function runOfFile(key: string): string | undefined {
  const [, recording, transcript] = KEY.exec(key) ?? [];
  return recording ?? transcript;
}
