// Recognisers that transcribe whole utterances over HTTP like OpenAI's audio API: OpenAI, Groq, Speaches, whisper.cpp
// and others, and Hugging Face with audio alone as the body. Gated by voice activity; no words before the caller
// pauses.

import type { SttServiceSettings } from '../../../model/speech-services/services.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import type { SpeechToText } from '../stt.ts';
import { BatchRecognizer } from './batch-recognizer.ts';
import { Transcriber } from './transcriber.ts';
import {
  huggingFaceProfile,
  openAiCompatibleProfile,
  openAiProfile,
  speachesProfile,
  type TranscriptionProfile,
  whisperCppProfile,
} from './transcription-profile.ts';

/** Creates the recogniser for `openai` or `groq`. */
export function createOpenAiStt(
  settings: SttServiceSettings<'openai' | 'groq'>,
  means: ServiceMeans,
): SpeechToText {
  return create(openAiProfile(settings), means);
}

export function createSpeachesStt(
  settings: SttServiceSettings<'speaches'>,
  means: ServiceMeans,
): SpeechToText {
  return create(speachesProfile(settings), means);
}

export function createHuggingFaceStt(
  settings: SttServiceSettings<'huggingface'>,
  means: ServiceMeans,
): SpeechToText {
  return create(huggingFaceProfile(settings), means);
}

export function createWhisperCpp(
  settings: SttServiceSettings<'whisper_cpp'>,
  means: ServiceMeans,
): SpeechToText {
  return create(whisperCppProfile(settings), means);
}

export function createOpenAiCompatibleStt(
  settings: SttServiceSettings<'openai_compatible'>,
  means: ServiceMeans,
): SpeechToText {
  return create(openAiCompatibleProfile(settings), means);
}

function create(profile: TranscriptionProfile, means: ServiceMeans): SpeechToText {
  const transcriber = new Transcriber(profile, means);
  const { clock } = means;
  return {
    name: profile.service,
    model: profile.model,
    capabilities: {
      interimWords: false,
      finalMsP99: profile.finalMsP99,
      gated: true,
      setsLanguage: true,
    },
    open: (expectation, listener) =>
      new BatchRecognizer({ transcriber, clock, expectation, listener }),
    prepare: () => transcriber.prepare(),
    close: () => transcriber.close(),
  };
}
