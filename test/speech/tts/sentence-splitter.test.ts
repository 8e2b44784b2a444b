import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSentenceSplitter } from '../../../src/speech/tts/sentence-splitter.ts';
import { spokenLength } from '../../../src/speech/tts/spoken-length.ts';

/** The pieces, and after which character of `text` each came out. */
function speak(text: string, options = {}): { pieces: string[]; at: number[] } {
  const splitter = createSentenceSplitter(options);
  const pieces: string[] = [];
  const at: number[] = [];
  for (const [index, char] of [...text].entries()) {
    for (const piece of splitter.push(char)) {
      pieces.push(piece);
      at.push(index + 1);
    }
  }
  pieces.push(...splitter.end());
  return { pieces, at };
}

describe('sentences of streaming text', () => {
  it('speaks a short first sentence as soon as the next one begins', () => {
    const { pieces, at } = speak('Hello. How can I help you today? Tell me.');
    expect(pieces).toEqual(['Hello. ', 'How can I help you today? ', 'Tell me.']);
    expect(at[0]).toBe('Hello. H'.length);
  });

  it('speaks a first clause of twenty characters before the sentence is complete', () => {
    const { pieces } = speak('Thank you for calling us, I will look that up, one moment please.');
    expect(pieces).toEqual([
      'Thank you for calling us, ',
      'I will look that up, one moment please.',
    ]);
  });

  it('does not open with a clause shorter than that', () => {
    expect(speak('Well, let me see.').pieces).toEqual(['Well, let me see.']);
  });

  it('joins short sentences after the first', () => {
    expect(speak('Yes. Sure. OK. I will send it to you now. Bye.').pieces).toEqual([
      'Yes. ',
      'Sure. OK. I will send it to you now. ',
      'Bye.',
    ]);
  });

  it.each([
    'Please ask Dr. Smith about it.',
    'The price is 3.50 dollars.',
    'Visit www.example.com or https://example.com/a.html?b=c. there',
    'Call 555. 123. 4567 today.',
    'We open at 9 a.m. on weekdays.',
    'That is J. Edgar for you.',
    'Use e.g. Fridays for that.',
    'Ask for room No. 5 upstairs.',
    '1. Open the door',
    'The U.S. Embassy is closed.',
    'Wait... what was that',
    'Version 1.2.3 is out',
    'Le atiende la Dra. García mañana.',
    'El Sr. Pérez y la Sra. Gil llaman.',
    'Es la sala núm. 4 del fondo.',
    'Wir sehen uns am 3. Mai wieder.',
    'Ihr Termin ist der 14. Dezember.',
    'Sie finden uns im 2. Stock links.',
    'Das war die 1. Rate.',
    'Kommen Sie in die Hauptstr. 5 bitte.',
    'Ihre Nr. 5 ist dran.',
    'Herr Dipl. Ing. Kurz kommt.',
    'Your slot is Jan. 5 at noon.',
    'That is Rs. 500 in total.',
    'Appelez Mme. Petit et Mlle. Roux.',
    'Le prochain est en févr. 2027.',
    'La dott.ssa Rossi e il Sig. Verdi.',
    'La Sig.ra Bianchi chiama.',
    'Fale com a Exma. Sra. Costa.',
    'Dhr. Jansen en Mevr. De Wit.',
    'Gabinet na ul. Długiej, dr. Nowak.',
    'Wizyta u prof. Kowalskiego, godz. 8 rano.',
  ])('does not split: %s', (text) => {
    expect(speak(text, { firstMinChars: 1_000 }).pieces).toEqual([text]);
  });

  it('never splits a number between its digit groups', () => {
    expect(speak('The number you want is 1, 2, 3, 4, 5, 6.').pieces).toHaveLength(1);
  });

  it.each([
    ['Wir öffnen um 8. Bitte kommen Sie.', 'Wir öffnen um 8. '],
    ['Please call me. John will answer.', 'Please call me. '],
    ['That is OK. Shall I book it?', 'That is OK. '],
    ['We are sold out. Try next week.', 'We are sold out. '],
    ['Wir wohnen in der Hauptstr. Kommen Sie.', 'Wir wohnen in der Hauptstr. '],
    ['You are number 3. May I help?', 'You are number 3. '],
  ])('splits at the end of a sentence: %s', (text, first) => {
    expect(speak(text, { firstMinChars: 1_000 }).pieces[0]).toBe(first);
  });

  it('splits "am 3. Mai" nowhere, however the text is cut', () => {
    const text = 'Wir sehen uns am 3. Mai. Passt das?';
    for (let at = 1; at < text.length; at += 1) {
      const splitter = createSentenceSplitter({ firstMinChars: 1_000 });
      const pieces = [text.slice(0, at), text.slice(at)].flatMap((part) => splitter.push(part));
      expect([...pieces, ...splitter.end()][0]).toBe('Wir sehen uns am 3. Mai. ');
    }
  });

  it('splits after "p.m." where a sentence begins', () => {
    expect(speak('We close at 5 p.m. Please come early.').pieces).toEqual([
      'We close at 5 p.m. ',
      'Please come early.',
    ]);
  });

  it('keeps closing quotes with their sentence', () => {
    expect(speak('He said "stop!" Then he left.').pieces).toEqual([
      'He said "stop!" ',
      'Then he left.',
    ]);
  });

  // Agents of India and the Arab world: the first word waited for the whole answer.
  it.each([
    ['Hindi', 'नमस्ते, मैं सीमा हूँ। ', 'आपकी मुलाक़ात कल 10:30 बजे है। ', 'क्या मैं डॉ. शर्मा को बताऊँ?'],
    ['Hindi, without a space', 'मैं अभी देखती हूँ।', 'कृपया थोड़ी देर रुकिए।', 'धन्यवाद, अलविदा कहती हूँ।'],
    [
      'Arabic',
      'كيف يمكنني مساعدتك اليوم؟ ',
      'سعر الحجز هو 3،5 دولار. ',
      'هل تريد أن أحجز لك موعدا؟',
    ],
    ['Urdu', 'میں ابھی دیکھتی ہوں۔ ', 'آپ کی ملاقات کل دس بجے ہے۔ ', 'کیا میں اور کچھ مدد کروں؟'],
    [
      'Armenian',
      'Ձեր այցելությունը վաղն է։ ',
      'Խնդրում եմ սպասեք մեկ րոպե։ ',
      'Շնորհակալություն զանգի համար։',
    ],
    ['Amharic', 'ቀጠሮዎ ነገ ጠዋት ነው። ', 'እባክዎ ትንሽ ይጠብቁ አመሰግናለሁ። ', 'ስለ ደወሉልን በጣም እናመሰግናለን።'],
  ])('splits at the marks of %s', (_language, ...sentences) => {
    expect(speak(sentences.join('')).pieces).toEqual(sentences);
  });

  it('begins with a clause that ends with an Arabic comma', () => {
    const { pieces } = speak('شكرا لاتصالك بعيادة الميناء، سأبحث عن ذلك الآن.');
    expect(pieces).toEqual(['شكرا لاتصالك بعيادة الميناء، ', 'سأبحث عن ذلك الآن.']);
  });

  it('splits at line ends', () => {
    expect(speak('These are the choices\nSales is the first one').pieces).toHaveLength(2);
  });

  it('cuts endless text at a word near 400 characters', () => {
    const { pieces } = speak('word '.repeat(300));
    expect(pieces.every((piece) => piece.length <= 400)).toBe(true);
    expect(pieces.every((piece) => piece.endsWith('word '))).toBe(true);
  });

  it('starts again after the end', () => {
    const splitter = createSentenceSplitter();
    splitter.push('One two three. ');
    splitter.end();
    expect(splitter.push('Hi. There')).toEqual(['Hi. ']);
  });

  it('loses, adds and changes nothing, however the text is cut', () => {
    const alphabet = fc.constantFrom(
      ...'aA1 .!?,;:\n"\')…。é😀-'.split(''),
      'Dr. ',
      'p.m. ',
      '3.5',
    );
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.array(alphabet).map((parts) => parts.join('')),
          ),
        ),
        fc.nat(40),
        fc.nat(40),
        (deltas, firstMinChars, minChars) => {
          const splitter = createSentenceSplitter({ firstMinChars, minChars });
          const pieces = [...deltas.flatMap((delta) => splitter.push(delta)), ...splitter.end()];
          expect(pieces.join('')).toBe(deltas.join(''));
          expect(pieces.every((piece) => piece !== '')).toBe(true);
        },
      ),
    );
  });

  it('stays linear in the length of a text without boundaries', () => {
    const splitter = createSentenceSplitter();
    const pieces = splitter.push('x'.repeat(200_000));
    expect(pieces.length + splitter.end().length).toBe(500);
  });

  // Each of them read all that follow: a minute for these, in which no call had audio.
  it('stays linear in the number of line ends that come at once', () => {
    const text = `Hello.${'\n'.repeat(80_000)}Bye.`;
    const splitter = createSentenceSplitter();
    expect([...splitter.push(text), ...splitter.end()].join('')).toBe(text);
  });
});

