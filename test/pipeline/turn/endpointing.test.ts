// How long a pause ends a turn, in each language that endpointing knows.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExpectedInput, OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { tablesOf } from '../../../src/model/languages/languages.ts';
import { Endpointing, isExpectedAnswer, wordsOf } from '../../../src/pipeline/turn/endpointing.ts';
import { TurnDetector } from '../../../src/pipeline/turn/turn-detector.ts';
import { CallRig, type RigOptions } from '../call-rig.ts';

const endpointed = tablesOf('endpointing');
const YES_OR_NO: ExpectedInput = { closed: true, phrases: [], slots: ['yes_no'], boost: [] };
const THREE_DIGITS: ExpectedInput = {
  closed: true,
  phrases: [],
  slots: ['digits'],
  boost: [],
  digits: { countMax: 3, terminator: null },
};

function judged(text: string, language: string | undefined, expectation = OPEN_SPEECH) {
  const judge = new Endpointing();
  judge.consider({ text, language, expectation, interimWords: true, hurried: false });
  return { ms: judge.silenceNeededMs, isIncomplete: judge.isIncomplete };
}

const needed = (text: string, language?: string) => judged(text, language).ms;

const UNFINISHED: Record<string, string[]> = {
  en: ['I need a room for', 'my number is', 'um', 'I would like', 'and'],
  de: [
    'ich brauche einen Termin für',
    'meine Nummer ist',
    'ähm',
    'Ich hätte gern',
    'und',
    'Es geht um',
  ],
  es: ['quiero una cita para', 'mi número es', 'eh...', 'me gustaría', 'y', 'O sea'],
  fr: ['je voudrais un rendez-vous pour', 'mon numéro est', 'euh', "J'aimerais", 'et', 'parce que'],
  it: [
    'vorrei un appuntamento per',
    'il mio numero è',
    'ehm',
    'Mi chiamo',
    'e',
    'perché ho bisogno',
  ],
  nl: ['ik wil een afspraak voor', 'mijn nummer is', 'eh', 'Ik zou graag', 'en', 'zeg maar'],
  pt: ['queria marcar uma consulta para', 'o meu número é', 'hum', 'gostaria', 'e', 'Quer dizer'],
  hi: ['मुझे कल आना है लेकिन', 'मेरा नाम है', 'उम', 'और', 'क्योंकि मेरा'],
  ar: ['أريد موعدا في', 'مرحبا أنا اسمي', 'امم', 'و', 'لأن'],
};

const FINISHED: Record<string, string[]> = {
  en: ['I need a room', 'tomorrow at five', 'yes'],
  de: ['ich rufe Sie morgen an', 'ist das möglich', 'es geht', 'was ist das', 'ja gerne'],
  es: ['quiero una cita', 'mañana a las cinco', 'sí', 'qué'],
  fr: ['je voudrais un rendez-vous', 'à quelle heure', 'je suis là', 'demain matin'],
  it: ['vorrei un appuntamento', 'domani alle cinque', 'non so perché', 'come sta'],
  nl: ['ik weet het', 'bel me morgen op', 'ik wil dat', 'of dat mogelijk is'],
  pt: ['queria marcar uma consulta', 'amanhã às cinco', 'é', 'sou eu'],
  hi: ['मुझे एक कमरा चाहिए', 'सोमवार को', 'दिल्ली से', 'दो लोगों के लिए'],
  ar: ['أريد حجز موعد', 'غدا الساعة الخامسة', 'كم السعر'],
};

