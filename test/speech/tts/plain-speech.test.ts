import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainSpeech } from '../../../src/speech/tts/plain-speech.ts';

describe('words without the marks of writing', () => {
  it.each([
    [
      '**Bold**, *slanted*, ***both*** and __under__ _lines_.',
      'Bold, slanted, both and under lines.',
    ],
    ['**It goes on.', 'It goes on.'],
    ['and ends here.**', 'and ends here.'],
    ['*Hello.', 'Hello.'],
    ['Press * or #.', 'Press * or #.'],
    ['Press *1 or 5 * 4.', 'Press *1 or 5 * 4.'],
    ['The file is snake_case_name.', 'The file is snake_case_name.'],
    ['# Our hours\nMonday to Friday', 'Our hours, Monday to Friday'],
    ['- milk\n- eggs\n* bread and\n• tea', 'milk, eggs, bread and, tea'],
    ['- [x] done', 'done'],
    ['1. First\n2. Second', '1. First, 2. Second'],
    ['> quoted', 'quoted'],
    ['See [our page](https://a.example/x_(y)?z=1 "Title") now.', 'See our page now.'],
    ['![A picture](a.png) Hi', 'A picture Hi'],
    ['| Day | Time |\n|---|:--:|\n| Monday | 9 |', 'Day, Time, Monday, 9'],
    ['One\n\n---\n\nTwo', 'One, Two'],
    ['Say `help` now.', 'Say help now.'],
    ['```text\nHello\n```', 'Hello'],
    ['~~No~~ Yes', 'No Yes'],
    ['<b>Hi</b> <break time="1s"/>there, <emphasis>now</emphasis>.', 'Hi there, now.'],
    ['Great 👍🏽 job 👩‍👩‍👧! 🇩🇪 1️⃣ ❤️ ok', 'Great job! ok'],
    ['Call 555-0123 at 9:30 - thanks', 'Call 555-0123 at 9:30 - thanks'],
    ['Is 3 < 5 and 5 > 3? It costs $5 & 20%.', 'Is 3 < 5 and 5 > 3? It costs $5 & 20%.'],
    ['Acme® and Co™', 'Acme® and Co™'],
    ['میخواهم', 'میخواهم'],
    ['می\u200Cخواهم', 'می\u200Cخواهم'],
    ['Escaped \\*star\\*', 'Escaped *star*'],
    ['👍', ''],
    ['I <3 it, a <b and c> d, x<y and y>z.', 'I <3 it, a <b and c> d, x<y and y>z.'],
    [
      'Write to <john@example.com> or <https://a.example/x>.',
      'Write to john@example.com or https://a.example/x.',
    ],
    [
      'Dial *67 and *82, then *21*5551234# or **21*123#.',
      'Dial *67 and *82, then *21*5551234# or **21*123#.',
    ],
    ['1*2*3 and a * b', '1*2*3 and a * b'],
    ['We are #1 in C# and F#.', 'We are #1 in C# and F#.'],
    ['- 5 degrees', '-5 degrees'],
    ['– 12.5 °C', '-12.5 °C'],
    ['- 5 eggs', '5 eggs'],
    ['+ 49 30 1234', '+ 49 30 1234'],
    ['> 5 people', '> 5 people'],
    ['>= 5', '>= 5'],
    ['We open at nine【4†hours.pdf】.', 'We open at nine.'],
    ['At nine \uE200cite\uE202turn0search1\uE201, they say.', 'At nine, they say.'],
    ['It costs ten euros [1][2]. Press [1] now', 'It costs ten euros. Press 1 now'],
    [
      'Press [1] for sales, or [2] for service. Room [12] is free.',
      'Press 1 for sales, or 2 for service. Room 12 is free.',
    ],
    ['At nine[1], and it costs ten[2][3] euros [4]', 'At nine, and it costs ten euros'],
    ['See [the page][3] now.\n\n[3]: https://a.example/x', 'See the page now.'],
    ['Great :) and ;-) or :smile: ok :thumbs_up:!', 'Great and or ok!'],
    ['At 9:30: open (see: below)', 'At 9:30: open (see: below)'],
    ['Our hours\n=========\nMonday', 'Our hours, Monday'],
    ['Tom &amp; Jerry&#39;s&nbsp;bar &lt;3 &unknown;', "Tom & Jerry's bar <3 &unknown;"],
    ['请注意【重要】的**事项**：好的🎉！', '请注意【重要】的事项：好的！'],
    ['九点营业【4†营业时间.pdf】。価格は1,000円です🎉。', '九点营业。価格は1,000円です。'],
    ['मैं यहाँ हूँ । आप कौन ?', 'मैं यहाँ हूँ। आप कौन?'],
    ['हाँ، نعم ، هل ؟', 'हाँ، نعم، هل؟'],
    ['这是_重要_的，请按1️⃣ snake_case。', '这是重要的，请按 snake_case。'],
    ['วันนี้\nพรุ่งนี้', 'วันนี้, พรุ่งนี้'],
    ['Hello.\\nHow are you?\\n\\nFine', 'Hello. How are you? Fine'],
    ['**', ''],
    ['---', ''],
    ['...', ''],
    ['*', '*'],
  ])('%j is said as %j', (text, said) => {
    expect(plainSpeech(text)).toBe(said);
  });

  it('changes nothing but spaces in plain words of any script', () => {
    const word = fc
      .stringMatching(/^\p{L}[\p{L}\p{M}\p{N}]*[,.!?;]?$/u)
      .filter((each) => !/\p{Extended_Pictographic}|\u20E3/u.test(each)); // Keycaps are emoji.
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (words) => {
        expect(plainSpeech(words.join(' '))).toBe(words.join(' '));
      }),
    );
  });

  it('takes no longer than its length for repeated marks, and any text', () => {
    const nasty = [
      '*a',
      '[a](',
      '<a ',
      '| ',
      '- ',
      '`',
      '_a',
      '👍',
      '# ',
      '\n',
      '~~',
      '--- ',
      '![',
      '**a* ',
    ];
    for (const each of nasty) plainSpeech(each.repeat(4_000 / each.length));
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (any) => void plainSpeech(any)));
  });
});
