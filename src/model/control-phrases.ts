// Short phrases that control a conversation in any agent: acknowledgements that are no turn, phrases that always
// interrupt, yes and no, goodbye. By language; English first. No recognition and no policy here.

export type PhraseKind = 'backchannel' | 'stop' | 'yes' | 'no' | 'goodbye';

const english: Record<PhraseKind, readonly string[]> = {
  backchannel: [
    'mhm',
    'mm',
    'mmm',
    'mm hmm',
    'uh huh',
    'uhuh',
    'uh',
    'um',
    'hmm',
    'hm',
    'ah',
    'aha',
    'oh',
    'ok',
    'okay',
    'right',
    'i see',
    'got it',
    'yeah',
    'yep',
    'sure',
    'alright',
    'all right',
    'really',
    'wow',
    'great',
    'good',
    'cool',
    'nice',
    'oh okay',
    'oh i see',
    'go on',
    'of course',
  ],
  stop: [
    'stop',
    'stop it',
    'stop talking',
    'please stop',
    'wait',
    'wait a minute',
    'wait a second',
    'wait please',
    'hold on',
    'hang on',
    'one moment',
    'just a moment',
    'one second',
    'no',
    'nope',
    'no no',
    'no wait',
    'actually',
    'excuse me',
    'sorry',
    'pardon',
    'quiet',
    'enough',
    'cancel',
    'hello',
    'be quiet',
    'shut up',
    'let me speak',
    'listen',
  ],
  yes: [
    'yes',
    'yes please',
    'yes i do',
    'yes i am',
    'yes it is',
    'yes that is right',
    "yes that's right",
    'yeah',
    'yep',
    'yup',
    'sure',
    'of course',
    'certainly',
    'absolutely',
    'definitely',
    'correct',
    'that is correct',
    "that's correct",
    'that is right',
    "that's right",
    'right',
    'exactly',
    'okay',
    'ok',
    'please do',
    'sounds good',
    'i do',
    'i agree',
    'affirmative',
    'confirm',
    'confirmed',
  ],
  no: [
    'no',
    'no thank you',
    'no thanks',
    'no i do not',
    "no i don't",
    'no it is not',
    "no it isn't",
    'nope',
    'nah',
    'not really',
    'not now',
    'not today',
    'never',
    'wrong',
    'that is wrong',
    "that's wrong",
    'incorrect',
    'that is not right',
    "that's not right",
    'that is not correct',
    "that's not correct",
    'no way',
    'negative',
    "i don't",
    'i do not',
  ],
  goodbye: [
    'goodbye',
    'good bye',
    'bye',
    'bye bye',
    'bye now',
    'see you',
    'see you later',
    'talk to you later',
    'hang up',
    'have a good day',
    'have a nice day',
    'have a great day',
    "that's all",
    'that is all',
  ],
};

const byLanguage: Record<string, Record<PhraseKind, readonly string[]>> = { en: english };

/** An acknowledgement has at most this many words; longer texts are turns. */
const BACKCHANNEL_WORDS_MAX = 4;

/** Lower case, words and apostrophes only, single spaces. */
export function plainWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[^\p{L}\p{N}'*#]+/gu, ' ')
    .trim();
}

/** The phrases of a kind; English for a language that has no list. `language` as in `en-US`. */
export function phrasesOf(kind: PhraseKind, language = 'en'): readonly string[] {
  const lists = byLanguage[language.slice(0, 2).toLowerCase()] ?? english;
  return lists[kind];
}

/** Whether the text is only an acknowledgement ("mhm", "okay, yeah") that should not stop the agent and is no
 *  turn. Do not use it where a yes is expected: "yeah" is one. */
export function isBackchannel(text: string, language = 'en'): boolean {
  const words = plainWords(text).split(' ');
  if (words[0] === '' || words.length > BACKCHANNEL_WORDS_MAX) return false;
  return isMadeOf(words, phrasesOf('backchannel', language));
}

/** Whether further words may turn the text into an acknowledgement ("of", "okay got"). */
export function isBackchannelPrefix(text: string, language = 'en'): boolean {
  const words = plainWords(text).split(' ');
  if (words[0] === '' || words.length >= BACKCHANNEL_WORDS_MAX) return false;
  const phrases = phrasesOf('backchannel', language);
  return words.some((_word, index) => {
    const begun = `${words.slice(index).join(' ')} `;
    return (
      isMadeOf(words.slice(0, index), phrases) && phrases.some((each) => each.startsWith(begun))
    );
  });
}

/** Whether the text begins with a phrase that always interrupts ("wait", "no, actually"). */
export function isStopWord(text: string, language = 'en'): boolean {
  const plain = `${plainWords(text)} `;
  return phrasesOf('stop', language).some((phrase) => plain.startsWith(`${phrase} `));
}

/** Whether the text contains a goodbye. */
export function isGoodbye(text: string, language = 'en'): boolean {
  const plain = ` ${plainWords(text)} `;
  return phrasesOf('goodbye', language).some((phrase) => plain.includes(` ${phrase} `));
}

/** Whether the words are a sequence of whole phrases. */
function isMadeOf(words: readonly string[], phrases: readonly string[]): boolean {
  if (words.length === 0) return true;
  return words.some(
    (_word, index) =>
      phrases.includes(words.slice(0, index + 1).join(' ')) &&
      isMadeOf(words.slice(index + 1), phrases),
  );
}
