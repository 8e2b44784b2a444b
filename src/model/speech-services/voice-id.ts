// Extracts the id of an ElevenLabs voice from a setting.

/** Id of a voice, also from the form "Name - id" of voice lists. */
export function voiceId(voice: string): string {
  return voice.split(' - ').at(-1)?.trim() ?? voice;
}
