// The lists of control-phrases, by language (ISO 639-1): whole utterances in lower case without punctuation. A phrase
// that acknowledges in one language means nothing else in another: lists of all languages are used together.

/** Backchannels: acknowledgements of a listener that are no attempt to interrupt. */
export const BACKCHANNELS: Record<string, readonly string[]> = {
  en: [
    ...['mhm', 'mhmm', 'm hm', 'mm', 'mmm', 'mm hm', 'mm hmm', 'mmhmm', 'uh huh', 'uhuh', 'uhum'],
    ...['uh', 'um', 'hmm', 'hm', 'ah', 'aha', 'oh', 'ok', 'okay', 'right', 'i see', 'got it'],
    ...['yeah', 'yep', 'yup', 'sure', 'alright', 'all right', 'really', 'wow', 'great', 'good'],
    ...['cool', 'nice', 'fine', 'oh okay', 'oh i see', 'go on', 'of course', 'makes sense'],
    ...['i understand', 'understood', 'sounds good', 'very good', 'interesting'],
  ],
  de: [
    ...['mhm', 'hm', 'aha', 'ach', 'ach so', 'achso', 'ah ja', 'ja', 'jaja', 'okay', 'genau'],
    ...['gut', 'alles klar', 'klar', 'verstehe', 'ich verstehe', 'verstanden', 'stimmt', 'richtig'],
    ...['schön', 'super', 'natürlich', 'in ordnung'],
  ],
  es: [
    ...['mhm', 'aja', 'ajá', 'ah', 'sí', 'si', 'ya', 'vale', 'claro', 'bueno', 'bien', 'muy bien'],
    ...['entiendo', 'ya veo', 'de acuerdo', 'okay', 'perfecto', 'por supuesto', 'exacto'],
  ],
  fr: [
    ...['mhm', 'ah', 'ah bon', 'ah oui', 'oui', 'ouais', "d'accord", 'okay', 'bien', 'très bien'],
    ...['je vois', 'je comprends', 'bien sûr', 'exactement', "c'est ça", 'parfait', 'entendu'],
  ],
  it: [
    ...['mhm', 'ah', 'sì', 'okay', 'va bene', 'bene', 'certo', 'capisco', 'capito', 'ho capito'],
    ...['esatto', 'perfetto', 'giusto', 'ecco'],
  ],
  nl: [
    ...['mhm', 'ja', 'jaja', 'oké', 'okay', 'goed', 'precies', 'ik snap het', 'ik begrijp het'],
    ...['duidelijk', 'prima', 'natuurlijk', 'inderdaad'],
  ],
  pt: [
    ...['mhm', 'ah', 'sim', 'tá', 'tá bom', 'está bem', 'certo', 'claro', 'entendo', 'entendi'],
    ...['okay', 'pois', 'pois é', 'exato', 'perfeito', 'com certeza'],
  ],
};

/** Interrupts in any case, also as the begin of a longer sentence. */
export const STOPS: Record<string, readonly string[]> = {
  en: [
    ...['no', 'nope', 'no no', 'no wait', 'actually', 'excuse me', 'sorry', 'pardon', 'enough'],
    ...['cancel', 'hello', 'let me speak', 'let me finish', 'listen'],
  ],
  de: ['nein', 'entschuldigung', 'verzeihung', 'hallo', 'genug', 'falsch'],
  es: ['no', 'perdón', 'disculpe', 'disculpa', 'oiga', 'hola', 'basta'],
  fr: ['non', 'pardon', 'excusez moi', 'allô', 'ça suffit'],
  it: ['no', 'scusi', 'mi scusi', 'scusa', 'pronto', 'basta'],
  nl: ['nee', 'sorry', 'pardon', 'hallo', 'genoeg'],
  pt: ['não', 'desculpe', 'com licença', 'alô', 'chega'],
};

/** Asks the agent to be silent for a while. Interrupts too. */
export const WAITS: Record<string, readonly string[]> = {
  en: [
    ...['stop', 'stop it', 'stop talking', 'stop there', 'please stop', 'wait', 'wait a minute'],
    ...['wait a second', 'wait a moment', 'hold on', 'hold on a second', 'hold on a minute'],
    ...['hang on', 'hang on a second', 'hang on a minute', 'one moment', 'a moment', 'one minute'],
    ...['one second', 'just a moment', 'just a minute', 'just a second', 'give me a second'],
    ...['give me a moment', 'give me a minute', 'be quiet', 'quiet', 'shut up', 'hush'],
  ],
  de: [
    ...['stopp', 'stop', 'halt', 'warte', 'warten sie', 'moment', 'einen moment', 'moment mal'],
    ...['augenblick', 'einen augenblick', 'sekunde', 'eine sekunde', 'ruhe', 'seien sie still'],
  ],
  es: [
    ...['para', 'pare', 'espera', 'espere', 'un momento', 'espere un momento', 'un segundo'],
    ...['un minuto', 'espera un momento', 'silencio', 'cállate'],
  ],
  fr: [
    ...['stop', 'arrêtez', 'attendez', 'attends', 'un moment', 'un instant', 'une seconde'],
    ...['une minute', 'attendez un instant', 'silence', 'taisez vous'],
  ],
  it: [
    ...['stop', 'aspetti', 'aspetta', 'un momento', 'un attimo', 'aspetti un momento'],
    ...['un secondo', 'un minuto', 'silenzio', 'ferma', 'fermo'],
  ],
  nl: ['stop', 'wacht', 'wacht even', 'een moment', 'momentje', 'even wachten', 'stil'],
  pt: [
    ...['pare', 'espere', 'espera', 'um momento', 'um instante', 'um segundo', 'um minuto'],
    ...['espere um momento', 'silêncio'],
  ],
};

/** Words around such a request. */
export const POLITE_WORDS: readonly string[] = [
  ...[
    'please',
    'just',
    'okay',
    'ok',
    'oh',
    'ah',
    'um',
    'no',
    'hey',
    'sorry',
    'yeah',
    'thank you',
    'thanks',
  ],
  ...['bitte', 'por favor', "s'il vous plaît", 'per favore', 'alstublieft'],
];

export const ENGLISH_ANSWERS = {
  yes: [
    ...['yes', 'yes please', 'yes i do', 'yes i am', 'yes it is', 'yes that is right'],
    ...["yes that's right", 'yeah', 'yep', 'yup', 'sure', 'of course', 'certainly', 'absolutely'],
    ...['definitely', 'correct', 'that is correct', "that's correct", 'that is right'],
    ...["that's right", 'right', 'exactly', 'okay', 'ok', 'please do', 'sounds good', 'i do'],
    ...['i agree', 'affirmative', 'confirm', 'confirmed'],
  ],
  no: [
    ...['no', 'no thank you', 'no thanks', 'no i do not', "no i don't", 'no it is not'],
    ...["no it isn't", 'nope', 'nah', 'not really', 'not now', 'not today', 'never', 'wrong'],
    ...['that is wrong', "that's wrong", 'incorrect', 'that is not right', "that's not right"],
    ...['that is not correct', "that's not correct", 'no way', 'negative', "i don't", 'i do not'],
  ],
  goodbye: [
    ...['goodbye', 'good bye', 'bye', 'bye bye', 'bye now', 'see you', 'see you later'],
    ...['talk to you later', 'hang up', 'have a good day', 'have a nice day', 'have a great day'],
    ...["that's all", 'that is all'],
  ],
} as const satisfies Record<string, readonly string[]>;