describe('sentences of languages without spaces', () => {
  it('need no white space behind full-width marks, and are joined by how long they are spoken', () => {
    expect(speak('您好！请问有什么可以帮您？我们明天营业。好的。再见！').pieces).toEqual([
      '您好！',
      '请问有什么可以帮您？',
      '我们明天营业。',
      '好的。再见！',
    ]);
  });

  it('begin with a clause that ends with a full-width mark', () => {
    const { pieces, at } = speak('感谢您的来电，我帮您查一下。');
    expect(pieces).toEqual(['感谢您的来电，', '我帮您查一下。']);
    expect(at[0]).toBe('感谢您的来电，我'.length);
    expect(speak('お電話ありがとうございます、少々お待ちください。').pieces[0]).toBe(
      'お電話ありがとうございます、',
    );
    expect(speak('ကျွန်တော် ကူညီပေးပါမယ်၊ ခဏစောင့်ပါ။ ကျေးဇူး။').pieces[0]).toBe('ကျွန်တော် ကူညီပေးပါမယ်၊ ');
  });

  it('end with ASCII marks between their letters too, but not within a number, a name or an abbreviation', () => {
    expect(speak('您好!请问您要预订吗?好的').pieces).toEqual(['您好!', '请问您要预订吗?', '好的']);
    expect(speak('请您稍等一下,我帮您查.谢谢').pieces).toEqual(['请您稍等一下,', '我帮您查.谢谢']);
    for (const text of [
      '价格是3.5元',
      '请访问example.com谢谢',
      '比例是1，000比2',
      'ปี พ.ศ.2567ครับ',
    ]) {
      expect(speak(text, { firstMinChars: 1_000 }).pieces).toEqual([text]);
    }
  });

  it('keep closing brackets of their own', () => {
    expect(speak('他说：「可以。」然后走了。', { firstMinChars: 1_000 }).pieces).toEqual([
      '他说：「可以。」',
      '然后走了。',
    ]);
  });

  it('in Thai end with a phrase that is long enough', () => {
    const first = 'ขอบคุณที่โทรมาหาเรานะคะ ';
    const text = `${first}ดิฉันจะตรวจสอบให้ค่ะ กรุณารอสักครู่`;
    expect(speak(text).pieces).toEqual([first, text.slice(first.length)]);
    const long = `${text} `.repeat(6);
    const { pieces } = speak(long);
    expect(pieces.join('')).toBe(long);
    for (const piece of pieces.slice(1, -1)) expect(piece.length).toBeLessThan(120);
  });

  it('without any mark are cut between words, half a minute of speech at most', () => {
    const zh = speak('我想预订明天下午三点的房间'.repeat(30)).pieces;
    expect(zh.join('')).toBe('我想预订明天下午三点的房间'.repeat(30));
    for (const piece of zh) expect(piece.length).toBeLessThanOrEqual(Math.floor(400 / 3.4));
    expect(zh[0]).toMatch(/(预订|明天|下午|三点|的|房间|我想)$/);
    const th = speak('ดิฉันจะตรวจสอบให้'.repeat(60)).pieces;
    for (const piece of th) {
      expect(piece.length).toBeLessThanOrEqual(400);
      expect(piece).not.toMatch(/^\p{M}/u);
    }
  });

  it('are never cut within a grapheme', () => {
    const family = '👨‍👩‍👧';
    for (const piece of speak(`a${family.repeat(100)}`).pieces) {
      expect(piece.replaceAll(family, '')).toMatch(/^a?$/);
    }
    for (const piece of speak('𠮷野家'.repeat(200)).pieces)
      expect(piece).not.toMatch(/[\uD800-\uDBFF]$|^[\uDC00-\uDFFF]/);
  });

  it('give complete words where a voice must not wait, and lose the unfinished one', () => {
    const splitter = createSentenceSplitter();
    splitter.push('我想预订明天下午的房');
    expect(splitter.takeWords(3)).toBe('我想预订明天');
    splitter.dropWord();
    expect(splitter.held).toBe('下午的');
    expect(splitter.end()).toEqual(['下午的']);
  });

  // Each piece looked for the words of all the text: half a minute for this one, in which no call had audio.
  it('of a long text without marks are found at once', () => {
    const zh = '我想预订明天的房间'.repeat(12_000);
    const splitter = createSentenceSplitter();
    expect([...splitter.push(zh), ...splitter.end()].join('')).toBe(zh);
  });

  it('lose nothing', () => {
    const part = fc.constantFrom(
      ...[
        '我想预订',
        '。',
        '，',
        '「',
        '」',
        '！',
        'ครับ',
        ' ',
        'ผม',
        '3',
        '.',
        '၊',
        'ok',
        '\n',
        '😀',
        '𠮷',
      ],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 300 }), (parts) => {
        const splitter = createSentenceSplitter();
        const pieces = parts.flatMap((each) => splitter.push(each));
        const all = [...pieces, ...splitter.end()];
        expect(all.join('')).toBe(parts.join(''));
        for (const piece of all) expect(spokenLength(piece.trim())).toBeLessThanOrEqual(400);
      }),
    );
  });
});