describe('endpointing', () => {
  it.each([...endpointed.keys()])('waits longer after an unfinished sentence in %s', (language) => {
    expect(UNFINISHED[language]?.length).toBeGreaterThan(4);
    const ends = UNFINISHED[language]?.map((text) => [text, needed(text, language)]);
    expect(ends).toEqual(UNFINISHED[language]?.map((text) => [text, 1_100]));
    const whole = FINISHED[language]?.map((text) => [text, needed(text, language)]);
    expect(whole).toEqual(FINISHED[language]?.map((text) => [text, 600]));
  });

  it('knows the language by its tag with a region, and takes none for English', () => {
    expect([needed('und', 'de-AT'), needed('und', 'DE_ch'), needed('und')]).toEqual([
      1_100, 1_100, 600,
    ]);
    expect([needed('and'), needed('and', 'en-GB')]).toEqual([1_100, 1_100]);
  });

  it('applies no list to another language, where the same letters mean something else', () => {
    expect([needed('was ist das', 'de'), needed('dzień dobry to', 'pl')]).toEqual([600, 600]);
    expect(needed('die', 'en')).toBe(600);
  });

  it('takes a sentence for complete at its mark, in each script', () => {
    const asked = [
      'Bonjour.',
      '我想预约。',
      'मुझे मदद चाहिए।',
      'هل أنت هناك؟',
      'مجھے مدد چاہیے۔',
      'Բարև։',
    ];
    expect(asked.map((text) => needed(text, 'xx'))).toEqual(asked.map(() => 500));
    expect(needed('Well…', 'xx')).toBe(600);
  });

  it('knows hesitations alone in a language without lists', () => {
    expect([needed('ehm', 'pl'), needed('chciałbym', 'pl')]).toEqual([1_100, 600]);
  });

  it('knows words in whatever normal form a service writes them', () => {
    expect(needed('a\u0308hm', 'de')).toBe(1_100);
  });

  it.each([
    ['de', 'ja genau', 'nein danke', 'vielleicht'],
    ['es', 'sí, claro', 'no, gracias', 'quizás'],
    ['fr', 'oui, tout à fait', 'non merci', 'peut-être'],
    ['it', 'sì, va bene', 'no grazie', 'forse'],
    ['nl', 'ja hoor', 'nee, dank u', 'misschien'],
    ['pt', 'sim, por favor', 'não, obrigado', 'talvez'],
    ['hi', 'जी हाँ, बिल्कुल', 'जी नहीं, शुक्रिया', 'शायद'],
    ['ar', 'نعم، من فضلك', 'لا، شكرا', 'ربما'],
  ])('ends a turn soon after a yes or no in %s', (language, yes, no, neither) => {
    expect(judged(yes, language, YES_OR_NO).ms).toBe(270);
    expect(isExpectedAnswer(yes, YES_OR_NO, language)).toBe(true);
    expect(judged(neither, language, YES_OR_NO).ms).toBe(450);
    expect(isExpectedAnswer(neither, YES_OR_NO, language)).toBe(false);
    expect(judged(no, language, YES_OR_NO).ms).toBe(270);
  });

  it.each([
    ['en', 'one two', 'one double two'],
    ['de', 'eins zwo', 'null sieben acht'],
    ['es', 'uno dos', 'uno doble dos'],
    ['fr', 'un deux', 'zéro six double un'],
    ['it', 'uno due', 'zero doppio tre'],
    ['nl', 'een twee', 'nul dubbel drie'],
    ['pt', 'um meia', 'três meia sete'],
    ['hi', 'एक दो', 'नौ डबल शून्य'],
    ['ar', 'واحد اثنين', 'صفر سبعة تسعة'],
    ['ja', '1 2', '12 3'],
  ])('waits for the digits that are missing in %s', (language, two, three) => {
    expect(judged(two, language, THREE_DIGITS)).toEqual({ ms: 1_500, isIncomplete: true });
    expect(judged(three, language, THREE_DIGITS)).toEqual({ ms: 270, isIncomplete: false });
  });

  it('has entries as words are compared, in all languages', () => {
    for (const { endings, yesNo, besideYesNo, digits, repeats } of endpointed.values()) {
      const entries = [...endings, ...yesNo, ...besideYesNo, ...digits, ...Object.keys(repeats)];
      expect(entries.filter((entry) => wordsOf(entry).join(' ') !== entry)).toEqual([]);
      const long = endings.filter((entry) => entry.split(' ').length > 3);
      expect(long).toEqual([]);
    }
  });

  it('judges any text in any language within its bounds', () => {
    const languages = [...endpointed.keys(), 'pl', 'constructor', ''];
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...languages), (text, language) => {
        const { ms } = judged(text, language);
        expect(ms).toBeGreaterThanOrEqual(270);
        expect(ms).toBeLessThanOrEqual(1_500);
      }),
    );
  });
});

describe('the language of a caller', () => {
  /** Milliseconds of silence after which the turn was over. */
  async function endsAfter(text: string, languages: RigOptions['languages']): Promise<number> {
    const rig = new CallRig({ languages });
    await rig.says(text);
    await rig.run(2_000);
    const [turn] = rig.of('turn');
    return (turn?.turn.decidedAt ?? Number.NaN) - (turn?.turn.lastSpeechAt ?? Number.NaN);
  }

  it('is that of the agent where nothing else is known', async () => {
    expect(await endsAfter('ich brauche einen', { agentLanguage: 'de' })).toBeGreaterThan(1_000);
    expect(await endsAfter('ich brauche einen', { agentLanguage: 'en' })).toBeLessThan(700);
    expect(await endsAfter('ich brauche einen', {})).toBeLessThan(700);
  });

  it('is that of the node, or of the recogniser’s settings, before the agent’s', async () => {
    const languages = { agentLanguage: 'en', wordsLanguage: 'fr-FR' };
    expect(await endsAfter('mon numéro est', languages)).toBeGreaterThan(1_000);
  });

  it('changes with the node', async () => {
    const rig = new CallRig({ languages: { agentLanguage: 'en', wordsLanguage: 'en' } });
    rig.audio.use({ tts: rig.tts, voice: undefined, wordsLanguage: 'it' });
    await rig.says('vorrei un appuntamento per');
    await rig.run(900);
    expect(rig.turns).toEqual([]);
    await rig.run(1_000);
    expect(rig.turns).toEqual(['vorrei un appuntamento per']);
  });

  it('is what the recogniser detects before all others', () => {
    const turns: string[] = [];
    const nothing = () => undefined;
    const turn = new TurnDetector({
      recognizer: { finalMsP99: 200, interimWords: true },
      turnMaxMs: 5_000,
      listener: {
        onBegin: nothing,
        onPause: nothing,
        onResume: nothing,

        onProbableEnd: nothing,
        onFinalize: nothing,
        onNothing: nothing,
        onLate: nothing,
        onTurn: ({ text }) => turns.push(text),
      },
    });
    turn.language = 'en';
    turn.speechStarted(0);
    turn.partial({ text: 'mi número es', confidence: 0.9, language: 'es' });
    turn.speechStopped(400);
    for (let ms = 400; ms <= 1_300; ms += 20) turn.advance(ms, ms);
    turn.final({ text: 'mi número es', confidence: 0.9, language: 'es' });
    expect(turns).toEqual([]);
    for (let ms = 1_320; ms <= 2_400; ms += 20) turn.advance(ms, ms);
    expect(turns).toEqual(['mi número es']);
  });
});
