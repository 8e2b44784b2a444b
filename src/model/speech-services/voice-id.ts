// The id of an ElevenLabs voice in what settings name.

/** Lists of voices show "Name - id". */
export function voiceId(voice: string): string {
  return voice.split(' - ').at(-1)?.trim() ?? voice;
}
