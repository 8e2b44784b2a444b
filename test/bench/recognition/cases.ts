// What callers say to each kind of closed grammar: the answers that it expects, and what it does not expect.

import {
  type ExpectedInput,
  OPEN_SPEECH,
  type SlotType,
} from '../../../src/model/expected-input.ts';

export interface Case {
  kind: string;
  expectation: ExpectedInput;
  /** Answers that the grammar expects. */
  answers: readonly string[];
}

const GLOBALS = ['repeat that', 'help', 'goodbye'];

function slot(type: SlotType, answers: readonly string[]): Case {
  const expectation = { ...OPEN_SPEECH, closed: true, phrases: GLOBALS, slots: [type] };
  return { kind: type, expectation, answers };
}

function menu(kind: string, phrases: readonly string[]): Case {
  const expectation = { ...OPEN_SPEECH, closed: true, phrases: [...phrases, ...GLOBALS] };
  return { kind, expectation, answers: phrases };
}

const ALONE: readonly Case[] = [
  slot('yes_no', ['yes', 'no', 'yes please', 'no thank you', 'yeah', 'correct', "that's right"]),
  slot('weekday', [
    ...['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
    ...['tomorrow', 'next tuesday'],
  ]),
  menu('menu of words', ['sales', 'support', 'billing', 'speak to an agent']),
  menu('menu of phrases', [
    ...['book an appointment', 'cancel an appointment', 'talk about my bill', 'opening hours'],
  ]),
  slot('digits', [
    ...['four two seven nine', 'five five five one three', 'one two three four five six'],
    ...['eight zero two', 'nine oh six four'],
  ]),
  slot('digit', ['one', 'two', 'three', 'five', 'seven', 'nine']),
  slot('number', ['forty two', 'one hundred and five', 'seventeen', 'eight']),
  slot('date', ['the twenty second of june', 'march third', 'on friday', 'december fourteenth']),
  slot('time', ['half past nine', 'ten thirty', "three o'clock", 'two p.m.']),
  slot('money', ['twenty five dollars', 'nine hundred dollars', 'sixty dollars and fifty cents']),
];

/** Each as one step of an agent that has the others too. */
export const CASES: readonly Case[] = ALONE.map((item) => {
  const phrases = ALONE.filter(({ kind }) => kind !== item.kind && kind.startsWith('menu'));
  const elsewhere = phrases.flatMap(({ answers }) => answers.filter((text) => text.includes(' ')));
  return { ...item, expectation: { ...item.expectation, elsewhere } };
});

/** Said in English, and not expected by a case that has no such answer. */
export const ELSEWHERE: readonly string[] = [
  ...['I would like to speak with my brother about the car', 'the weather is terrible today'],
  ...['what are you talking about', 'my dog ate the newspaper', 'travelling', 'not feeling well'],
  ...['where is the station', 'my insurance number is on the card', 'new patient', 'another day'],
  ...['I have been waiting for half an hour', 'turn the music down please', 'hang on a minute'],
  ...['track my order', 'change my address', 'report a lost card', 'prescription', 'the manager'],
  ...['can you call me back later', 'it depends', 'somebody is at the door', 'mortgage'],
];

/** Acknowledgements: none of them answers a question for a value or a choice. */
export const BACKCHANNELS: readonly string[] = [
  ...['mm hmm', 'uh huh', 'okay', 'right', 'I see', 'got it', 'all right', 'hmm'],
];

/** By language of eSpeak. */
export const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  es: ['no entiendo lo que dice', 'buenos días quisiera hablar con alguien', 'cuánto cuesta'],
  de: ['ich verstehe sie nicht', 'guten Tag, ich möchte einen Termin', 'einen Moment bitte'],
  'fr-fr': ['je ne comprends pas', 'bonjour je voudrais un rendez-vous', 'combien ça coûte'],
  it: ['non ho capito niente', 'vorrei parlare con qualcuno', 'pronto chi parla'],
  pl: ['nie rozumiem pana', 'dzień dobry, chciałbym umówić wizytę', 'proszę chwilę poczekać'],
  'pt-br': ['não estou entendendo', 'bom dia, eu queria marcar uma consulta', 'quanto custa isso'],
  ru: ['я вас не понимаю', 'добрый день, мне нужна помощь', 'подождите пожалуйста'],
  tr: ['sizi anlamıyorum', 'iyi günler randevu almak istiyorum', 'bir dakika lütfen'],
};

/** The same as an English voice reads them. */
export const READ_AS_ENGLISH: readonly string[] = [
  ...['no entiendo lo que dice', 'buenos dias quisiera hablar con alguien', 'cuanto cuesta'],
  ...['ich verstehe sie nicht', 'guten tag ich moechte einen termin', 'wie bitte'],
  ...['je ne comprends pas', 'bonjour je voudrais un rendez-vous', 'combien ca coute'],
];
