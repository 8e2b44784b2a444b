// Google: Gemini models, and the voices of Cloud Text-to-Speech by requests. The voices were never tried on a live
// account; a service account is not supported.

import type { LlmServiceSettings } from '../../../model/speech-services/services.ts';
import { type ModelMeans, modelOptions } from '../../llm/client/model-client.ts';
import { requestVoice } from '../../tts/described/described-request.ts';
import { at, header, listIn, text, type Vendor, voiceText } from '../vendor.ts';
import { createGemini } from './gemini.ts';

/** The answer is one JSON object that contains a WAV file. */
const voice = {
  path: '/v1/text:synthesize',
  headers: { 'x-goog-api-key': '{key}' },
  body: {
    input: { text: '{text}' },
    voice: { languageCode: '{language}', name: '{voice}' },
    audioConfig: {
      audioEncoding: 'LINEAR16',
      sampleRateHertz: 8_000,
      speakingRate: '{speed}',
    },
  },
  audio: { in: 'json', path: 'audioContent', format: 's16@8000' },
};

export const google = {
  llm: (settings: LlmServiceSettings<'google'>, means: ModelMeans) =>
    createGemini({ ...means, ...modelOptions(settings) }),
  tts: requestVoice(voice),
  keyCheck: {
    // Azure lists voices at a separate host, which has no models.
    url: (fields) => {
      const isVoice = text(fields, 'base_url')?.includes('texttospeech') === true;
      const path = isVoice ? '/v1/voices?languageCode=en-US' : '/v1beta/models?pageSize=1';
      return at('https://generativelanguage.googleapis.com', path)(fields);
    },
    headers: header('x-goog-api-key'),
    refusingWords: /API key not valid/i,
  },
  voices: {
    url: at('https://texttospeech.googleapis.com', '/v1/voices'),
    headers: header('x-goog-api-key'),
    read: listIn('voices'),
    voice: (item) => ({
      voice_id: voiceText(item['name']),
      gender: voiceText(item['ssmlGender']).toLowerCase(),
      language: voiceText([item['languageCodes']].flat()[0]),
    }),
  },
} satisfies Vendor;
